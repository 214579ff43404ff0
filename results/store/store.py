"""A store: a folder or an address with one Delta table for each entry of `TABLES`.

`deltalake` does what an open table format is for: each commit is atomic, readers see one version. A publication merges
by key, so a row that is there already is not added again. Of two writers that meet the later one begins again, and then
sees the rows of the other (`commits.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from fencepost.results.store.commits import ON_READ_VERSION, commit
from fencepost.results.store.data_files import damaged, file_system, of_wrong_size, read_files, refuse_unknown_features
from fencepost.results.store.errors import DamagedStore, NewerStore, NotAStore, StoreError, in_words
from fencepost.results.store.tables import RUNS, TABLES, Table

VERSION: Final = "fencepost.version"
"""The property of each Delta table that has the version of its schema."""

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by the names of their tables; a column that a row lacks is null."""
_T = TypeVar("_T")


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
        """Return the Delta table in its newest version. Raise UnknownFeature, or StoreError if it cannot be read."""
        with self._errors():
            newest = DeltaTable(self.at(table))
            refuse_unknown_features(newest, self.at(table))
            return newest

    def files(self, table: Table) -> list[str]:
        """Return the addresses of the data files of a table; none if the store lacks it.

        Raise DamagedStore for a file that is gone or not as long as the log says, StoreError.
        """
        if not self.has(table):
            return []
        newest = self.delta(table)
        if wrong := of_wrong_size(newest, self.folder(table)):
            raise DamagedStore(table.name, wrong)
        return list(newest.file_uris())

    def folder(self, table: Table) -> Path | None:
        """Return the folder of a table; None for a store at a URL."""
        return None if self._local is None else self._local / table.name

    def damaged(self, table: Table) -> list[str]:
        """Return the damaged files of a table, with the reasons. It reads all of them. Raise StoreError."""
        return damaged(self.delta(table), self.folder(table)) if self.has(table) else []

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
        newest = self.delta(table)
        with self._errors(table):
            data = newest.to_pyarrow_dataset(filesystem=file_system(newest, self.folder(table)))
            present = [field.name for field in fields if field.name in data.schema.names]
            try:
                stored = data.to_table(columns=present, filter=where)
            except pa.ArrowNotImplementedError:
                # The bounds of a file's texts are string views, which pyarrow 26 cannot compare with the text of a
                # filter where the text is such a bound: then rows are filtered once they are read.
                parts = (pa.Table.from_batches([each]).filter(where).select(present) for each in data.to_batches())
                stored = pa.concat_tables([data.schema.empty_table().select(present), *parts])
        return pa.table(
            [
                stored[field.name].cast(field.type) if field.name in present else pa.nulls(stored.num_rows, field.type)
                for field in fields
            ],
            schema=pa.schema(fields),
        )

    def read_files(
        self, table: Table, files: Sequence[str], columns: Sequence[str] | None = None, where: Any = None
    ) -> pa.Table:
        """Return rows of some data files of a table, whose texts are dictionaries; `files` are those of `files`.

        Columns have the types of the table in the store, those that it lacks the present ones. `where` is an expression
        of `pyarrow.dataset`. Raise StoreError.
        """
        if not files:
            return table.schema.empty_table().select(columns or table.schema.names)
        newest = self.delta(table)
        with self._errors(table):
            return read_files(newest, self.folder(table), table.schema, files, columns, where)

    def rows(self, table: Table, files: Collection[str] | None = None) -> int:
        """Return the number of rows of a table, or of some of its files, from its log alone. Raise StoreError."""
        newest = self.delta(table)
        with self._errors():
            if files is None:
                return int(newest.count())
            actions: Any = pa.table(newest.get_add_actions(flatten=True))
            paths, numbers = (actions[name].to_pylist() for name in ("path", "num_records"))
            number_of = {path.rpartition("/")[2]: number for path, number in zip(paths, numbers, strict=True)}
            return sum(number_of.get(file.rpartition("/")[2]) or 0 for file in files)

    def add(self, rows: Rows, *, on_any_day: bool = False) -> dict[str, int]:
        """Add the rows whose keys are not there yet; return by table how many were added.

        With `on_any_day` a row is also there if the store has it on another day, which takes a look at all days. The
        table `runs` is written last: a publication that was ended half way is completed by the next one. Raise
        StoreError.
        """

        def key(table: Table) -> Sequence[str]:
            return [name for name in table.key if not (on_any_day and name == "date")]

        order = sorted(TABLES, key=lambda each: each is RUNS)
        return {each.name: self._merge(each, rows[each.name], key(each)) for each in order if rows.get(each.name)}

    def _merge(self, table: Table, rows: Sequence[Mapping[str, Any]], key: Sequence[str]) -> int:
        different = {tuple(row[name] for name in key): row for row in reversed(rows)}
        data = pa.Table.from_pylist(list(reversed(different.values())), schema=table.schema.remove_metadata())

        def merge(newest: DeltaTable) -> int:
            _refuse_to_drop(data, newest, self.at(table))
            same = " and ".join(f"t.{name} = s.{name}" for name in key)
            merging = newest.merge(
                data, predicate=same, source_alias="s", target_alias="t", commit_properties=ON_READ_VERSION
            )
            return int(merging.when_not_matched_insert_all().execute()["num_target_rows_inserted"])

        return self.commit(table, merge)

    def commit(self, table: Table, write: Callable[[DeltaTable], _T]) -> _T:
        """Return what a write returns, which gets the newest version of a table and commits on no later one.

        It is tried again while other writers come first. Raise DamagedStore, StoreError.
        """
        with self._errors(table):
            return commit(lambda: self.delta(table), write)

    def check_versions(self) -> None:
        """Raise NewerStore if a table is newer than this code, UnknownFeature if it cannot read one."""
        for table in TABLES:
            try:
                newest = DeltaTable(self.at(table))
            except TableNotFoundError:
                continue
            refuse_unknown_features(newest, self.at(table))
            version = _version(newest)
            if version > table.version:
                raise NewerStore(
                    f"the table {table.name} of {self.address} has version {version}, and this fencepost knows up to "
                    f"{table.version}: use a newer fencepost"
                )

    def make(self, table: Table, schema: Any, partitions: Sequence[str]) -> None:
        """Make a table, unless it is there. Raise StoreError."""
        if self.has(table):
            return
        with self._errors():
            try:
                DeltaTable.create(
                    self.at(table),
                    schema=schema,
                    mode="ignore",
                    partition_by=list(partitions),
                    name=table.name,
                    description=table.about,
                    configuration={VERSION: str(table.version)},
                    raise_if_key_not_exists=False,
                )
            except CommitFailedError:
                if not self.has(table):  # else another process made it meanwhile
                    raise

    def _prepare(self, table: Table) -> None:
        """Make the table, or add the columns that it lacks."""

        def extend(newest: DeltaTable) -> None:
            if _version(newest) < table.version:
                present = {field.name for field in newest.schema().fields}
                fields = [field for field in table.schema if field.name not in present]
                if fields:
                    newest.alter.add_columns([_delta_field(field) for field in fields])
                newest.alter.set_table_properties({VERSION: str(table.version)}, raise_if_not_exists=False)

        self.make(table, table.schema, ["date"])
        self.commit(table, extend)

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
    def _errors(self, table: Table | None = None) -> Iterator[None]:
        """Raise StoreError for the errors of the library and of the system; DamagedStore if files of the table are."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:
            # What the library runs queries with raises nothing more special.
            if not isinstance(error, DeltaError | OSError | pa.ArrowException) and type(error) is not Exception:
                raise
            may_be_damaged = table is not None and not isinstance(error, CommitFailedError)
            if table is not None and may_be_damaged and (found := self.damaged(table)):
                raise DamagedStore(table.name, found) from error
            raise StoreError(in_words(self.address, error)) from error


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


def _refuse_to_drop(data: pa.Table, table: DeltaTable, name: str) -> None:
    """Raise StoreError if a merge would leave out values, as it does with those of columns that the table lacks."""
    present = {field.name for field in table.schema().fields}
    if lost := [
        column for column in data.schema.names if column not in present and data[column].null_count < len(data)
    ]:
        raise StoreError(
            f"the table {name} is of an earlier version and lacks {', '.join(lost)}: `fencepost publish` adds them"
        )
