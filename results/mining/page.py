"""The trend page: one HTML file that needs nothing beside it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

COLOURS = {"pass": "#3f9d5d", "violation": "#c62b2b", "infrastructure": "#7a4fb5", "inconclusive": "#e2a33d"}
SQUARES = 120
"""Runs drawn for a story, target and backend: the newest."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells as text, under a title. `note` says how to read it."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, title: str, note: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> "Table":
        cells = tuple(tuple(_cell(row[column]) for column in columns) for row in rows)
        return cls(title, note, tuple(column.replace("_", " ") for column in columns), cells)


def page(
    title: str,
    facts: Sequence[str],
    history: Mapping[tuple[str, str, str], Sequence[Mapping[str, Any]]],
    tables: Sequence[Table],
) -> str:
    """`history` has the runs of each story, target and backend by time (run, verdict, duration, headline)."""
    body = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(fact)}</p>" for fact in facts)]
    if history:
        body.append("<section><h2>Verdicts, oldest to newest</h2><table class='strips'>")
        body += [
            f"<tr><th>{escape(story)}<br><small>{escape(target)}, {escape(backend)}</small></th>"
            f"<td>{_strip(runs)}</td></tr>"
            for (story, target, backend), runs in sorted(history.items())
        ]
        body.append("</table>" + _legend() + "</section>")
    body += [_table(table) for table in tables]
    return _FRAME.format(title=escape(title), style=_STYLE, body="\n".join(body))


def as_text(table: Table) -> str:
    """The same table for a terminal."""
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    lines = [table.title] + [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (table.columns, *table.rows)
    ]
    return "\n".join(lines if table.rows else [table.title, "  none"])


def _strip(runs: Sequence[Mapping[str, Any]]) -> str:
    """A bar for each run: its colour is the verdict, its height the duration."""
    shown = runs[-SQUARES:]
    longest = max((run["duration"] or 0.0 for run in shown), default=0.0) or 1.0
    bars = []
    for place, run in enumerate(shown):
        height = 6 + 20 * (run["duration"] or 0.0) / longest
        tip = f"{run['run']}: {run['verdict']}, {run['duration'] or 0.0:.1f} s. {run['headline'] or ''}"
        bars.append(
            f'<rect x="{place * 8}" y="{26 - height:.1f}" width="6.5" height="{height:.1f}" rx="1.5" '
            f'fill="{COLOURS.get(run["verdict"], "#999")}"><title>{escape(tip)}</title></rect>'
        )
    return f'<svg width="{len(shown) * 8}" height="27">{"".join(bars)}</svg>'


def _legend() -> str:
    spots = (f'<span><i style="background:{colour}"></i>{name}</span>' for name, colour in COLOURS.items())
    return f'<p class="legend">{"".join(spots)}<span>height: duration</span></p>'


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    none = "" if table.rows else "<p><small>none</small></p>"
    note = f"<p><small>{escape(table.note)}</small></p>" if table.note else ""
    return f"<section><h2>{escape(table.title)}</h2>{note}<table><tr>{head}</tr>{rows}</table>{none}</section>"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


_STYLE = """
:root { color-scheme: light dark; --page: #fbfbf9; --card: #fff; --edge: #e4e4df; --ink: #1b1f24; --soft: #6b7280; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171b; --card: #1b1f25; --edge: #2d333c; --ink: #e6e9ee; --soft: #9aa4b2; }
}
body { margin: 0 auto; max-width: 1240px; padding: 28px; background: var(--page); color: var(--ink);
  font: 14px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 22px; } h2 { font-size: 15px; margin: 0 0 8px; } p { margin: 0 0 6px; } small { color: var(--soft); }
section { background: var(--card); border: 1px solid var(--edge); border-radius: 8px; padding: 14px 18px;
  margin-top: 16px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 400; color: var(--soft); padding: 4px 14px 4px 0; white-space: nowrap; }
td { border-top: 1px solid var(--edge); padding: 5px 14px 5px 0; } .strips th { width: 1%; color: var(--ink); }
.legend { display: flex; gap: 16px; margin-top: 10px; font-size: 12px; color: var(--soft); }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 5px; }
"""

_FRAME = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head><body>
{body}
</body></html>
"""
