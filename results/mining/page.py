"""The page of trends: one HTML file that needs nothing beside it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fencepost.results.pages import page_environment
from fencepost.results.records.folder import short_digest

COLOURS = {"pass": "#3f9d5d", "violation": "#c62b2b", "infrastructure": "#7a4fb5", "inconclusive": "#e2a33d"}
SQUARES = 120
"""The number of runs shown for a scenario, target and backend: the newest ones."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells as text, under a title. `note` explains the columns."""

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
    """Return the HTML page. `history` has the rows of runs by scenario, target and backend, each with its `report`."""
    strips = [
        {"scenario": scenario, "target": target, "backend": backend, "bars": _bars(runs)}
        for (scenario, target, backend), runs in sorted(history.items())
    ]
    template = page_environment("fencepost.results.mining").get_template("trends.html.j2")
    return template.render(title=title, facts=facts, strips=strips, tables=tables, colours=COLOURS)


def as_text(table: Table) -> str:
    """Return the table as text for a terminal."""
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    lines = [table.title] + [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (table.columns, *table.rows)
    ]
    return "\n".join(lines if table.rows else [table.title, "  none"])


def _bars(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a bar for each of the newest runs: its colour is the verdict, its height (6 to 26 px) the duration."""
    shown = runs[-SQUARES:]
    longest = max((run["duration"] or 0.0 for run in shown), default=0.0) or 1.0
    return [
        {
            "height": 6 + 20 * (run["duration"] or 0.0) / longest,
            "colour": "#999" if run["left_out"] else COLOURS.get(run["verdict"], "#999"),
            "tip": _tip(run),
            "href": run["report"],
        }
        for run in shown
    ]


def _tip(run: Mapping[str, Any]) -> str:
    """Return what a bar stands for: the run, its verdict, and what is known of the build that it judged."""
    said = f"{run['run']}: {run['verdict']}, {run['duration'] or 0.0:.1f} s. {run['headline'] or ''}"
    known = {
        "version": run["target_version"],
        "digest": run["target_digest"] and short_digest(run["target_digest"]),
        "commit": run["target_commit"],
        "branch": run["branch"],
        "job": run["ci_job"],
    }
    build = ", ".join(f"{name} {value}" for name, value in known.items() if value)
    notes = [f"Build: {build}." if build else "", f"Not counted: {run['left_out']}." if run["left_out"] else ""]
    return " ".join(filter(None, (said, *notes)))


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
