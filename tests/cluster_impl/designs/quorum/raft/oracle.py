"""The invariants of any history of a quorum, checked as it unfolds: Raft's safety properties and further ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class GuaranteeBroken(AssertionError):
    """A broken guarantee; the message names it and the node that broke it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A batch in a simulated log. `chain` names this batch together with all that come before it.

    `voters` is the set of voters that the batch is the record of.
    """

    base_offset: int
    next_offset: int
    epoch: int
    value: int
    chain: int
    voters: frozenset[int] | None = None


def voters_of(log: Sequence[Entry], first: frozenset[int]) -> frozenset[int]:
    """Return the set of voters at the end of a log that began with the set `first`."""
    return next((entry.voters for entry in reversed(log) if entry.voters is not None), first)


class Oracle:
    """Observes every simulated node. `moment` counts events: an order finer than the simulated time."""

    def __init__(self, voters: frozenset[int]) -> None:
        self.moment = 0
        self.committed: list[Entry] = []
        self.first_voters = voters
        self.changes = 0
        """Sets of voters that were committed."""
        self._candidates: dict[tuple[int, int], frozenset[int]] = {}
        self._votes: dict[tuple[int, int], int] = {}
        self._supporters: dict[tuple[int, int], set[int]] = {}
        self._elected_at: dict[int, int] = {}
        self._leaders: dict[int, int] = {}
        self._chains: dict[tuple[int, int], int] = {}

    @property
    def elections(self) -> int:
        """Return how many epochs had a leader."""
        return len(self._leaders)

    def stands(self, node: int, epoch: int, log: Sequence[Entry]) -> None:
        """Note that a node asks for votes, which count by the set of voters in its own log."""
        voters = voters_of(log, self.first_voters)
        if node not in voters:
            raise GuaranteeBroken(f"only voters stand for election: {node} is not in {sorted(voters)}")
        self._candidates[epoch, node] = voters

    def voted(self, node: int, epoch: int, candidate: int) -> None:
        """Note that a vote left a node. With a majority of its voters, its candidate counts as elected."""
        if self._votes.setdefault((node, epoch), candidate) != candidate:
            raise GuaranteeBroken(f"one vote an epoch: {node} voted twice in epoch {epoch}")
        supporters = self._supporters.setdefault((epoch, candidate), set())
        supporters.add(node)
        voters = self._candidates[epoch, candidate]
        if len(supporters & voters) >= len(voters) // 2 + 1:
            self._elected_at.setdefault(epoch, self.moment)

    def leads(self, node: int, epoch: int, log: Sequence[Entry]) -> None:
        if self._leaders.setdefault(epoch, node) != node:
            raise GuaranteeBroken(f"election safety: {self._leaders[epoch]} and {node} both lead epoch {epoch}")
        last = len(self.committed)
        if last and (len(log) < last or log[last - 1].chain != self.committed[-1].chain):
            raise GuaranteeBroken(f"leader completeness: {node} leads epoch {epoch} without all committed batches")

    def appended(self, node: int, entry: Entry) -> None:
        if self._chains.setdefault((entry.base_offset, entry.epoch), entry.chain) != entry.chain:
            raise GuaranteeBroken(
                f"log matching: {node} has another log up to offset {entry.base_offset}, epoch {entry.epoch}"
            )

    def committed_at(self, node: int, index: int, entry: Entry) -> None:
        """Check a batch that a node considers committed."""
        if index == len(self.committed):
            self.committed.append(entry)
            self.changes += entry.voters is not None
        elif self.committed[index].chain != entry.chain:
            raise GuaranteeBroken(f"state machine safety: {node} commits another batch at {entry.base_offset}")

    def durable(self, entry: Entry, log: Sequence[Entry], holders: Iterable[int]) -> None:
        """Check a leader's commit: a majority of the newest set in its log must hold the batch durably."""
        voters = voters_of(log, self.first_voters)
        copies = len(voters.intersection(holders))
        if copies < len(voters) // 2 + 1:
            raise GuaranteeBroken(
                f"durability: the batch at {entry.base_offset} is committed with {copies} copies among {sorted(voters)}"
            )

    def changes_voters(self, node: int, epoch: int, log: Sequence[Entry], voters: frozenset[int]) -> None:
        """Check the rules under which a leader may append a set of voters (Raft, 4.1)."""
        before = voters_of(log, self.first_voters)
        ends = [entry.next_offset for entry in log if entry.voters is not None]
        committed = self.committed[-1] if self.committed else None
        if len(before ^ voters) > 1:
            raise GuaranteeBroken(f"one at a time: {node} changes {sorted(before)} to {sorted(voters)}")
        if ends and (committed is None or committed.next_offset < ends[-1]):
            raise GuaranteeBroken(f"one change in flight: {node} changes voters while its last change is uncommitted")
        if committed is None or committed.epoch != epoch:
            raise GuaranteeBroken(f"first its own epoch: {node} changes voters before it committed in epoch {epoch}")

    def observed(self, offset: int) -> None:
        """Check that an observer was served only committed records below an offset."""
        end = self.committed[-1].next_offset if self.committed else 0
        if offset > end:
            raise GuaranteeBroken(f"observers see committed records only: served {offset}, committed {end}")

    def confirmed(self, node: int, epoch: int, asked_at: int) -> None:
        for later, elected_at in self._elected_at.items():
            if later > epoch and elected_at < asked_at:
                raise GuaranteeBroken(f"confirmation: {node} confirmed epoch {epoch} after epoch {later} was elected")
