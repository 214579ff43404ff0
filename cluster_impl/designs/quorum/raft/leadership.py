"""The state of a leader during one epoch: the progress of each voter, its last fetch, and the waiting requests."""

from collections.abc import Set
from dataclasses import dataclass, field

from fencepost.cluster_impl.designs.quorum.raft.messages import FetchRequest


@dataclass(slots=True)
class Follower:
    """Another controller as the leader sees it. Below `end_offset`, its log is durable and equals the leader's."""

    heard_at: float
    begun_at: float = float("-inf")
    end_offset: int = 0
    high_watermark_sent: int = -1
    round_accepted: int = -1
    caught_up_at: float | None = None
    """When it had last all that the leader had, None if it never had."""
    fetched_at: float | None = None
    """When it sent its last fetch that matched the leader's log."""
    leader_end: int = 0
    """The end of the leader's log at that time."""

    def fetched(self, end_offset: int, leader_end: int, now: float) -> None:
        """Note a fetch that matches the leader's log, and since when the fetcher has caught up (KIP-836)."""
        self.end_offset = end_offset
        if end_offset >= leader_end:
            self.caught_up_at = now
        elif self.fetched_at is not None and end_offset >= self.leader_end:
            self.caught_up_at = self.fetched_at
        self.fetched_at, self.leader_end = now, leader_end


@dataclass(frozen=True, slots=True)
class ParkedFetch:
    """A fetch that waits until there is something to send."""

    token: object
    request: FetchRequest
    deadline: float


@dataclass(slots=True)
class ConfirmationRounds:
    """Rounds that prove that no other leader was elected before they began.

    One round runs at a time; all tokens that arrive meanwhile share the next.
    """

    number: int = 0
    running: list[object] = field(default_factory=list)
    waiting: list[object] = field(default_factory=list)

    def start_next(self) -> bool:
        """Begin a round for the waiting tokens unless one runs; return whether it began."""
        if self.running or not self.waiting:
            return False
        self.number += 1
        self.running, self.waiting = self.waiting, []
        return True

    def finish(self) -> tuple[object, ...]:
        """End the round, which a majority accepted, and return its tokens."""
        done, self.running = tuple(self.running), []
        return done


class Leadership:
    """One epoch of one leader. Round 0 of the confirmations is the announcement of the epoch itself."""

    def __init__(self, node_id: int, voters: Set[int], start_offset: int, now: float) -> None:
        self.node_id = node_id
        self.start_offset = start_offset
        self.elected = False
        self.followers: dict[int, Follower] = {}
        self.observers: dict[int, Follower] = {}
        """Controllers without a vote, which fetch to become voters later."""
        self.brokers: dict[int, Follower] = {}
        """Brokers by their own ids, which may be those of controllers."""
        self.set_voters(voters, now)
        self.confirmations = ConfirmationRounds()
        self.parked: list[ParkedFetch] = []

    def set_voters(self, voters: Set[int], now: float) -> None:
        """Count by this set from now on. A leader that is not in it leads on until the set is committed."""
        known = {**self.observers, **self.followers}
        self.is_voter = self.node_id in voters
        self.majority = len(voters) // 2 + 1
        self.followers = {
            peer: known.get(peer) or Follower(heard_at=now) for peer in sorted(voters) if peer != self.node_id
        }
        self.observers = {peer: progress for peer, progress in known.items() if peer not in voters}

    def replicated(self, own_durable_end: int) -> int:
        """Return the offset below which a majority of the voters holds everything durably."""
        own = [own_durable_end] if self.is_voter else []
        ends = sorted([*own, *(follower.end_offset for follower in self.followers.values())], reverse=True)
        return ends[self.majority - 1]

    def heard_majority_at(self) -> float:
        """Return the latest time at which a majority had been heard; infinity if this voter is one alone."""
        own = [float("inf")] if self.is_voter else []
        times = sorted([*own, *(follower.heard_at for follower in self.followers.values())], reverse=True)
        return times[self.majority - 1]

    def begin_due_at(self, peer: int, silence: float) -> float:
        """Return when to announce the epoch to a voter: at once if a round needs it, or after `silence` seconds without
        a fetch."""
        follower = self.followers[peer]
        round_needed = self.confirmations.number if self.confirmations.running else 0
        if follower.round_accepted < round_needed:
            return 0.0
        return max(follower.heard_at, follower.begun_at) + silence

    def round_confirmed(self) -> bool:
        """Return True if a majority of the voters has accepted the running round."""
        if not self.confirmations.running:
            return False
        number = self.confirmations.number
        accepted = sum(f.round_accepted >= number for f in self.followers.values())
        return self.is_voter + accepted >= self.majority

    def successors(self) -> tuple[int, ...]:
        """Return the other voters, the one with the longest log first."""
        return tuple(sorted(self.followers, key=lambda peer: -self.followers[peer].end_offset))
