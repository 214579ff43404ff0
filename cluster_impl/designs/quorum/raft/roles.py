"""The roles of a voter, and every transition between them (KIP-595; the pre-vote is KIP-996)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random

from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.leadership import Leadership
from fencepost.cluster_impl.designs.quorum.raft.log_shape import LogShape
from fencepost.cluster_impl.designs.quorum.raft.messages import EndQuorumEpochRequest, EpochEnd, FetchResponse, Request
from fencepost.cluster_impl.designs.quorum.raft.replicated_log import ReplicatedLog
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState, VoterRole
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterHistory, VoterSet
from fencepost.cluster_impl.wire.errors import Error

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.5


class Outbox:
    """One request at a time to each peer, and a growing pause while a peer does not answer. Times in seconds."""

    def __init__(self) -> None:
        self._correlation = 0
        self._in_flight: dict[int, tuple[int, Request]] = {}
        self._retry_at: dict[int, float] = {}
        self._failures: dict[int, int] = {}

    def idle(self, peer: int) -> bool:
        return peer not in self._in_flight

    def retry_at(self, peer: int) -> float:
        """Return the time from which an idle peer may get a request."""
        return self._retry_at.get(peer, 0.0)

    def sent(self, peer: int, request: Request) -> int:
        """Note a request in flight; return the correlation that its response must carry."""
        self._correlation += 1
        self._in_flight[peer] = (self._correlation, request)
        return self._correlation

    def complete(self, peer: int, correlation: int) -> Request | None:
        """Return the request that was answered; None for a response that no longer counts."""
        if peer not in self._in_flight or self._in_flight[peer][0] != correlation:
            return None
        return self._in_flight.pop(peer)[1]

    def succeeded(self, peer: int) -> None:
        self._failures.pop(peer, None)
        self._retry_at.pop(peer, None)

    def pause(self, peer: int, now: float) -> None:
        """Note a failed request. An immediate retry would fail again."""
        failures = self._failures[peer] = self._failures.get(peer, 0) + 1
        self._retry_at[peer] = now + min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - 1, 10))

    def reset(self) -> None:
        """Forget all requests in flight, because the role or the epoch has changed."""
        self._in_flight.clear()
        self._retry_at.clear()


@dataclass(slots=True)
class SnapshotDownload:
    """A snapshot of the leader that a follower fetches; `position` bytes of it have arrived."""

    snapshot: EpochEnd
    position: int = 0
    complete: bool = False


@dataclass(frozen=True, slots=True)
class VoterSettings:
    """The identity of this voter, and its timeouts in seconds. `fetch_max_wait` must be well below the other two.

    `voters` is the set of a log that names none. A controller without a vote asks `contacts` for the leader.
    """

    node_id: int
    voters: frozenset[int]
    cluster_id: str
    election_timeout: float = 1.0
    fetch_timeout: float = 2.0
    fetch_max_wait: float = 0.5
    contacts: frozenset[int] = frozenset()


class RoleMachine:
    """The state of a voter, and the events that change its role: counted votes, news of an epoch, and time.

    Decisions are noted as effects, for the caller to collect.
    """

    def __init__(
        self,
        settings: VoterSettings,
        state: QuorumState,
        log: LogShape,
        random: Random,
        now: float,
        snapshots: tuple[EpochEnd, ...] = (),
        voters: VoterHistory | None = None,
    ) -> None:
        """`snapshots` are the good ones of this voter, ascending; what the newest holds is committed.

        `voters` are the sets in the newest snapshot and in the log behind it; without them `settings` has the set.
        """
        self.settings = settings
        self.state = state
        self.log = ReplicatedLog(log, snapshots, self._emit)
        self.role = VoterRole.UNATTACHED
        self.leadership: Leadership | None = None
        self._random = random
        self.voters = voters or VoterHistory(VoterSet(tuple((voter, "", 0) for voter in sorted(settings.voters))))
        self._count_by(self.voters.latest)
        self._effects: list[fx.Effect] = []
        self._outbox = Outbox()
        self._granted: set[int] = set()
        self._refused: set[int] = set()
        self._heard_leader_at = float("-inf")
        self._download: SnapshotDownload | None = None
        if state.leader_id not in (None, settings.node_id):
            self.role, self._timer = VoterRole.FOLLOWER, now + self._leader_timeout()
        else:
            # The first wait is short: if there is a leader, the pre-vote responses name it.
            self.state, self._timer = replace(state, leader_id=None), now + self._back_off(0.5)

    @property
    def node_id(self) -> int:
        return self.settings.node_id

    @property
    def is_voter(self) -> bool:
        """Return whether the latest set of voters has this node. Without a vote it only fetches."""
        return self._is_voter

    def _count_by(self, voters: VoterSet) -> None:
        self._is_voter = self.node_id in voters.ids
        self._peers = sorted(voters.ids - {self.node_id})
        self._majority = len(voters.ids) // 2 + 1

    def _voters_changed(self, now: float) -> None:
        """Count by the latest set of the log, whether it is committed or not."""
        self._count_by(self.voters.latest)
        if self.leadership is not None:
            self.leadership.set_voters(self.voters.latest.ids, now)
        self._emit(fx.VotersChange(self.voters.latest))

    def _targets(self) -> Iterable[int]:
        """Return the nodes that requests may go to in this role."""
        if self.role is VoterRole.FOLLOWER:
            return () if self.leader_id is None else (self.leader_id,)
        if self.role is VoterRole.UNATTACHED and not self._is_voter:
            return sorted(self.settings.contacts.union(self._peers) - {self.node_id})
        return self._peers

    @property
    def epoch(self) -> int:
        return self.state.epoch

    @property
    def leader_id(self) -> int | None:
        return self.state.leader_id

    def _learn(self, epoch: int, leader_id: int | None, now: float) -> bool:
        """Take in an epoch and its leader from a peer's message; return True if that changed this voter's role."""
        # The leader need not be in this node's own set of voters, which may be an old one.
        known = None if leader_id == self.node_id else leader_id
        if epoch < self.epoch or (epoch == self.epoch and (known is None or self.leader_id is not None)):
            return False
        if known is None:
            self._become_unattached(epoch, now)
        else:
            self._heard_leader_at = float("-inf")
            voted_id = self.state.voted_id if epoch == self.epoch else None
            self._become(VoterRole.FOLLOWER, QuorumState(epoch, voted_id, known), now + self._leader_timeout())
        return True

    def _become_unattached(self, epoch: int, now: float, voted_id: int | None = None) -> None:
        if epoch == self.epoch and voted_id is None:
            voted_id = self.state.voted_id
        self._become(VoterRole.UNATTACHED, QuorumState(epoch, voted_id), now + self._election_timeout())

    def _become_prospective(self, now: float) -> None:
        self._become(VoterRole.PROSPECTIVE, replace(self.state, leader_id=None), now + self._election_timeout())
        self._count_votes(now)

    def _become_candidate(self, now: float) -> None:
        self._become(VoterRole.CANDIDATE, QuorumState(self.epoch + 1, self.node_id), now + self._election_timeout())
        self._count_votes(now)

    def _become_leader(self, now: float) -> None:
        granted = tuple(sorted(self._granted))
        self._become(VoterRole.LEADER, replace(self.state, leader_id=self.node_id), float("inf"))
        voters = self.voters.latest.ids
        self.leadership = Leadership(self.node_id, self.epoch, voters, self.log, now, self._emit)
        self.log.append_leader_change(self.epoch, self.node_id, tuple(sorted(voters)), granted)

    def _end_leadership(self, now: float) -> None:
        assert self.leadership is not None
        successors = self.leadership.successors()
        end_epoch = EndQuorumEpochRequest(self.settings.cluster_id, self.epoch, self.node_id, successors)
        for peer in self._peers:
            self._emit(fx.Notify(peer, end_epoch))
        self._become_unattached(self.epoch, now)

    def _become(self, role: VoterRole, state: QuorumState, timer: float) -> None:
        """Enter a role; every transition goes through here.

        The new state is on disk before anything else follows. Requests received or sent in the old role are ended.
        """
        before, ended = self.state, self.leadership
        self.role, self.state, self._timer, self.leadership = role, state, timer, None
        self._granted, self._refused = {self.node_id}, set()
        self._outbox.reset()
        self._download = None
        if state != before:
            self._emit(fx.Persist(state))
        if ended is not None:
            for parked in ended.parked:
                response = FetchResponse(Error.NOT_LEADER_OR_FOLLOWER, self.epoch, self.leader_id)
                self._emit(fx.Reply(parked.token, response))
            self._emit(fx.LeaderResignation(before.epoch))
        if (state.epoch, state.leader_id) != (before.epoch, before.leader_id):
            self._emit(fx.LeaderChange(state.leader_id, state.epoch))

    def _count_votes(self, now: float) -> None:
        if len(self._granted) >= self._majority:
            if self.role is VoterRole.PROSPECTIVE:
                self._become_candidate(now)
            else:
                self._become_leader(now)
        elif self.role is VoterRole.CANDIDATE and self._refused:
            # A voter that refuses may have voted for another candidate, which cannot win either: do not wait for the
            # silent voters.
            self._timer = min(self._timer, now + self._back_off())

    def _leader_timeout(self) -> float:
        """Return the wait for a leader, with jitter: followers often hear of a leader's last commit at the same
        time."""
        return self.settings.fetch_timeout * (1 + self._random.random() / 5)

    def _election_timeout(self) -> float:
        return self.settings.election_timeout * (1 + self._random.random())

    def _back_off(self, factor: float = 1.0) -> float:
        """Return a random delay from small values up, so that two candidates do not collide for ever (KAFKA-18345)."""
        return self.settings.election_timeout * factor * (0.1 + 0.9 * self._random.random())

    def _resignation_due_at(self) -> float:
        """Return when a leader that does not hear from a majority resigns (KAFKA-15489)."""
        assert self.leadership is not None
        return self.leadership.heard_majority_at() + self.settings.fetch_timeout

    def _expire(self, now: float) -> None:
        if self.leadership is None:
            if now < self._timer:
                return
            if self._is_voter:
                self._become_prospective(now)
            elif self.role is VoterRole.FOLLOWER:
                self._become_unattached(self.epoch, now)
            else:
                self._timer = now + self._election_timeout()
        elif now >= self._resignation_due_at():
            self._end_leadership(now)

    def _emit(self, effect: fx.Effect) -> None:
        self._effects.append(effect)
