"""`fencepost index`: the pages over many runs, written again."""

from __future__ import annotations

from pathlib import Path

from fencepost.harness.cli.commands.runs import IndexOptions
from fencepost.harness.report.index import write_index, write_indexes
from fencepost.results.records.folder import FolderError


def index(options: IndexOptions) -> None:
    """Write the pages and print their paths."""
    for folder in options.runs or [Path("runs")]:
        for page in write_indexes(folder):
            print(page)


def write_pages(folder: Path, runs: Path) -> str:
    """Write the page of a suite or a campaign and that of the folder it is in; return the path of the first.

    Return the reason in its place if that fails: a verdict does not depend on a page.
    """
    try:
        page = write_index(folder)
        write_index(runs)
    except (OSError, FolderError) as error:
        return f"not written: {error}"
    return str(page)
