"""The state machine of the metadata log, as a node of the quorum drives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol


class RaftListener(Protocol):
    """The listener for events of the quorum. Called in the event loop, in the order of events; must not block."""

    def on_commit(self, records: Sequence[tuple[int, bytes]]) -> None:
        """Handle committed records, given as (offset, value) in order, each once in the life of this process."""
        ...

    def on_snapshot(self, values: Sequence[bytes], end_offset: int) -> None:
        """Take the state of a snapshot in place of the present one; `on_commit` goes on from `end_offset`."""
        ...

    def snapshot(self) -> Iterator[bytes]:
        """Return the records of the present state; they are read later, in another thread."""
        ...

    def on_elected(self, epoch: int) -> None:
        """Handle that this node leads; every record before its epoch was given to `on_commit`."""
        ...

    def on_resigned(self) -> None:
        """Handle that this node no longer leads, whether `on_elected` was called before or not."""
        ...

    def on_leader(self, leader_id: int, epoch: int) -> None:
        """Handle a change of the leader of the newest epoch, as this node knows it; -1 for none."""
        ...

    def on_voters(self, voter_ids: frozenset[int]) -> None:
        """Handle the set of voters that holds from now on, at the start as well."""
        ...
