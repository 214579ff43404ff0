"""`fencepost report`: the report page of a run, written again."""

from __future__ import annotations

from pathlib import Path

from fencepost.harness.report import write_report
from fencepost.harness.targets.registry import open_run


def report(run: Path) -> None:
    """Write the page and print its path."""
    folder = open_run(run)
    write_report(folder)
    print(folder.report)
