"""What a leader knows of one follower, and when it believes it."""

from __future__ import annotations

from dataclasses import dataclass

from cluster_impl.replication.control_plane import NO_EPOCH
from cluster_impl.wire.errors import Error

UNKNOWN_OFFSET = -1


@dataclass(frozen=True, slots=True)
class FollowerFetch:
    """The part of a follower's fetch that a leader judges: `offset` says that everything below it is appended."""

    replica_id: int
    broker_epoch: int
    leader_epoch: int
    offset: int


def credits(fetch: FollowerFetch, registered_epoch: int | None) -> Error:
    """Whether a fetch counts as progress of the broker whose id it carries: NONE, or the error to answer with.

    Only the process that is registered may speak for an id. A refused duplicate (which has no epoch) or a late fetch
    of a dead incarnation would otherwise move the high watermark past what the registered one has. An epoch that this
    leader has not heard of yet is newer than its metadata: the follower is told to ask again (KAFKA-15221).
    """
    if fetch.broker_epoch == NO_EPOCH:
        return Error.NOT_LEADER_OR_FOLLOWER
    if registered_epoch is None or fetch.broker_epoch > registered_epoch:
        return Error.UNKNOWN_LEADER_EPOCH
    if fetch.broker_epoch < registered_epoch:
        return Error.NOT_LEADER_OR_FOLLOWER
    return Error.NONE


@dataclass(slots=True)
class FollowerProgress:
    """How far a follower has come in the present tenure. Times are seconds on a monotonic clock.

    `last_caught_up` is the latest time at which the follower had all that the leader had: a fetch that reaches the
    leader's end as of the previous fetch proves it for the time of that previous fetch (KIP-16). `since` is when the
    leader began to count what it lacks: at the begin of the tenure, and again when it came back with less than it had.
    """

    since: float
    last_caught_up: float
    log_end_offset: int = UNKNOWN_OFFSET
    broker_epoch: int = NO_EPOCH
    last_fetch_time: float = float("-inf")
    leader_end_at_last_fetch: int = 0

    def fetched(self, offset: int, broker_epoch: int, leader_end: int, now: float) -> None:
        if offset < self.log_end_offset:
            self.since = now
        if offset >= leader_end:
            self.last_caught_up = max(self.last_caught_up, now)
        elif offset >= self.leader_end_at_last_fetch:
            self.last_caught_up = max(self.last_caught_up, self.last_fetch_time)
        self.log_end_offset, self.broker_epoch = offset, broker_epoch
        self.last_fetch_time, self.leader_end_at_last_fetch = now, leader_end

    def silent_for(self, now: float) -> float:
        """Seconds since its last fetch."""
        return now - max(self.since, self.last_fetch_time)

    def lags(self, leader_end: int, now: float, lag_limit: float) -> bool:
        """Whether the follower has missed the leader's end for longer than `lag_limit` seconds."""
        return self.log_end_offset != leader_end and now - self.last_caught_up > lag_limit


def may_join(progress: FollowerProgress, registered_epoch: int | None, high_watermark: int, tenure_start: int) -> bool:
    """Whether a follower may be proposed as an ISR member.

    It has all that is committed, and all that was there when the leader's tenure began: the high watermark alone may
    lag behind what an earlier leader committed (KAFKA-7128). And it is still the registered process.
    """
    has_all = progress.log_end_offset >= max(high_watermark, tenure_start)
    return has_all and progress.broker_epoch != NO_EPOCH and progress.broker_epoch == registered_epoch
