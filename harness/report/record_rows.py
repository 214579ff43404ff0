"""Counterexamples of records, made narrow for a terminal, and told apart from those already shown."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from results.records.verdict import Counterexample, Finding, Row

HEAD = 6
"""Rows that a terminal shows before the gap."""
_WIDE = ("ISR then", "served")
"""Columns that are left out for want of room, the first of them first; a page has all."""


def rows_for_terminal(table: Counterexample, width: int) -> Iterator[str]:
    """Lines of aligned columns; nothing if the table is not about records on replicas."""
    if "epoch" not in table.columns or "record" not in table.columns:
        return
    table = replace(table, rows=_short(table.rows), context=_short(table.context))
    shown = list(range(len(table.columns)))
    rows = [*table.context, *table.rows]
    if len({row[0] for row in rows}) == 1:
        shown.remove(0)  # one partition; the sentence names it
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
    """Which finding (counted from 1) shows the same rows as an earlier one, and which."""
    seen: dict[str, int] = {}
    same: dict[int, int] = {}
    for number, finding in enumerate(findings, start=1):
        if finding.counterexample is None:
            continue
        known = seen.setdefault(repr((finding.counterexample.columns, finding.counterexample.rows)), number)
        if known != number:
            same[number] = known
    return same


def _short(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Without the word that another record is another: a narrow table can do without."""
    return tuple(tuple(str(cell).removeprefix("other: ") for cell in row) for row in rows)


def _widths(table: Counterexample, shown: Sequence[int]) -> list[int]:
    rows = [table.columns, *table.context, *table.rows]
    return [max(len(str(row[place])) for row in rows) for place in shown]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()
