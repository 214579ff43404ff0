"""A table as Markdown: docs/compatibility.md is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from fencepost.harness.comparison.legend import DIFFERS, LISTED, meanings, text
from fencepost.harness.comparison.masks import FIELDS
from fencepost.harness.comparison.table import Cell, Row, Table
from fencepost.results.pages.markdown import in_markdown as escaped

MOST = 4
"""Differing values of one cell that are listed."""


def in_markdown(table: Table) -> str:
    """Return a page: a table for each request, the differences with their reasons, masks and meanings."""
    return "\n".join(_lines(table)) + "\n"


def _lines(table: Table) -> Iterator[str]:
    yield from ("# Compatibility", "")
    yield from (f"Made by `fencepost compare --targets {','.join(table.targets)} --markdown FILE`.", "")
    yield (
        f"{len(table.rows)} rows, {len(table.targets)} targets, each compared with the first: {table.count('same')} "
        f"are the same, {table.count('listed')} have differences that target files list, {table.count('different')} "
        f"others. `{DIFFERS}` marks a difference, `{LISTED}` one that is listed, with its reason below."
    )
    for api, rows in groupby(table.rows, key=lambda row: row.api):
        yield from (
            "",
            f"## {api}",
            "",
            f"| probe | {' | '.join(table.targets)} |",
            f"|---{'|---' * len(table.targets)}|",
        )
        listed = list(rows)
        for row in listed:
            yield f"| {escaped(row.name, is_cell=True)} | {' | '.join(text(cell) for cell in row.cells)} |"
        yield from _differences(table.targets, listed)
    yield from ("", "## Cells", "", *(f"- `{short}`: {says}" for short, says in meanings(table).items()))
    yield from ("", "## Masked", "")
    yield from (
        f"- `<{mask}>`: {', '.join(f'`{each}`' for each in sorted(FIELDS[mask]))}" for mask in sorted(table.masks)
    )


def _differences(targets: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each difference that the cells alone do not show, or that has a reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for target, cell in zip(targets, row.cells, strict=True):
            if says := _says(cell):
                found.setdefault((row.name, says), []).append(target)
    lines: dict[tuple[str, str], list[str]] = {}
    for (name, says), of_targets in found.items():
        lines.setdefault((says, ", ".join(of_targets)), []).append(f"`{name}`")
    if lines:
        yield ""
    for (says, listed), names in lines.items():
        yield f"- {', '.join(names)}, {listed}: {escaped(says)}"


def _says(cell: Cell) -> str:
    """Return the values that differ, and why; empty if the cells alone show it."""
    values = [str(each) for each in cell.differs if each.path]
    shown = "; ".join([*values[:MOST], *([f"and {len(values) - MOST} more"] if len(values) > MOST else [])])
    return ". ".join(filter(None, (shown, cell.reason)))
