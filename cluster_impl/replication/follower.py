"""A leader's knowledge of its followers: when a fetch counts, how far each has come, and since when it lags."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from fencepost.cluster_impl.replication.control_plane import NO_EPOCH
from fencepost.cluster_impl.wire.errors import Error

UNKNOWN_OFFSET = -1
GRAIN = 0.02
"""Resolution of an `AppendHistory`, as a share of the lag limit, by which a follower's lag may be underestimated."""


@dataclass(frozen=True, slots=True)
class FollowerFetch:
    """The part of a follower's fetch that a leader judges: `offset` says that everything below it is appended."""

    replica_id: int
    broker_epoch: int
    leader_epoch: int
    offset: int
    log_start_offset: int = 0
    """The first offset of the follower's log."""


def credits(fetch: FollowerFetch, registered_epoch: int | None) -> Error:
    """Return NONE if a fetch counts as progress of the broker whose id it carries, else the error to answer with.

    Only the fetches of the registered process count. A refused duplicate (which has no epoch) or a late fetch of a dead
    incarnation would otherwise move the high watermark past the log of the registered one. An epoch that this leader
    does not know yet is newer than its metadata: the follower has to ask again (KAFKA-15221).
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
    """The progress of a follower in the present leader term. Times are seconds on a monotonic clock.

    `last_caught_up` is the latest time at which the follower had all records of the leader: a fetch that reaches the
    leader's end as of the previous fetch proves it for the time of that previous fetch (KIP-16). `since` is the time
    from which missing records count: the begin of the leader term, or a later fetch below the previous one.
    """

    since: float
    last_caught_up: float
    log_end_offset: int = UNKNOWN_OFFSET
    log_start_offset: int = 0
    broker_epoch: int = NO_EPOCH
    sent_high_watermark: int = -1
    """The high watermark in the latest answer to its fetches; -1 before the first."""
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
        """Return the seconds since its last fetch."""
        return now - max(self.since, self.last_fetch_time)

    def lags(self, leader_end: int, now: float, lag_limit: float) -> bool:
        """Return True if the follower has missed the leader's end for longer than `lag_limit` seconds."""
        return self.log_end_offset != leader_end and now - self.last_caught_up > lag_limit


def may_join(
    progress: FollowerProgress,
    registered_epoch: int | None,
    high_watermark: int,
    leader_term_start: int,
    log_start_offset: int = 0,
) -> bool:
    """Return True if a follower may be proposed as an ISR member.

    It has all committed records, and all that the log had when the leader's term began: the high watermark alone may
    lag behind what an earlier leader committed (KAFKA-7128). And it is still the registered process. Its log begins
    where the leader's does, or later: as a leader it would show deleted records again.
    """
    has_all = progress.log_end_offset >= max(high_watermark, leader_term_start)
    has_all = has_all and progress.log_start_offset >= log_start_offset
    return has_all and progress.broker_epoch != NO_EPOCH and progress.broker_epoch == registered_epoch


@dataclass(slots=True)
class AppendInterval:
    """The records between the end of the interval before and `end`, written from `began` to `ended`."""

    end: int
    began: float
    ended: float


class AppendHistory:
    """The times at which a leader's log grew, from which a follower's lag is counted (`LagSince.FIRST_MISSING`).

    The appends of the last `limit` seconds; appends close to each other count as one. Times are seconds.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._intervals: list[AppendInterval] = []
        self._long_ago = 0
        """Records below this offset were written more than `limit` seconds ago."""

    def grew(self, end: int, now: float) -> None:
        last = self._intervals[-1] if self._intervals else None
        if last is not None and now - last.began <= self._limit * GRAIN:
            last.end, last.ended = end, now
            return
        old = 0
        while old < len(self._intervals) and now - self._intervals[old].ended > self._limit:
            self._long_ago = self._intervals[old].end
            old += 1
        del self._intervals[:old]
        self._intervals.append(AppendInterval(end, now, now))

    def written_at(self, offset: int) -> float:
        """Return the latest time at which the record at `offset` can have been written; -inf if that is long ago."""
        if offset < self._long_ago:
            return float("-inf")
        index = bisect_right(self._intervals, offset, key=lambda interval: interval.end)
        return self._intervals[index].ended if index < len(self._intervals) else float("-inf")
