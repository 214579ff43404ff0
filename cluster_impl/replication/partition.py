"""The decisions of one replica of a partition: role, high watermark, ISR and acknowledgement.

Pure: it receives the end of the log and the time, and returns decisions. The log, sockets and timers are in `replica`
and `manager`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Final
from uuid import UUID

from fencepost.cluster_impl.replication.control_plane import (
    NO_LEADER,
    IsrOutcome,
    IsrProposal,
    PartitionAssignment,
    TopicPartition,
)
from fencepost.cluster_impl.replication.follower import (
    AppendHistory,
    FollowerFetch,
    FollowerProgress,
    credits,
    may_join,
)
from fencepost.cluster_impl.replication.in_sync import InSyncReplicas
from fencepost.cluster_impl.replication.progress import Progress, ReplicaRole
from fencepost.cluster_impl.replication.rules import KIP_101, LagSince, LeaderStartsAt, Rules
from fencepost.cluster_impl.wire.errors import Error

ANY_EPOCH: Final = -1
"""A CurrentLeaderEpoch that a client leaves out."""


class RoleTransition(Enum):
    """The change of role that an assignment made."""

    NOTHING = auto()
    LEADS = auto()
    LEADS_ON = auto()
    """The same leader term with another ISR."""
    LEADS_ANEW = auto()
    """Another leader term of the same leader: its log continues, and so do requests that wait for a commit."""
    FOLLOWS = auto()
    FOLLOWS_ON = auto()
    """The same leader term at a newer leader epoch."""
    WENT_OFFLINE = auto()


STILL_LEADS: Final = (RoleTransition.LEADS_ON, RoleTransition.LEADS_ANEW)


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
        self.role = ReplicaRole.OFFLINE
        self.leader = NO_LEADER
        self.leader_term_epoch = -1
        self.leader_term_start = 0
        self.led_since = -1
        """The epoch of the leader term since which this replica has led without a break: its log was not cut."""
        self.replicas: tuple[int, ...] = ()
        self.isr = InSyncReplicas()
        self.log_start_offset = 0
        self.log_end_offset = 0
        self.high_watermark = high_watermark
        self.config: Mapping[str, str] = {}
        self.serves_clients = True
        self.leaving: frozenset[int] = frozenset()
        self._leader_high_watermark = 0
        """The high watermark that a follower's leader sent in this term; its own log may end before that."""
        self._leader_serves_clients = False
        """A follower's leader has said so in its latest answer, which was in this term."""
        self.began_empty = began_empty
        """The folder was created empty, and the replica is not known yet to have all that its leader has committed."""
        self._min_isr = 1
        self.rules = rules
        self._lag_limit = lag_limit
        self._growth = AppendHistory(lag_limit)
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
        """The in-sync replicas that acks=all needs: the setting, but never more than there are replicas."""
        return min(self._min_isr, len(self.replicas))

    def assign(self, to: PartitionAssignment, *, log_end_offset: int, min_isr: int, now: float) -> RoleTransition:
        """Adopt a committed state, unless it is older than the present one (KAFKA-1188)."""
        if (to.leader_epoch, to.version) < (self.isr.leader_epoch, self.isr.version):
            return RoleTransition.NOTHING
        self.config, self._min_isr, self.log_end_offset = to.config, min_isr, log_end_offset
        is_newer = (to.leader_epoch, to.version) > (self.isr.leader_epoch, self.isr.version)
        if not is_newer and not self._stopped:
            return self._adopt_details(to, now)
        same_leader_term = (
            to.leader_term_epoch == self.leader_term_epoch and to.leader == self.leader and not self._stopped
        )
        self._stopped = False
        self.leader, self.leader_term_epoch = to.leader, to.leader_term_epoch
        self.replicas, self.serves_clients, self.leaving = to.replicas, to.serves_clients, to.leaving
        if is_newer:
            # A proposal at this same version, from before the replica was stopped, may still be accepted.
            self.isr.adopt(frozenset(to.isr), to.leader_epoch, to.version)
        if to.leader == self.broker_id:
            return self._lead(same_leader_term, now)
        self._followers = {}
        if not same_leader_term:
            self._leader_high_watermark, self._leader_serves_clients = 0, False
        if to.leader == NO_LEADER:
            self.role = ReplicaRole.OFFLINE
            return RoleTransition.WENT_OFFLINE
        follows_on = same_leader_term and self.role is ReplicaRole.FOLLOWER
        self.role = ReplicaRole.FOLLOWER
        return RoleTransition.FOLLOWS_ON if follows_on else RoleTransition.FOLLOWS

    def configure(self, config: Mapping[str, str], min_isr: int) -> None:
        """Adopt other settings at the state that holds."""
        self.config, self._min_isr = config, min_isr

    def _adopt_details(self, to: PartitionAssignment, now: float) -> RoleTransition:
        """Adopt the fields that may change at the same leader epoch and version."""
        current = self.replicas, self.serves_clients, self.leaving
        self.replicas, self.serves_clients, self.leaving = to.replicas, to.serves_clients, to.leaving
        if self.role is not ReplicaRole.LEADER or current == (to.replicas, to.serves_clients, to.leaving):
            return RoleTransition.NOTHING
        return self._lead(True, now)

    def _lead(self, same_leader_term: bool, now: float) -> RoleTransition:
        led, from_log_end = self.role is ReplicaRole.LEADER, self.rules.leader_starts_at is LeaderStartsAt.LOG_END
        leads_on = same_leader_term and led
        progress = self._followers if leads_on else {}
        self._followers = {
            replica: progress.get(replica) or FollowerProgress(since=now, last_caught_up=now)
            for replica in self.replicas
            if replica != self.broker_id
        }
        self.role, self.began_empty = ReplicaRole.LEADER, False
        if not leads_on:
            self.leader_term_start, self._growth = self.log_end_offset, AppendHistory(self._lag_limit)
            if from_log_end:
                self.high_watermark = self.log_end_offset
        self._advance_high_watermark()
        if leads_on:
            return RoleTransition.LEADS_ON
        if led and not from_log_end:
            return RoleTransition.LEADS_ANEW
        self.led_since = self.leader_term_epoch
        return RoleTransition.LEADS

    def stop(self) -> None:
        """Neither lead nor follow until the next assignment, which may be the one that was stopped."""
        self.role, self._followers, self._stopped = ReplicaRole.OFFLINE, {}, True

    def fail(self) -> None:
        """Give the log up: all later requests are answered with KAFKA_STORAGE_ERROR."""
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
            ends={replica: progress.log_end_offset for replica, progress in self._followers.items()},
            silent_for={replica: progress.silent_for(now) for replica, progress in self._followers.items()},
            began_empty=self.began_empty,
        )

    def check_leader(self, current_leader_epoch: int) -> Error:
        """Return NONE if this replica may answer a request with this leader epoch (or ANY_EPOCH), else the error."""
        if error := self._check_epoch(current_leader_epoch):
            return error
        return Error.NONE if self.role is ReplicaRole.LEADER else Error.NOT_LEADER_OR_FOLLOWER

    def _check_epoch(self, current_leader_epoch: int) -> Error:
        if self._failed:
            return Error.KAFKA_STORAGE_ERROR
        if current_leader_epoch != ANY_EPOCH:
            if current_leader_epoch < self.leader_epoch:
                return Error.FENCED_LEADER_EPOCH
            if current_leader_epoch > self.leader_epoch:
                return Error.UNKNOWN_LEADER_EPOCH
        return Error.NONE

    def check_client(self, current_leader_epoch: int) -> Error:
        """Check the same as `check_leader`, and that the leader serves clients."""
        error = self.check_leader(current_leader_epoch)
        return Error.NOT_LEADER_OR_FOLLOWER if not error and not self.serves_clients else error

    def check_reader(self, current_leader_epoch: int) -> Error:
        """Check the same for a client that may read from a follower, too (KIP-392).

        A leader that does not serve clients yet may send a high watermark above what is committed, so its followers do
        not serve them either.
        """
        if self.role is not ReplicaRole.FOLLOWER:
            return self.check_client(current_leader_epoch)
        error = self._check_epoch(current_leader_epoch)
        return Error.NOT_LEADER_OR_FOLLOWER if not error and not self._leader_serves_clients else error

    def check_position(self, offset: int) -> Error:
        """Return NONE if a follower may answer a client at this offset, else the error (KIP-392).

        A client that read from another replica before may know more than this one does: committed records that were not
        copied yet, or whose commit was not. OFFSET_NOT_AVAILABLE lets it ask again, at the leader or here, and keeps it
        from a reset of its position.
        """
        if self.log_start_offset <= offset <= self.high_watermark:
            return Error.NONE
        end = max(self.log_end_offset, self._leader_high_watermark)
        return Error.OFFSET_NOT_AVAILABLE if self.high_watermark < offset <= end else Error.OFFSET_OUT_OF_RANGE

    def check_follower(self, fetch: FollowerFetch, registered_epoch: int | None) -> Error:
        """Return NONE if a follower's fetch may be served and credited, else the error. Credits nothing."""
        if error := self.check_leader(fetch.leader_epoch):
            return error
        if fetch.replica_id not in self._followers:
            return Error.UNKNOWN_LEADER_EPOCH
        return credits(fetch, registered_epoch)

    def credit(self, fetch: FollowerFetch, now: float) -> bool:
        """Count a checked fetch as progress; True if the high watermark moved."""
        progress = self._followers[fetch.replica_id]
        progress.fetched(fetch.offset, fetch.broker_epoch, self.log_end_offset, now)
        progress.log_start_offset = fetch.log_start_offset
        return self._advance_high_watermark()

    def appended(self, log_end_offset: int, now: float) -> bool:
        """Note that the leader's log has grown; return True if the high watermark moved."""
        self.log_end_offset = log_end_offset
        self._growth.grew(log_end_offset, now)
        return self._advance_high_watermark()

    def copied(self, log_end_offset: int) -> None:
        """Note that the follower's log has grown."""
        self.log_end_offset = log_end_offset

    def truncated(self, log_end_offset: int) -> None:
        """Note that the log was cut: nothing above its end is committed in this replica (KAFKA-9491)."""
        self.log_end_offset = log_end_offset
        self.high_watermark = min(self.high_watermark, log_end_offset)

    def start_advanced(self, log_start_offset: int) -> None:
        """Note that the log begins at a later offset. What lies before was committed."""
        self.log_start_offset = log_start_offset
        self.high_watermark = max(self.high_watermark, log_start_offset)

    def began_anew(self, offset: int) -> None:
        """Note that a follower's log is empty and begins at `offset`, where its leader's begins."""
        self.log_end_offset = self.log_start_offset = self.high_watermark = offset

    @property
    def low_watermark(self) -> int:
        """The largest offset before which no replica that may be in the ISR has a record any more."""
        members = [self._followers[replica] for replica in self.isr.maximal if replica in self._followers]
        return min([self.log_start_offset, *(member.log_start_offset for member in members)])

    def note_leader(self, *, serves_clients: bool) -> None:
        """Note what a follower's leader says of itself in its answer to a fetch."""
        self._leader_serves_clients = serves_clients

    def note_high_watermark(self, of_leader: int) -> bool:
        """Adopt the leader's high watermark; return True if the follower's own moved. It never goes back."""
        self._leader_high_watermark = of_leader
        self.began_empty = self.began_empty and self.log_end_offset < of_leader
        high_watermark = min(of_leader, self.log_end_offset)
        moved = high_watermark > self.high_watermark
        self.high_watermark = max(high_watermark, self.high_watermark)
        return moved

    def _advance_high_watermark(self) -> bool:
        """Raise the high watermark to the smallest end of all replicas that may be in the ISR, if that is large enough
        (KAFKA-15583)."""
        if not self._enough_in_sync:
            return False
        ends = [self._followers[replica].log_end_offset for replica in self.isr.maximal if replica in self._followers]
        committed = min([self.log_end_offset, *ends])
        moved = committed > self.high_watermark
        self.high_watermark = max(committed, self.high_watermark)
        return moved

    @property
    def _enough_in_sync(self) -> bool:
        """True if the ISR is large enough for acks=all, counting only members whose progress is known."""
        reporting = {self.broker_id, *self._followers}
        return len(self.isr.committed & reporting) >= self.min_isr

    def may_append(self, acks: int) -> Error:
        """Return NONE if a leader may append records: with acks=all only while enough replicas are in sync."""
        if acks == -1 and not self._enough_in_sync:
            return Error.NOT_ENOUGH_REPLICAS
        return Error.NONE

    @property
    def keeps_checkpoint(self) -> bool:
        """True if the high watermark must not be checkpointed now: this leader does not serve clients."""
        return self.role is ReplicaRole.LEADER and not self.serves_clients

    def acknowledges(self, required_offset: int, led_since: int) -> Error | None:
        """Return the answer to an acks=all produce that ends at `required_offset`, or None while it has to wait.

        `led_since`: the value of that attribute when the records were appended.
        """
        if self._failed:
            return Error.KAFKA_STORAGE_ERROR
        if self.role is not ReplicaRole.LEADER or self.led_since != led_since:
            return Error.NOT_LEADER_OR_FOLLOWER
        if self.high_watermark >= required_offset:
            return Error.NONE
        return None if self._enough_in_sync else Error.NOT_ENOUGH_REPLICAS_AFTER_APPEND

    def next_isr(self, registered_epoch: Callable[[int], int | None], now: float) -> IsrProposal | None:
        """Return the ISR change to request now, if any: without replicas that lag, with those that have caught up."""
        if self.role is not ReplicaRole.LEADER or not self.serves_clients:
            return None
        target = {self.broker_id}
        for replica, progress in self._followers.items():
            if self._lags(replica, progress, now):
                continue
            if replica in self.isr.committed or (
                replica not in self.leaving
                and may_join(
                    progress,
                    registered_epoch(replica),
                    self.high_watermark,
                    self.leader_term_start,
                    self.log_start_offset,
                )
            ):
                target.add(replica)
        return self.isr.propose(self.name, self.topic_id, frozenset(target), now)

    def _lags(self, replica: int, progress: FollowerProgress, now: float) -> bool:
        if replica in self.leaving and progress.silent_for(now) > self._lag_limit:
            return True
        if self.rules.lag_since is LagSince.LAST_CAUGHT_UP:
            return progress.lags(self.log_end_offset, now, self._lag_limit)
        if progress.log_end_offset == self.log_end_offset:
            return False
        return now - max(progress.since, self._growth.written_at(progress.log_end_offset)) > self._lag_limit

    def isr_answered(self, proposal: IsrProposal, outcome: IsrOutcome, now: float) -> bool:
        """Adopt the outcome of a proposal; return True if the high watermark moved."""
        self.isr.settle(proposal, outcome, now)
        return self.role is ReplicaRole.LEADER and self._advance_high_watermark()
