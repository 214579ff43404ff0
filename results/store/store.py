"""A store: a folder or an address with one Delta table for each entry of `TABLES`.

`deltalake` does what an open table format is for: each commit is atomic, writers that meet get an error, readers see
one version. A publication merges by key, so a row that is there already is not added again. Two writers that add to one
table at once conflict: the later one merges again, and then sees the rows of the other.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from fencepost.results.store.tables import RUNS, TABLES, Table

VERSION: Final = "fencepost.version"
"""The property of each Delta table that has the version of its schema."""
WRITE_TIMEOUT: Final = 300.0
"""Seconds for which a write that meets other writers tries again."""

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by the names of their tables; a column that a row lacks is null."""
_T = TypeVar("_T")


class StoreError(Exception):
    """A store cannot be read or written. The message says what is wrong, where, and what to do."""


class NotAStore(StoreError):
    """There is no store at the address, or something else is there."""


class NewerStore(StoreError):
    """A table has columns that this version does not know."""


@dataclass(frozen=True)
class Store:
    """A store at an address: the path of a folder, or a URL that Delta Lake and Spark both reach (`s3://...`)."""

    address: str

    @classmethod
    def open(cls, address: str) -> Store:
        """Return the store at an address. Raise NotAStore, NewerStore, or StoreError if it cannot be read."""
        store = cls(address)
        with store._errors():
            if not DeltaTable.is_deltatable(store.at(RUNS)):
                raise NotAStore(f"{address} is no store: {store._what_is_there()}")
            store.check_versions()
        return store

    @classmethod
    def create(cls, address: str) -> Store:
        """Return the store at an address; make it, or the tables that it lacks, and add columns to earlier ones.

        Raise NotAStore if something else is there, NewerStore, or StoreError if it cannot be written.
        """
        store = cls(address)
        with store._errors():
            if not DeltaTable.is_deltatable(store.at(RUNS)) and (foreign := store._foreign()):
                raise NotAStore(f"{address} is no store, and {foreign}: give a new folder, or that of a store")
            store.check_versions()
            for table in TABLES:
                store._prepare(table)
        return store

    @cached_property
    def _local(self) -> Path | None:
        scheme, separator, rest = self.address.partition("://")
        if separator and scheme != "file":
            return None
        return Path(rest if separator else self.address).absolute()

    @property
    def name(self) -> str:
        """Return the address as readers take it: an absolute path, or the URL."""
        return self.address.rstrip("/") if self._local is None else str(self._local)

    def at(self, table: Table) -> str:
        return f"{self.name}/{table.name}"

    def delta(self, table: Table) -> DeltaTable:
        """Return the Delta table in its newest version. Raise StoreError if it cannot be read."""
        with self._errors():
            return DeltaTable(self.at(table))

    def has(self, table: Table) -> bool:
        """Return whether the store has the table: one of an earlier version may lack it."""
        with self._errors():
            return bool(DeltaTable.is_deltatable(self.at(table)))

    def version(self, table: Table) -> int:
        return _version(self.delta(table))

    def read(self, table: Table, columns: Sequence[str] | None = None, where: Any = None) -> pa.Table:
        """Return rows of a table with the present columns; those that an earlier version lacks are null.

        `where` is an expression of `pyarrow.dataset`. Raise StoreError.
        """
        fields = [table.schema.field(name) for name in (columns or table.schema.names)]
        if not self.has(table):
            return pa.schema(fields).empty_table()
        with self._errors():
            data = DeltaTable(self.at(table)).to_pyarrow_dataset()
            present = [field.name for field in fields if field.name in data.schema.names]
            stored = data.to_table(columns=present, filter=where)
        return pa.table(
            [
                stored[field.name].cast(field.type) if field.name in present else pa.nulls(stored.num_rows, field.type)
                for field in fields
            ],
            schema=pa.schema(fields),
        )

    def rows(self, table: Table) -> int:
        """Return the number of rows of a table, from its log alone. Raise StoreError."""
        with self._errors():
            return int(DeltaTable(self.at(table)).count())

    def add(self, rows: Rows) -> dict[str, int]:
        """Add the rows whose keys are not there yet; return by table how many were added.

        The table `runs` is written last: a publication that was ended half way is completed by the next one. Raise
        StoreError.
        """
        order = sorted(TABLES, key=lambda each: each is RUNS)
        return {table.name: self._merge(table, rows[table.name]) for table in order if rows.get(table.name)}

    def _merge(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
        data = pa.Table.from_pylist(list(rows), schema=table.schema.remove_metadata())
        same = " and ".join(f"t.{name} = s.{name}" for name in table.key)

        def merge() -> int:
            delta = DeltaTable(self.at(table))
            merging = delta.merge(data, predicate=same, source_alias="s", target_alias="t")
            return int(merging.when_not_matched_insert_all().execute()["num_target_rows_inserted"])

        return self.patiently(merge)

    def patiently(self, write: Callable[[], _T]) -> _T:
        """Return what a write returns; try again while other writers come first. Raise StoreError."""
        until = time.monotonic() + WRITE_TIMEOUT
        with self._errors():
            for attempt in range(1_000_000):
                try:
                    return write()
                except CommitFailedError:
                    if time.monotonic() > until:
                        raise
                    time.sleep(random.uniform(0, min(0.05 * 2**attempt, 2.0)))
        raise AssertionError("unreachable: the loop returns or raises")

    def check_versions(self) -> None:
        """Raise NewerStore if a table is newer than this code."""
        for table in TABLES:
            try:
                version = _version(DeltaTable(self.at(table)))
            except TableNotFoundError:
                continue
            if version > table.version:
                raise NewerStore(
                    f"the table {table.name} of {self.address} has version {version}, and this fencepost knows up to "
                    f"{table.version}: use a newer fencepost"
                )

    def _prepare(self, table: Table) -> None:
        """Make the table, or add the columns that it lacks."""

        def write() -> None:
            if not DeltaTable.is_deltatable(self.at(table)):
                DeltaTable.create(
                    self.at(table),
                    schema=table.schema,
                    mode="ignore",
                    partition_by=["date"],
                    name=table.name,
                    description=table.about,
                    configuration={VERSION: str(table.version)},
                    raise_if_key_not_exists=False,
                )
                return
            delta = DeltaTable(self.at(table))
            if _version(delta) < table.version:
                present = {field.name for field in delta.schema().fields}
                fields = [field for field in table.schema if field.name not in present]
                if fields:
                    delta.alter.add_columns([_delta_field(field) for field in fields])
                delta.alter.set_table_properties({VERSION: str(table.version)}, raise_if_not_exists=False)

        self.patiently(write)

    def _foreign(self) -> str:
        """Return what is at the address of a store that is to be made, in words; empty if nothing is.

        Tables without data are no other files: another process may be making the store.
        """
        place = self._local
        if place is None or not place.exists():
            return ""
        if not place.is_dir():
            return "it is a file"
        return "" if all(map(_is_new_table, place.iterdir())) else "the folder has other files"

    def _what_is_there(self) -> str:
        if self._local is None:
            return "it has no table `runs`"
        if not self._local.exists():
            return "there is no such folder; `fencepost publish RUNS --to STORE` makes one"
        return "it has no table `runs`; a folder of runs is published into a store: `fencepost publish`"

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise StoreError for the errors of the library and of the system."""
        try:
            yield
        except StoreError:
            raise
        except (DeltaError, OSError, pa.ArrowException) as error:
            raise StoreError(self._in_words(str(error) or type(error).__name__)) from error

    def _in_words(self, error: str) -> str:
        if "No space left on device" in error or "os error 28" in error or "Disk quota exceeded" in error:
            return (
                f"no space is left in {self.address}: make room and publish again; what was committed is whole, and "
                f"`fencepost results check` shows it"
            )
        if "Permission denied" in error or "os error 13" in error or "Read-only file system" in error:
            return f"{self.address} is not writable for this user: {_first_line(error)}"
        return f"{self.address} cannot be used: {_first_line(error)}"


def _is_new_table(path: Path) -> bool:
    is_table = path.is_dir() and path.name in {table.name for table in TABLES}
    return is_table and {each.name for each in path.iterdir()} <= {"_delta_log"}


def _version(table: DeltaTable) -> int:
    return int(table.metadata().configuration.get(VERSION, "1"))


def _delta_field(field: pa.Field) -> Any:
    # deltalake's own types are needed here only: a column is added once in the life of a table.
    from deltalake import Schema

    schema = Schema.from_arrow(pa.schema([field]))
    return schema.fields[0]


def _first_line(error: str) -> str:
    return error.strip().splitlines()[0]
