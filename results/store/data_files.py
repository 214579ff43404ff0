"""The data files that the log of a Delta table lists: how they are read, and which of them are damaged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.fs import DeltaStorageHandler

from fencepost.results.store.errors import UnknownFeature

HONOURED: Final = frozenset({"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"})
"""Features of the protocol with which the rows of a table are those of its listed files, all of them and as they are.

Others change what a file means: deletion vectors remove rows of it, column mapping renames its columns.
"""


def refuse_unknown_features(table: DeltaTable, name: str) -> None:
    """Raise UnknownFeature if the rows of a table are not simply those of its files.

    Source: Delta Transaction Log Protocol, Table Features.
    """
    protocol = table.protocol()
    features = set(protocol.reader_features or ())
    if protocol.min_reader_version == 2:
        features.add("columnMapping")  # the one feature that version 2 of readers brought
    if unknown := sorted(features - HONOURED):
        raise UnknownFeature(
            f"the table {name} needs what fencepost does not read: {', '.join(unknown)} of Delta Lake; what switched "
            f"it on can take it off again (`ALTER TABLE ... DROP FEATURE {unknown[0]}`)"
        )


def file_system(table: DeltaTable, folder: Path | None) -> pa.fs.FileSystem:
    """Return the file system of a table, whose root is its folder; `folder` is None for a table at a URL."""
    # A file system in Python under Arrow's threads now and then aborts the process while it exits.
    if folder is not None:
        return pa.fs.SubTreeFileSystem(str(folder), pa.fs.LocalFileSystem())
    return pa.fs.PyFileSystem(DeltaStorageHandler.from_table(table._table))


def read_files(
    table: DeltaTable,
    folder: Path | None,
    present: pa.Schema,
    files: Sequence[str],
    columns: Sequence[str] | None,
    where: Any,
) -> pa.Table:
    """Return rows of some data files of a table, whose texts are dictionaries: one text may be in millions of rows.

    Columns have the types of the table, those that it lacks are null and of the `present` schema.
    """
    types = {field.name: _as_dictionary(field.type) for field in (*present, *pa.schema(table.schema().to_arrow()))}
    root = table.table_uri.rstrip("/") if folder is None else str(folder)
    partitions = pa.schema([(name, types[name]) for name in ("date",) if f"/{name}=" in files[0]])
    texts = [name for name, of in types.items() if pa.types.is_dictionary(of) and name not in partitions.names]
    data = pa.dataset.dataset(
        [unquote(file).removeprefix(f"{root}/") for file in files],
        pa.schema(types.items()),
        format=pa.dataset.ParquetFileFormat(dictionary_columns=texts, coerce_int96_timestamp_unit="us"),
        filesystem=file_system(table, folder),
        partitioning=pa.dataset.HivePartitioning(partitions),
    )
    return data.to_table(columns=list(columns or types), filter=where)


def _as_dictionary(of: pa.DataType) -> pa.DataType:
    is_text = pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of)
    return pa.dictionary(pa.int32(), pa.string()) if is_text else of


def of_wrong_size(table: DeltaTable, folder: Path | None) -> list[str]:
    """Return the files of a table that are gone, or not as long as its log says, with the reason.

    Only in a folder: an object store has an object as a whole or not at all. Spark passes over an empty file.
    """
    found = []
    for path, size in _listed(table) if folder is not None else ():
        try:
            actual = (folder / path).stat().st_size  # type: ignore[operator]  # there is a folder
        except FileNotFoundError:
            found.append(f"{folder}/{path} is gone")
            continue
        if actual != size:
            found.append(f"{folder}/{path} has {actual} bytes, and was written with {size}")
    return found


def damaged(table: DeltaTable, folder: Path | None) -> list[str]:
    """Return the files of a table that cannot be read as a whole, with the reason. It reads all of them."""
    found = of_wrong_size(table, folder)
    files = file_system(table, folder)
    for path, _ in _listed(table):
        shown = f"{folder or table.table_uri.rstrip('/')}/{path}"
        if any(each.startswith(f"{shown} ") for each in found):
            continue
        try:
            with files.open_input_file(path) as file:
                for _batch in pq.ParquetFile(file).iter_batches():
                    pass
        except (OSError, pa.ArrowException) as error:
            found.append(f"{shown} cannot be read: {str(error).strip().splitlines()[0]}")
    return found


def _listed(table: DeltaTable) -> Iterator[tuple[str, int]]:
    """Yield path below the table's folder, and bytes, of each file of its newest version."""
    actions: Any = pa.table(table.get_add_actions(flatten=True))
    for path, size in zip(actions["path"].to_pylist(), actions["size_bytes"].to_pylist(), strict=True):
        yield unquote(path), size
