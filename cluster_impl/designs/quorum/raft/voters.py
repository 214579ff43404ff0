"""The sets of voters along a log: a set holds from the append of its record on, committed or not (KIP-853).

Raft (dissertation, 4.1): a majority of the old and one of the new set share a voter if the two sets differ by one node
at most, so only one such change may be uncommitted at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Address = tuple[str, int]
NO_OFFSET = -1


@dataclass(frozen=True, slots=True)
class VoterSet:
    """Voters with host and port, ascending by id."""

    entries: tuple[tuple[int, str, int], ...] = ()

    @classmethod
    def of(cls, addresses: Mapping[int, Address]) -> VoterSet:
        return cls(tuple((node_id, *addresses[node_id]) for node_id in sorted(addresses)))

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(node_id for node_id, _, _ in self.entries)

    @property
    def addresses(self) -> dict[int, Address]:
        return {node_id: (host, port) for node_id, host, port in self.entries}


class VoterHistory:
    """The set with which a log begins, and those in its records. A log without a record has the configured set."""

    def __init__(self, first: VoterSet, changes: Iterable[tuple[int, VoterSet]] = ()) -> None:
        """`changes` are offsets of records with their sets, ascending."""
        self.first = first
        self._changes = list(changes)

    @property
    def latest(self) -> VoterSet:
        """Return the set that holds now."""
        return self._changes[-1][1] if self._changes else self.first

    @property
    def last_offset(self) -> int:
        """Return the offset of the record of the latest set, -1 if the log began with it."""
        return self._changes[-1][0] if self._changes else NO_OFFSET

    def at(self, end_offset: int) -> VoterSet:
        """Return the set of the log as it was when it ended at `end_offset`."""
        before = [voters for offset, voters in self._changes if offset < end_offset]
        return before[-1] if before else self.first

    def append(self, offset: int, voters: VoterSet) -> None:
        """Note the record of a set at the end of the log."""
        self._changes.append((offset, voters))

    def truncate(self, end_offset: int) -> bool:
        """Note that all records from `end_offset` on were removed; return whether an earlier set holds again."""
        before = len(self._changes)
        self._changes = [(offset, voters) for offset, voters in self._changes if offset < end_offset]
        return len(self._changes) < before
