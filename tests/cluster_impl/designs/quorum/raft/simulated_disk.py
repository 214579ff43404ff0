"""The disk of a simulated voter: its vote, its log and its snapshots, and what a crash leaves of them."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field

from fencepost.cluster_impl.designs.quorum.raft.log_shape import Recovered, recover
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState
from tests.cluster_impl.designs.quorum.raft.oracle import Entry, GuaranteeBroken


@dataclass(slots=True)
class SimulatedSnapshot:
    """The state of a snapshot is the list of all batches before its end."""

    id: EpochEnd
    entries: tuple[Entry, ...]
    good: bool = True

    def content(self) -> bytes:
        return pickle.dumps(self.entries)


@dataclass(frozen=True, slots=True)
class BeginAnew:
    """All batches go; `skipped` batches are before the new start of the log."""

    offset: int
    skipped: int


@dataclass(slots=True)
class Disk:
    """`safe` outlives a crash; of the `pending` changes, in order, any prefix may outlive it too.

    `safe` begins at the offset `start`, before which there were `skipped` batches.
    """

    state: QuorumState = field(default_factory=QuorumState)
    safe: list[Entry] = field(default_factory=list)
    pending: list[int | Entry | BeginAnew] = field(default_factory=list)
    snapshots: list[SimulatedSnapshot] = field(default_factory=list)
    start: int = 0
    skipped: int = 0

    def settle(self, changes: int) -> None:
        for change in self.pending[:changes]:
            match change:
                case Entry():
                    self.safe.append(change)
                case BeginAnew(offset, skipped):
                    self.safe, self.start, self.skipped = [], offset, skipped
                case _:
                    self.safe = [entry for entry in self.safe if entry.next_offset <= change]
        del self.pending[:changes]

    def holds(self, entry: Entry, index: int) -> bool:
        """Return True if the batch, the one at `index` of the whole history, is durable here."""
        held = [snapshot.entries for snapshot in self.snapshots if snapshot.good]
        if any(len(entries) > index and entries[index].chain == entry.chain for entries in held):
            return True
        place = index - self.skipped
        return 0 <= place < len(self.safe) and self.safe[place].chain == entry.chain

    def keep(self, ids: Sequence[EpochEnd]) -> None:
        """Remove the earlier snapshots, and the log before the first that is kept."""
        self.snapshots = [snapshot for snapshot in self.snapshots if snapshot.id in ids]
        self.settle(len(self.pending))
        gone = [entry for entry in self.safe if entry.next_offset <= ids[0].end_offset]
        self.safe = self.safe[len(gone) :]
        self.start, self.skipped = ids[0].end_offset, self.skipped + len(gone)

    def install(self, snapshot: SimulatedSnapshot) -> None:
        """The file is durable at once, and replaces all earlier ones; what happens to the log may be lost."""
        self.snapshots = [snapshot]
        self.pending.append(BeginAnew(snapshot.id.end_offset, len(snapshot.entries)))

    def read(self) -> tuple[Recovered, list[Entry]]:
        """Return what a node starts from, and the whole history that it then knows."""
        self.snapshots = [snapshot for snapshot in self.snapshots if snapshot.good]
        epochs = [
            (entry.epoch, entry.base_offset)
            for before, entry in zip([None, *self.safe], self.safe, strict=False)
            if before is None or before.epoch != entry.epoch
        ]
        end = self.safe[-1].next_offset if self.safe else self.start
        found = recover(epochs, self.start, end, tuple(snapshot.id for snapshot in self.snapshots))
        newest = self.snapshots[-1].entries if self.snapshots else ()
        if not found.keeps_log:
            self.safe, self.start, self.skipped = [], found.snapshots[-1].end_offset, len(newest)
        self.snapshots = [snapshot for snapshot in self.snapshots if snapshot.id in found.snapshots]
        for index, entry in enumerate(newest[self.skipped :]):
            if self.safe[index].chain != entry.chain:
                raise GuaranteeBroken(f"recovery: the log and a snapshot differ at {entry.base_offset}")
        return found, [*newest, *self.safe[max(len(newest) - self.skipped, 0) :]]
