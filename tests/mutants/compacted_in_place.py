"""Compaction that writes over the segments that it reads: a crash leaves less than there was (against DSTO-12)."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fencepost.cluster_impl.replication import cleaner
from fencepost.cluster_impl.storage.compaction import CompactedSegment, CompactionLimits, compact
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-12",),
    scenarios=("last-of-each-key",),
    unit="tests/cluster_impl/storage",
)


def apply() -> None:
    cleaner.compact = _in_place  # type: ignore[attr-defined]


def _in_place(paths: Sequence[Path], limits: CompactionLimits) -> list[CompactedSegment]:
    with tempfile.TemporaryDirectory() as folder:
        copies = [Path(shutil.copy2(path, folder)) for path in paths]
        for path in paths:
            os.truncate(path, 0)
        return [_moved(each, paths[0].parent) for each in compact(copies, limits)]


def _moved(made: CompactedSegment, directory: Path) -> CompactedSegment:
    path = directory / made.path.name
    path.write_bytes(made.path.read_bytes())
    state = replace(made.state, modified_ns=path.stat().st_mtime_ns)
    return replace(made, path=path, state=state)
