"""The decisions of one replica of a partition: role, high watermark, ISR and acknowledgement.

Pure: it is told the end of the log and the time, and returns what to do. The log, sockets and timers are in `replica`
and `manager`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Final
from uuid import UUID

from cluster_impl.replication.control_plane import (
    NO_LEADER,
    IsrOutcome,
    IsrProposal,
    PartitionAssignment,
    TopicPartition,
)
from cluster_impl.replication.follower import FollowerFetch, FollowerProgress, credits, may_join
from cluster_impl.replication.growth import Growth
from cluster_impl.replication.in_sync import InSyncReplicas
from cluster_impl.replication.progress import Progress, Role
from cluster_impl.replication.rules import KIP_101, LagSince, LeaderStartsAt, Rules
from cluster_impl.wire.errors import Error

ANY_EPOCH: Final = -1
"""A CurrentLeaderEpoch that a client leaves out."""


class Transition(Enum):
    """What an assignment changed, for whoever has to act on it."""

    NOTHING = auto()
    LEADS = auto()
    LEADS_ON = auto()
    """The same tenure with another ISR."""
    LEADS_ANEW = auto()
    """Another tenure of the leader that it was: the log went on, and who waits for a commit waits on."""
    FOLLOWS = auto()
    FOLLOWS_ON = auto()
    """The same tenure at a newer leader epoch."""
    WENT_OFFLINE = auto()


STILL_LEADS: Final = (Transition.LEADS_ON, Transition.LEADS_ANEW)


class Partition:
    """One replica. Offsets are record offsets; times are seconds on a monotonic clock."""

    def __init__(
        self,
        broker_id: int,
        name: TopicPartition,
        topic_id: UUID,
        *,
        high_watermark: int,
        lag_limit: float,
        rules: Rules = KIP_101,
        began_empty: bool = False,
    ) -> None:
        self.broker_id = broker_id
        self.name = name
        self.topic_id = topic_id
        self.role = Role.OFFLINE
        self.leader = NO_LEADER
        self.tenure_epoch = -1
        self.tenure_start = 0
        self.led_since = -1
        """The tenure epoch at which this replica became leader and has been since: its log was not cut meanwhile."""
        self.replicas: tuple[int, ...] = ()
        self.isr = InSyncReplicas()
        self.log_end_offset = 0
        self.high_watermark = high_watermark
        self.config: Mapping[str, str] = {}
        self.serves_clients = True
        self.leaving: frozenset[int] = frozenset()
        self.began_empty = began_empty
        """Made anew, and not known yet to have what its leader has committed."""
        self._min_isr = 1
        self._rules = rules
        self._lag_limit = lag_limit
        self._growth = Growth(lag_limit)
        self._followers: dict[int, FollowerProgress] = {}
        self._stopped = False
        self._failed = False

    @property
    def leader_epoch(self) -> int:
        return self.isr.leader_epoch

    @property
    def followers(self) -> Mapping[int, FollowerProgress]:
        return self._followers

    @property
    def min_isr(self) -> int:
        """How many in-sync replicas acks=all needs: the setting, but never more than there are replicas."""
        return min(self._min_isr, len(self.replicas))

    def assign(self, to: PartitionAssignment, *, log_end_offset: int, min_isr: int, now: float) -> Transition:
        """Adopt a committed state, unless it is older than the present one (KAFKA-1188)."""
        if (to.leader_epoch, to.version) < (self.isr.leader_epoch, self.isr.version):
            return Transition.NOTHING
        self.config, self._min_isr, self.log_end_offset = to.config, min_isr, log_end_offset
        is_newer = (to.leader_epoch, to.version) > (self.isr.leader_epoch, self.isr.version)
        if not is_newer and not self._stopped:
            return self._adopt_details(to, now)
        same_tenure = to.tenure_epoch == self.tenure_epoch and to.leader == self.leader and not self._stopped
        self._stopped = False
        self.leader, self.tenure_epoch = to.leader, to.tenure_epoch
        self.replicas, self.serves_clients, self.leaving = to.replicas, to.serves_clients, to.leaving
        if is_newer:
            # What was proposed at this same version, before the replica was stopped, may still be accepted.
            self.isr.adopt(frozenset(to.isr), to.leader_epoch, to.version)
        if to.leader == self.broker_id:
            return self._lead(same_tenure, now)
        self._followers = {}
        if to.leader == NO_LEADER:
            self.role = Role.OFFLINE
            return Transition.WENT_OFFLINE
        follows_on = same_tenure and self.role is Role.FOLLOWER
        self.role = Role.FOLLOWER
        return Transition.FOLLOWS_ON if follows_on else Transition.FOLLOWS

    def _adopt_details(self, to: PartitionAssignment, now: float) -> Transition:
        """Adopt what may change at the same leader epoch and version."""
        known = self.replicas, self.serves_clients, self.leaving
        self.replicas, self.serves_clients, self.leaving = to.replicas, to.serves_clients, to.leaving
        if self.role is not Role.LEADER or known == (to.replicas, to.serves_clients, to.leaving):
            return Transition.NOTHING
        return self._lead(True, now)

    def _lead(self, same_tenure: bool, now: float) -> Transition:
        led, from_log_end = self.role is Role.LEADER, self._rules.leader_starts_at is LeaderStartsAt.LOG_END
        leads_on = same_tenure and led
        known = self._followers if leads_on else {}
        self._followers = {
            replica: known.get(replica) or FollowerProgress(since=now, last_caught_up=now)
            for replica in self.replicas
            if replica != self.broker_id
        }
        self.role, self.began_empty = Role.LEADER, False
        if not leads_on:
            self.tenure_start, self._growth = self.log_end_offset, Growth(self._lag_limit)
            if from_log_end:
                self.high_watermark = self.log_end_offset
        self._advance_high_watermark()
        if leads_on:
            return Transition.LEADS_ON
        if led and not from_log_end:
            return Transition.LEADS_ANEW
        self.led_since = self.tenure_epoch
        return Transition.LEADS

    def stop(self) -> None:
        """Neither lead nor follow until the next assignment, which may be the one that was stopped."""
        self.role, self._followers, self._stopped = Role.OFFLINE, {}, True

    def fail(self) -> None:
        """The log cannot be used any more: whoever asks is told so, for good."""
        self.stop()
        self._failed = True

    def progress(self, now: float) -> Progress:
        return Progress(
            role=self.role,
            leader_epoch=self.isr.leader_epoch,
            version=self.isr.version,
            log_end_offset=self.log_end_offset,
            high_watermark=self.high_watermark,
            isr=tuple(sorted(self.isr.committed)),
            ends={replica: known.log_end_offset for replica, known in self._followers.items()},
            silent_for={replica: known.silent_for(now) for replica, known in self._followers.items()},
            began_empty=self.began_empty,
        )

    def check_leader(self, current_leader_epoch: int) -> Error:
        """Whether a request that names `current_leader_epoch` (or ANY_EPOCH) may be answered by this replica."""
        if self._failed:
            return Error.KAFKA_STORAGE_ERROR
        if current_leader_epoch != ANY_EPOCH:
            if current_leader_epoch < self.leader_epoch:
                return Error.FENCED_LEADER_EPOCH
            if current_leader_epoch > self.leader_epoch:
                return Error.UNKNOWN_LEADER_EPOCH
        return Error.NONE if self.role is Role.LEADER else Error.NOT_LEADER_OR_FOLLOWER

    def check_client(self, current_leader_epoch: int) -> Error:
        """As `check_leader`, for a request of a client."""
        error = self.check_leader(current_leader_epoch)
        return Error.NOT_LEADER_OR_FOLLOWER if not error and not self.serves_clients else error

    def check_follower(self, fetch: FollowerFetch, registered_epoch: int | None) -> Error:
        """Whether a follower's fetch may be served and credited. Nothing is credited here."""
        if error := self.check_leader(fetch.leader_epoch):
            return error
        if fetch.replica_id not in self._followers:
            return Error.UNKNOWN_LEADER_EPOCH
        return credits(fetch, registered_epoch)

    def credit(self, fetch: FollowerFetch, now: float) -> bool:
        """Count a checked fetch as progress; True if the high watermark moved."""
        progress = self._followers[fetch.replica_id]
        progress.fetched(fetch.offset, fetch.broker_epoch, self.log_end_offset, now)
        return self._advance_high_watermark()

    def appended(self, log_end_offset: int, now: float) -> bool:
        """A leader's log has grown; True if its high watermark moved."""
        self.log_end_offset = log_end_offset
        self._growth.grew(log_end_offset, now)
        return self._advance_high_watermark()

    def copied(self, log_end_offset: int) -> None:
        """A follower's log has grown."""
        self.log_end_offset = log_end_offset

    def truncated(self, log_end_offset: int) -> None:
        """The log was cut: nothing above its end can be committed here (KAFKA-9491)."""
        self.log_end_offset = log_end_offset
        self.high_watermark = min(self.high_watermark, log_end_offset)

    def told_high_watermark(self, of_leader: int) -> bool:
        """A follower learns the leader's high watermark; True if its own moved. It never goes back."""
        self.began_empty = self.began_empty and self.log_end_offset < of_leader
        known = min(of_leader, self.log_end_offset)
        moved = known > self.high_watermark
        self.high_watermark = max(known, self.high_watermark)
        return moved

    def _advance_high_watermark(self) -> bool:
        """Raise the high watermark to what all who may be in sync have, if they are enough (KAFKA-15583)."""
        if not self._enough_in_sync:
            return False
        ends = [self._followers[replica].log_end_offset for replica in self.isr.maximal if replica in self._followers]
        committed = min([self.log_end_offset, *ends])
        moved = committed > self.high_watermark
        self.high_watermark = max(committed, self.high_watermark)
        return moved

    @property
    def _enough_in_sync(self) -> bool:
        """Whether the ISR is large enough for acks=all, of those alone whose progress counts."""
        known = {self.broker_id, *self._followers}
        return len(self.isr.committed & known) >= self.min_isr

    def may_append(self, acks: int) -> Error:
        """Whether a leader takes records: with acks=all only while enough replicas are in sync."""
        if acks == -1 and not self._enough_in_sync:
            return Error.NOT_ENOUGH_REPLICAS
        return Error.NONE

    @property
    def keeps_checkpoint(self) -> bool:
        """Whether the high watermark is not to be written down now: that of a leader which only begins, or ends."""
        return self.role is Role.LEADER and not self.serves_clients

    def acknowledges(self, required_offset: int, led_since: int) -> Error | None:
        """The answer to an acks=all produce that ends at `required_offset` and was appended while this replica led
        `led_since` then, or None while it has to wait."""
        if self._failed:
            return Error.KAFKA_STORAGE_ERROR
        if self.role is not Role.LEADER or self.led_since != led_since:
            return Error.NOT_LEADER_OR_FOLLOWER
        if self.high_watermark >= required_offset:
            return Error.NONE
        return None if self._enough_in_sync else Error.NOT_ENOUGH_REPLICAS_AFTER_APPEND

    def next_isr(self, registered_epoch: Callable[[int], int | None], now: float) -> IsrProposal | None:
        """The ISR change to ask for now, if any: without those who lag, with those who have caught up."""
        if self.role is not Role.LEADER or not self.serves_clients:
            return None
        wish = {self.broker_id}
        for replica, progress in self._followers.items():
            if self._lags(replica, progress, now):
                continue
            if replica in self.isr.committed or (
                replica not in self.leaving
                and may_join(progress, registered_epoch(replica), self.high_watermark, self.tenure_start)
            ):
                wish.add(replica)
        return self.isr.propose(self.name, self.topic_id, frozenset(wish), now)

    def _lags(self, replica: int, progress: FollowerProgress, now: float) -> bool:
        if replica in self.leaving and progress.silent_for(now) > self._lag_limit:
            return True
        if self._rules.lag_since is LagSince.LAST_CAUGHT_UP:
            return progress.lags(self.log_end_offset, now, self._lag_limit)
        if progress.log_end_offset == self.log_end_offset:
            return False
        return now - max(progress.since, self._growth.written_at(progress.log_end_offset)) > self._lag_limit

    def isr_answered(self, proposal: IsrProposal, outcome: IsrOutcome, now: float) -> bool:
        """Learn the outcome of a proposal; True if the high watermark moved."""
        self.isr.settle(proposal, outcome, now)
        return self.role is Role.LEADER and self._advance_high_watermark()
