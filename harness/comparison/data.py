"""A table as plain data, for programs."""

from __future__ import annotations

from typing import Any

from fencepost.harness.comparison.masks import FIELDS
from fencepost.harness.comparison.table import Cell, Table


def as_data(table: Table) -> dict[str, Any]:
    """Return the table in JSON's types: targets, masks, and for each probe a cell by target."""
    return {
        "targets": dict(zip(table.targets, table.folders, strict=True)),
        "masks": {mask.value: sorted(FIELDS[mask]) for mask in sorted(table.masks)},
        "rows": [
            {
                "probe": row.name,
                "request": row.api,
                "kind": row.kind,
                "cells": {target: _cell(cell) for target, cell in zip(table.targets, row.cells, strict=True)},
            }
            for row in table.rows
        ],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    answer = cell.answer
    return {
        "answer": answer.short,
        "version": answer.version,
        "seconds": None if answer.seconds is None else round(answer.seconds, 4),
        "response": answer.response,
        "note": answer.note,
        "differs": [{"path": each.path, "one": each.one, "other": each.other} for each in cell.differs],
        "reason": cell.reason,
        "slower": cell.slower,
    }
