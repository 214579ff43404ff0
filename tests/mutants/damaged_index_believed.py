"""An index file that is believed whatever is in it: records are looked for in the wrong places (against DSTO-05)."""

from __future__ import annotations

from pathlib import Path

from fencepost.cluster_impl.storage import sparse_index
from fencepost.cluster_impl.storage.sparse_index import SparseIndex, WrittenIndex, index_paths
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-05",),
    scenarios=("log-start-moves",),
    unit="tests/cluster_impl/storage/test_clean_stop.py::test_an_index_that_is_not_as_it_was_written_is_made_anew",
)


def apply() -> None:
    SparseIndex.read = classmethod(_read)  # type: ignore[assignment, method-assign]


def _read(cls: type[SparseIndex], segment: Path, base_offset: int, written: WrittenIndex) -> SparseIndex:
    index = cls()
    places, times = (path.read_bytes() for path in index_paths(segment))
    pairs = zip(sparse_index._PLACE.iter_unpack(places), sparse_index._TIME.iter_unpack(times), strict=False)
    for (relative, position), (timestamp, _) in pairs:
        index._offsets.append(base_offset + relative)
        index._positions.append(position)
        index._timestamps.append(timestamp)
    return index
