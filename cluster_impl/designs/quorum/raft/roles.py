"""Which role a voter has, and every way from one role to another (KIP-595; the pre-vote is KIP-996)."""

from dataclasses import dataclass, replace
from random import Random

from cluster_impl.designs.quorum.raft import effects as fx
from cluster_impl.designs.quorum.raft.leadership import Leadership
from cluster_impl.designs.quorum.raft.log_shape import LogShape
from cluster_impl.designs.quorum.raft.messages import EndQuorumEpochRequest, FetchResponse
from cluster_impl.designs.quorum.raft.outbox import Outbox
from cluster_impl.designs.quorum.raft.state import QuorumState, Role
from cluster_impl.wire.errors import Error


@dataclass(frozen=True, slots=True)
class Settings:
    """Who this voter is, and its timeouts in seconds. `fetch_max_wait` must be well below the other two."""

    node_id: int
    voters: frozenset[int]
    cluster_id: str
    election_timeout: float = 1.0
    fetch_timeout: float = 2.0
    fetch_max_wait: float = 0.5


class RoleMachine:
    """The state of a voter, and what changes its role: votes counted, news of an epoch, and time.

    Decisions are noted as effects, for the caller to collect.
    """

    def __init__(self, settings: Settings, state: QuorumState, log: LogShape, random: Random, now: float) -> None:
        self.settings = settings
        self.state = state
        self.log = log
        self.role = Role.UNATTACHED
        self.high_watermark = 0
        self.durable_end = log.end_offset
        self.leadership: Leadership | None = None
        self._random = random
        self._peers = sorted(settings.voters - {settings.node_id})
        self._majority = len(settings.voters) // 2 + 1
        self._effects: list[fx.Effect] = []
        self._outbox = Outbox()
        self._flushing = False
        self._granted: set[int] = set()
        self._refused: set[int] = set()
        self._heard_leader_at = float("-inf")
        if state.leader_id not in (None, settings.node_id):
            self.role, self._timer = Role.FOLLOWER, now + self._patience()
        else:
            # A short first wait: where a leader lives, the pre-vote tells who it is.
            self.state, self._timer = replace(state, leader_id=None), now + self._back_off(0.5)

    @property
    def node_id(self) -> int:
        return self.settings.node_id

    @property
    def epoch(self) -> int:
        return self.state.epoch

    @property
    def leader_id(self) -> int | None:
        return self.state.leader_id

    def _learn(self, epoch: int, leader_id: int | None, now: float) -> bool:
        """Take in what a peer says of an epoch and its leader; True if that changed the role of this voter."""
        known = leader_id if leader_id in self._peers else None
        if epoch < self.epoch or (epoch == self.epoch and (known is None or self.leader_id is not None)):
            return False
        if known is None:
            self._become_unattached(epoch, now)
        else:
            self._heard_leader_at = float("-inf")
            voted_id = self.state.voted_id if epoch == self.epoch else None
            self._become(Role.FOLLOWER, QuorumState(epoch, voted_id, known), now + self._patience())
        return True

    def _become_unattached(self, epoch: int, now: float, voted_id: int | None = None) -> None:
        if epoch == self.epoch and voted_id is None:
            voted_id = self.state.voted_id
        self._become(Role.UNATTACHED, QuorumState(epoch, voted_id), now + self._election_timeout())

    def _become_prospective(self, now: float) -> None:
        self._become(Role.PROSPECTIVE, replace(self.state, leader_id=None), now + self._election_timeout())
        self._count_votes(now)

    def _become_candidate(self, now: float) -> None:
        self._become(Role.CANDIDATE, QuorumState(self.epoch + 1, self.node_id), now + self._election_timeout())
        self._count_votes(now)

    def _become_leader(self, now: float) -> None:
        granted = tuple(sorted(self._granted))
        self._become(Role.LEADER, replace(self.state, leader_id=self.node_id), float("inf"))
        start = self.log.end_offset
        self.leadership = Leadership(self._peers, start, now)
        self._emit(fx.AppendLeaderChange(start, self.epoch, self.node_id, tuple(sorted(self.settings.voters)), granted))
        self.log.append(self.epoch, start + 1)

    def _end_leadership(self, now: float) -> None:
        assert self.leadership is not None
        successors = self.leadership.successors()
        farewell = EndQuorumEpochRequest(self.settings.cluster_id, self.epoch, self.node_id, successors)
        for peer in self._peers:
            self._emit(fx.Notify(peer, farewell))
        self._become_unattached(self.epoch, now)

    def _become(self, role: Role, state: QuorumState, timer: float) -> None:
        """The one way into every role. What the old role was asked or had asked is over, on disk first."""
        before, ended = self.state, self.leadership
        self.role, self.state, self._timer, self.leadership = role, state, timer, None
        self._granted, self._refused = {self.node_id}, set()
        self._outbox.reset()
        if state != before:
            self._emit(fx.Persist(state))
        if ended is not None:
            for parked in ended.parked:
                response = FetchResponse(Error.NOT_LEADER_OR_FOLLOWER, self.epoch, self.leader_id)
                self._emit(fx.Reply(parked.token, response))
            self._emit(fx.Resigned(before.epoch))
        if (state.epoch, state.leader_id) != (before.epoch, before.leader_id):
            self._emit(fx.LeaderChanged(state.leader_id, state.epoch))

    def _count_votes(self, now: float) -> None:
        if len(self._granted) >= self._majority:
            if self.role is Role.PROSPECTIVE:
                self._become_candidate(now)
            else:
                self._become_leader(now)
        elif self.role is Role.CANDIDATE and self._refused:
            # Whoever refuses may have voted for another, who has as little chance: do not wait for the silent.
            self._timer = min(self._timer, now + self._back_off())

    def _patience(self) -> float:
        """With a leader. Not the same for all, who often hear of the last commit of a leader at the same time."""
        return self.settings.fetch_timeout * (1 + self._random.random() / 5)

    def _election_timeout(self) -> float:
        return self.settings.election_timeout * (1 + self._random.random())

    def _back_off(self, factor: float = 1.0) -> float:
        """Random from little up, so that two candidates that met do not meet again for ever (KAFKA-18345)."""
        return self.settings.election_timeout * factor * (0.1 + 0.9 * self._random.random())

    def _resignation_due_at(self) -> float:
        """When a leader that hears no majority gives up (KAFKA-15489)."""
        assert self.leadership is not None
        return self.leadership.heard_majority_at() + self.settings.fetch_timeout

    def _expire(self, now: float) -> None:
        if self.leadership is None:
            if now >= self._timer:
                self._become_prospective(now)
        elif now >= self._resignation_due_at():
            self._end_leadership(now)

    def _emit(self, effect: fx.Effect) -> None:
        self._effects.append(effect)
