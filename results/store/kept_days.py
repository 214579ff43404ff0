"""Tables that a job keeps in the store: what it made of the rows of each day, and of which data files.

A day counts for exactly the files that it was made of. A publication, an expiry, a repair and a compaction give the day
other files, so what was kept of it no longer counts, and no writer has to know of these tables.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable, Schema
from deltalake.transaction import AddAction, RemoveAction

from fencepost.results.store.commits import ON_READ_VERSION
from fencepost.results.store.store import Store
from fencepost.results.store.tables import Table

FOLDER: Final = "kept"
"""The folder of these tables in a store."""
_DAY: Final = re.compile(r"/date=(\d{4}-\d\d-\d\d)/")

FilesOfDays = Mapping[date, Collection[str]]
"""The addresses of the data files of each day."""


@dataclass(frozen=True, slots=True)
class Part:
    """A file that was written for one day; `path` is below the folder of the table."""

    day: date
    path: str
    size: int
    modified_ms: int


def by_day(files: Iterable[str]) -> dict[date, list[str]]:
    """Return the data files of a table by their days, each day's in order."""
    found = defaultdict(list)
    for file in sorted(files):
        [day] = _DAY.findall(file)
        found[date.fromisoformat(day)].append(file)
    return dict(found)


def digest(tables: Iterable[Collection[str]]) -> str:
    """Return what identifies the data files that a day has in some tables."""
    # A store may be moved, so only the last part of an address counts; it has a UUID.
    names = (",".join(sorted(path.rpartition("/")[2] for path in files)) for files in tables)
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class KeptDays:
    """One such table: partitions by day, and by the digest of the files that the day was made of (`of`).

    A job of another version has a table of its own, so releases of both versions can read one store.
    """

    store: Store
    name: str
    version: int

    @property
    def table(self) -> Table:
        return Table(f"{FOLDER}/{self.name}-{self.version}", 1, KeptDays, pa.schema([]), ("date", "of"))

    @property
    def address(self) -> str:
        return self.store.at(self.table)

    def files(self) -> dict[tuple[date, str], list[str]]:
        """Return the data files by day and digest; none if nothing was kept yet. Raise DamagedStore, StoreError."""
        found: dict[tuple[date, str], list[str]] = defaultdict(list)
        if self.store.has(self.table):
            self.store.files(self.table)  # raises for those that are gone
            for key, path in _listed(self.store.delta(self.table)):
                found[key].append(f"{self.address}/{path}")
        return dict(found)

    def columns(self) -> list[str]:
        """Return the names of the columns, with those of the partitions. Raise StoreError."""
        return [field.name for field in self.store.delta(self.table).schema().fields]

    def replace(self, of: Mapping[date, str], parts: Collection[Part], schema: str) -> None:
        """Put files in place of what is kept of some days, in one commit; `schema` is the JSON of Delta Lake and Spark.

        `of` has the digest of each day. Raise StoreError.
        """
        fields = Schema.from_json(schema)
        self.store.make(self.table, fields, ["date", "of"])
        actions: list[AddAction | RemoveAction] = [
            AddAction(
                part.path,
                part.size,
                {"date": part.day.isoformat(), "of": of[part.day]},
                part.modified_ms,
                True,
                "{}",
            )
            for part in parts
        ]
        days = sorted(day.isoformat() for day in of)

        def write(newest: DeltaTable) -> None:
            newest.create_write_transaction(
                actions,
                "overwrite",
                fields,
                ["date", "of"],
                [("date", "in", days)],
                commit_properties=ON_READ_VERSION,
            )

        self.store.commit(self.table, write)
        # Those that were replaced longer ago than any reader takes.
        self.store.commit(self.table, lambda newest: newest.vacuum(dry_run=False))


def _listed(table: DeltaTable) -> list[tuple[tuple[date, str], str]]:
    actions: Any = pa.table(table.get_add_actions(flatten=True))
    columns = (actions[name].to_pylist() for name in ("partition.date", "partition.of", "path"))
    return [((day, of), path) for day, of, path in zip(*columns, strict=True)]
