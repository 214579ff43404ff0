"""The page docs/results-dialects.md: a row for each way in which a runner was run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parents[2] / "docs" / "results-dialects.md"
_HEAD: Final = """\
# What real runners write, and what is read of it

Each row is one way to run a small suite with a real runner: `make runners ARGS=--write` installs the runner, runs
the suite, imports the report with [fencepost results import](results.md#results-of-other-suites), and compares it with
the executions that the tests noted themselves. Every night it runs again, with these releases and with the newest ones,
and shows the rows that differ.

`P` is an execution that passed, `F` one that failed, `E` one that ended with an error. **Bold** is what is read where
something else ran.

"""
_COLUMNS: Final = (
    "script",
    "releases",
    "run with",
    "around and in a testcase",
    "recognized as",
    "passes",
    "fails",
    "errors",
    "fails at first",
    "skipped",
    "lost",
    "what helps",
)


def page(rows: Mapping[str, Sequence[str]]) -> str:
    """Return the page; the rows are in the order of their scripts."""
    table = [f"| {' | '.join(_COLUMNS)} |", f"| {' | '.join('---' for _ in _COLUMNS)} |"]
    table += [line for name in sorted(rows) for line in rows[name]]
    return _HEAD + "\n".join(table) + "\n"


def rows_of_page(text: str) -> dict[str, list[str]]:
    """Return the rows of a page by script."""
    rows: dict[str, list[str]] = {}
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    for line in lines[2:]:
        rows.setdefault(line.split(" | ")[0].removeprefix("| "), []).append(line)
    return rows


def without_versions(line: str) -> str:
    name, _, *rest = line.split(" | ")
    return " | ".join((name, *rest))
