"""The meaning of the cells of a table: error codes by name, and marks."""

from __future__ import annotations

from collections.abc import Mapping

from kio.schema.errors import ErrorCode

from fencepost.harness.comparison.table import Cell, Table

SHORT: Mapping[str, str] = {
    "ok": "served, without an error",
    "not offered": "the target has no such request",
    "not asked": "a request that has to come before was not served",
    "no answer": "the connection stayed open, and nothing came within 5 s",
    "closed": "the target closed the connection",
    "unreadable": "an answer that is none in the version that was asked",
    "ended": "the process of the broker ended, and was started again",
    "there": "described at the end",
    "absent": "not described at the end, though others of its kind are",
}
"""The cells that are no error codes."""
DIFFERS, LISTED = "≠", "~"
"""Marks of a cell that differs from the first: and that no target file lists, or one does."""


def text(cell: Cell) -> str:
    """Return the text of a cell: its answer, and a mark if it differs."""
    if not cell.differs:
        return cell.short
    return f"{cell.short} {LISTED if cell.reason else DIFFERS}"


def meanings(table: Table) -> dict[str, str]:
    """Return the meaning of each text of a cell that the table has, error codes last and in their order."""
    found = {cell.short for row in table.rows for cell in row.cells}
    codes = sorted(int(each) for each in found if each.lstrip("-").isdigit())
    known = set(ErrorCode)
    names = {str(code): ErrorCode(code).name.upper() if code in known else "an unknown error" for code in codes}
    return {short: says for short, says in SHORT.items() if short in found} | names
