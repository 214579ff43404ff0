"""The snapshots of one controller, as files beside its log (decision 0053)."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd
from fencepost.cluster_impl.designs.quorum.raft.snapshot_format import (
    DamagedSnapshot,
    read_snapshot,
    snapshot_parts,
    snapshot_voters,
)
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from fencepost.cluster_impl.storage.checkpoints import sync_directory

log = logging.getLogger(__name__)

_NAME = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
_UNFINISHED = ".part"


@dataclass(frozen=True, slots=True)
class FoundSnapshots:
    """The good snapshots, ascending, and the records of the newest."""

    snapshots: tuple[EpochEnd, ...]
    values: list[bytes]
    voters: VoterSet | None = None
    """The set of voters in the newest."""


class SnapshotFiles:
    """The files in `folder`, named `<end offset>-<epoch>.checkpoint` as Kafka's (KIP-630). Methods raise OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self) -> FoundSnapshots:
        """Read the newest good snapshot; log each newer one that is torn or damaged. Remove unfinished files."""
        for unfinished in self._folder.glob(f"*{_UNFINISHED}"):
            unfinished.unlink()
        found = self._all()
        while found:
            path = self.path(found[-1])
            try:
                content = path.read_bytes()
                return FoundSnapshots(tuple(found), read_snapshot(content), snapshot_voters(content))
            except DamagedSnapshot as error:
                log.error("the snapshot %s is refused: %s; the one before it is used", path, error)
                found.pop()
        return FoundSnapshots((), [])

    def path(self, snapshot: EpochEnd) -> Path:
        return self._folder / f"{snapshot.end_offset:020d}-{snapshot.epoch:010d}.checkpoint"

    def voters(self, snapshot: EpochEnd) -> VoterSet | None:
        """Return the set of voters in a good snapshot, None if it has none."""
        return snapshot_voters(self.path(snapshot).read_bytes())

    def write(self, snapshot: EpochEnd, values: Iterable[bytes], voters: VoterSet | None = None) -> None:
        """Write a snapshot; it is durable on return, and does not exist before. May run in another thread."""
        unfinished = self._unfinished(snapshot, "made")
        with open(unfinished, "wb") as file:
            for part in snapshot_parts(snapshot, values, voters):
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        self._finish(unfinished, snapshot)

    def read_part(self, snapshot: EpochEnd, position: int, limit: int) -> tuple[int, bytes]:
        """Return the size of the whole snapshot, and at most `limit` of its bytes from `position` on."""
        with open(self.path(snapshot), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(position)
            return size, file.read(limit)

    def store_part(self, snapshot: EpochEnd, position: int, data: bytes | memoryview) -> None:
        """Keep a part of a snapshot that is being fetched; the one at position 0 begins it anew."""
        with open(self._unfinished(snapshot, "fetched"), "r+b" if position else "wb") as file:
            file.seek(position)
            file.write(data)

    def install(self, snapshot: EpochEnd) -> list[bytes]:
        """Verify the fetched snapshot and make it durable; return its records. Raises DamagedSnapshot."""
        unfinished = self._unfinished(snapshot, "fetched")
        values = read_snapshot(unfinished.read_bytes())
        with open(unfinished, "rb") as file:
            os.fsync(file.fileno())
        self._finish(unfinished, snapshot)
        return values

    def remove_before(self, snapshot: EpochEnd) -> None:
        """Remove all earlier snapshots, damaged ones too."""
        for earlier in self._all():
            if earlier.end_offset < snapshot.end_offset:
                self.path(earlier).unlink(missing_ok=True)

    def _finish(self, unfinished: Path, snapshot: EpochEnd) -> None:
        unfinished.replace(self.path(snapshot))
        sync_directory(self._folder)

    def _unfinished(self, snapshot: EpochEnd, how: str) -> Path:
        path = self.path(snapshot)
        return path.with_name(f"{path.name}.{how}{_UNFINISHED}")

    def _all(self) -> list[EpochEnd]:
        matches = (_NAME.fullmatch(path.name) for path in self._folder.iterdir())
        snapshots = [EpochEnd(int(match[2]), int(match[1])) for match in matches if match]
        return sorted(snapshots, key=lambda snapshot: snapshot.end_offset)
