"""Counterexample tables: narrowed for a terminal, and without repetitions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fencepost.results.records.verdict import Counterexample, Finding, Row

HEAD = 6
"""Rows that a terminal shows before the gap."""
_WIDE = ("ISR then", "served")
"""Columns to leave out if a terminal is too narrow, in this order. The page has all."""


def rows_for_terminal(table: Counterexample, width: int) -> Iterator[str]:
    """Yield the lines of a table of records on replicas; nothing for any other table."""
    if "epoch" not in table.columns or "record" not in table.columns:
        return
    table = replace(table, rows=_short(table.rows), context=_short(table.context))
    shown = list(range(len(table.columns)))
    rows = [*table.context, *table.rows]
    if len({row[0] for row in rows}) == 1:
        shown.remove(0)  # one partition; the message names it
    wide = [table.columns.index(name) for name in _WIDE if name in table.columns]
    while wide and sum(_widths(table, shown)) + 2 * len(shown) > width:
        shown.remove(wide.pop(0))
    widths = _widths(table, shown)
    yield _line([table.columns[place] for place in shown], widths)
    first = min(HEAD, len(table.rows))
    last = table.rows[-1:] if len(table.rows) > HEAD else ()
    for row in (*table.context, *table.rows[:first]):
        yield _line([str(row[place]) for place in shown], widths)
    left = table.total - first - len(last)
    if left:
        yield f"  … {left} more"
    for row in last:
        yield _line([str(row[place]) for place in shown], widths)


def shown_before(findings: Sequence[Finding]) -> dict[int, int]:
    """Return the number of the earlier finding with the same rows, by the number of the finding, from 1."""
    seen: dict[str, int] = {}
    same: dict[int, int] = {}
    for number, finding in enumerate(findings, start=1):
        if finding.counterexample is None:
            continue
        first = seen.setdefault(repr((finding.counterexample.columns, finding.counterexample.rows)), number)
        if first != number:
            same[number] = first
    return same


def _short(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows without the prefix `other: ` of cells, which a narrow table has no room for."""
    return tuple(tuple(str(cell).removeprefix("other: ") for cell in row) for row in rows)


def _widths(table: Counterexample, shown: Sequence[int]) -> list[int]:
    rows = [table.columns, *table.context, *table.rows]
    return [max(len(str(row[place])) for row in rows) for place in shown]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()
