"""Rows of Arrow in groups, for what the driver computes by numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
NOTHING: Final = int(np.iinfo(np.int64).min)
"""In place of a null among whole numbers and times: less than all others."""


def numbers(table: pa.Table, name: str, null: int = 0) -> Numbers:
    """Return a column of whole numbers, or of times in its unit; `null` in place of nulls."""
    column = table[name]
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int32() if pa.types.is_date32(column.type) else pa.int64())
    found: Numbers = pc.fill_null(column.cast(pa.int64()), null).to_numpy()
    return found


def floats(table: pa.Table, name: str) -> Floats:
    """Return a column of numbers; NaN in place of nulls."""
    found: Floats = pc.fill_null(table[name].cast(pa.float64()), float("nan")).to_numpy()
    return found


def ranks(column: pa.ChunkedArray) -> tuple[Numbers, pa.Array]:
    """Return the rank of each value among the different ones, -1 for null, and these in order."""
    encoded: Any = column.combine_chunks() if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # one without chunks
        encoded = pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), pa.array([], column.type))
    order = pc.array_sort_indices(encoded.dictionary)
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    rank[-1] = -1
    return rank[pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)], encoded.dictionary.take(order)


def keyed(table: pa.Table, names: Sequence[str]) -> tuple[Numbers, pa.Table]:
    """Return the number of the key of each row, and the different keys in order, that with the number n in row n."""
    key = np.zeros(table.num_rows, dtype=np.int64)
    for name in names:
        rank, values = ranks(table[name])
        _, key = np.unique(key * (len(values) + 1) + rank + 1, return_inverse=True)
    first = np.zeros(int(key.max(initial=-1)) + 1, dtype=np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    return key, table.select(list(names)).take(first)


@dataclass(frozen=True)
class Groups:
    """Rows with the same values of some columns. `order` sorts the rows by these, each group begins at one `start`."""

    order: Numbers
    start: Numbers

    @classmethod
    def of(cls, *columns: npt.NDArray[Any]) -> Groups:
        """Return the groups in the order of their columns; a group has its rows in the order in which they were."""
        return cls.sorted_by(len(columns), *columns)

    @classmethod
    def sorted_by(cls, keys: int, *columns: npt.NDArray[Any]) -> Groups:
        """Return the groups by the first columns, so many, with the rows of a group in the order of the others."""
        order = np.lexsort(columns[::-1])
        begins = np.zeros(len(order), dtype=bool)
        begins[:1] = True
        for column in columns[:keys]:
            inside = column[order]
            begins[1:] |= inside[1:] != inside[:-1]
        return cls(order, np.flatnonzero(begins))

    @property
    def sizes(self) -> Numbers:
        return np.diff(np.append(self.start, len(self.order)))

    @property
    def places(self) -> Numbers:
        """Return the place of each row of `order` in its group, from 0."""
        return np.arange(len(self.order)) - np.repeat(self.start, self.sizes)

    def first(self, column: npt.NDArray[Any]) -> Any:
        return column[self.order[self.start]]

    def last(self, column: npt.NDArray[Any]) -> Any:
        return column[self.order[self.start + self.sizes - 1]]

    def sum(self, column: npt.NDArray[Any]) -> Any:
        return np.add.reduceat(column[self.order], self.start)

    def max(self, column: npt.NDArray[Any]) -> Any:
        return np.maximum.reduceat(column[self.order], self.start)

    def min(self, column: npt.NDArray[Any]) -> Any:
        return np.minimum.reduceat(column[self.order], self.start)

    def any(self, column: Flags) -> Flags:
        found: Flags = np.logical_or.reduceat(column[self.order], self.start)
        return found


def with_columns(table: pa.Table, columns: Mapping[str, Any]) -> pa.Table:
    """Return a table with further columns: arrays of Arrow or of numpy."""
    for name, values in columns.items():
        is_arrow = isinstance(values, pa.Array | pa.ChunkedArray)
        table = table.append_column(name, values if is_arrow else pa.array(values))
    return table


def _plain(of: pa.DataType) -> pa.DataType:
    return of.value_type if pa.types.is_dictionary(of) else of


def ratio(part: npt.NDArray[Any], whole: npt.NDArray[Any]) -> pa.Array:
    """Return part / whole, null where the whole is 0."""
    there = whole > 0
    return pa.array(part / np.where(there, whole, 1), mask=~there)


def sorted_rows(table: pa.Table, order: Sequence[str], most: int | None = None) -> pa.Table:
    """Return the first rows of a table in an order (`-`: descending), nulls last."""
    keys = [(name.removeprefix("-"), "descending" if name.startswith("-") else "ascending") for name in order]
    # Arrow does not sort by dictionaries.
    plain = {name: table[name].cast(_plain(table[name].type)) for name, _ in keys}
    indices = pc.sort_indices(pa.table(plain), sort_keys=keys)
    return table.take(indices if most is None else indices.slice(0, most))
