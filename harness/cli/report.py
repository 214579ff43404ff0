"""`fencepost report`: the report page of a run, written again."""

from __future__ import annotations

from fencepost.harness.cli.commands.runs import ReportOptions
from fencepost.harness.report import write_report
from fencepost.harness.targets.registry import open_run


def report(options: ReportOptions) -> None:
    """Write the page and print its path."""
    folder = open_run(options.run)
    write_report(folder)
    print(folder.report)
