"""One epoch of one leader: the progress of each fetcher, what is committed by it, and the waiting requests."""

from collections.abc import Callable, Set
from dataclasses import dataclass, field

from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.messages import (
    UNKNOWN_EPOCH,
    EpochEnd,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
)
from fencepost.cluster_impl.designs.quorum.raft.replicated_log import ReplicatedLog
from fencepost.cluster_impl.wire.errors import Error


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

    def __init__(
        self,
        node_id: int,
        epoch: int,
        voters: Set[int],
        log: ReplicatedLog,
        now: float,
        emit: Callable[[fx.Effect], None],
    ) -> None:
        """Begin before the first record of the epoch is appended to `log`."""
        self.node_id = node_id
        self.epoch = epoch
        self.start_offset = log.end_offset
        self.elected = False
        """True once a record of this epoch is committed."""
        self._log = log
        self._emit = emit
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
        fetchers = {**self.observers, **self.followers}
        self.is_voter = self.node_id in voters
        self.majority = len(voters) // 2 + 1
        self.followers = {
            peer: fetchers.get(peer) or Follower(heard_at=now) for peer in sorted(voters) if peer != self.node_id
        }
        self.observers = {peer: progress for peer, progress in fetchers.items() if peer not in voters}

    def replicated(self) -> int:
        """Return the offset below which a majority of the voters holds everything durably."""
        own = [self._log.durable_end] if self.is_voter else []
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

    # Fetches

    def fetch(self, request: FetchRequest, token: object, now: float, longest_wait: float) -> FetchResponse | None:
        """Return the response to a fetch, or None if it waits for records, for `longest_wait` seconds at most."""
        follower = self.followers.get(request.replica_id)
        fetcher = follower or self._observer(request, now)
        if fetcher is not None:
            fetcher.heard_at = now
        shape, fetched_end = self._log.shape, request.log_end
        if follower is None and fetched_end.epoch == UNKNOWN_EPOCH:
            # A plain consumer sends only an offset.
            diverging = None
            if not shape.start.end_offset <= fetched_end.end_offset <= shape.end_offset:
                return FetchResponse(Error.OFFSET_OUT_OF_RANGE, self.epoch, self.node_id)
        elif self._log.needs_snapshot(fetched_end):
            return self._response(snapshot=self._log.snapshots[-1])
        else:
            diverging = shape.divergence(fetched_end)
        if diverging is not None:
            return self._response(diverging)
        if fetcher is not None:
            # Within one epoch a matching log is never truncated, so a late fetch must not lower a voter's offset.
            least = 0 if follower is None else follower.end_offset
            fetcher.fetched(max(least, fetched_end.end_offset), shape.end_offset, now)
        self.parked.append(ParkedFetch(token, request, now + min(request.max_wait, longest_wait)))
        return None

    def fetch_snapshot(self, request: FetchSnapshotRequest, token: object, now: float) -> FetchSnapshotResponse | None:
        """Return the refusal of a part of a snapshot; the part itself is an effect."""
        if request.replica_id in self.followers:
            # Also a sign of life: a follower may fetch a large snapshot for longer than the fetch timeout.
            self.followers[request.replica_id].heard_at = now
        if request.snapshot not in self._log.snapshots:
            return FetchSnapshotResponse(Error.SNAPSHOT_NOT_FOUND, self.epoch, self.node_id, request.snapshot)
        response = FetchSnapshotResponse(Error.NONE, self.epoch, self.node_id, request.snapshot)
        self._emit(fx.ReplyWithSnapshot(token, request, response))
        return None

    def _observer(self, request: FetchRequest, now: float) -> Follower | None:
        """Return the progress of a fetcher without a vote, None if it has no name."""
        if request.broker_id is not None:
            return self.brokers.setdefault(request.broker_id, Follower(now))
        if request.replica_id >= 0:
            return self.observers.setdefault(request.replica_id, Follower(now))
        return None

    def _response(self, diverging: EpochEnd | None = None, snapshot: EpochEnd | None = None) -> FetchResponse:
        return FetchResponse(
            Error.NONE,
            self.epoch,
            self.node_id,
            self._log.high_watermark,
            diverging,
            snapshot=snapshot,
            log_start=self._log.shape.start.end_offset,
        )

    # After every input

    def advance(self, now: float) -> None:
        """Commit what a majority holds, end the rounds that it has confirmed, and answer the fetches that wait."""
        replicated = self.replicated()
        if self._committable(replicated):
            self._log.commit(replicated)
        if not self.elected and self._log.high_watermark > self.start_offset:
            self.elected = True
            self._emit(fx.LeaderElection(self.epoch))
        self._confirm_rounds()
        self.parked = [parked for parked in self.parked if not self._answer_fetch(parked, now)]

    def _committable(self, offset: int) -> bool:
        """Only a record of the leader's own epoch commits the records before it (Raft, 5.4.2)."""
        return offset > self.start_offset

    def _confirm_rounds(self) -> None:
        rounds = self.confirmations
        while True:
            if self.round_confirmed():
                self._emit(fx.LeadershipConfirmation(rounds.finish()))
            if not rounds.start_next():
                return

    def _answer_fetch(self, parked: ParkedFetch, now: float) -> bool:
        """Answer a parked fetch if there is something to send; return whether it is answered.

        Voters get all records, observers only committed ones. A voter also learns of a new high watermark at once.
        """
        start, high_watermark = parked.request.log_end, self._log.high_watermark
        follower = self.followers.get(parked.request.replica_id)
        limit = high_watermark if follower is None else self._log.end_offset
        if limit > start.end_offset:
            self._emit(fx.ReplyWithRecords(parked.token, self._response(), start, limit))
        elif now >= parked.deadline or (follower and follower.high_watermark_sent < high_watermark):
            self._emit(fx.Reply(parked.token, self._response()))
        else:
            return False
        if follower is not None:
            follower.high_watermark_sent = high_watermark
        return True
