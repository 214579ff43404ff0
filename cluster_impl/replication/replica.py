"""A partition's replica on this broker: its decisions, its log, and the requests that wait for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypeVar

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import IsrOutcome, IsrProposal, PartitionAssignment
from fencepost.cluster_impl.replication.follower import FollowerFetch
from fencepost.cluster_impl.replication.log_settings import LogSettings
from fencepost.cluster_impl.replication.partition import ANY_EPOCH, Partition, RoleTransition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.replication.purgatory import Purgatory
from fencepost.cluster_impl.replication.rules import TruncatesTo
from fencepost.cluster_impl.replication.validation import PartitionError, check_keys, check_produced, stamped
from fencepost.cluster_impl.storage.epochs import UNDEFINED_EPOCH, truncation_point
from fencepost.cluster_impl.storage.log import InvalidBatch, Log, OffsetMismatch, TimestampedOffset
from fencepost.cluster_impl.storage.producers import ProducerStates, SequenceError
from fencepost.cluster_impl.wire.batches import Batch, beginning_at, split
from fencepost.cluster_impl.wire.codec import Buffer
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class ProducedRecords:
    """The place of produced records. With acks=all they are acknowledged once `next_offset` is committed."""

    base_offset: int
    next_offset: int
    append_time: int = -1
    """Milliseconds since 1970, where the topic gives records the time of the append; else -1."""


@dataclass(frozen=True, slots=True)
class LogEpochEnd:
    """The greatest epoch of this log that is not above the requested one, and the offset at which it ends."""

    epoch: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class Read:
    """Whole batches, the first of which contains the requested offset; none if the reader's log has diverged."""

    records: Buffer
    high_watermark: int
    log_start_offset: int
    diverging: LogEpochEnd | None = None


def _storage(method: Callable[Concatenate[Replica, P], R]) -> Callable[Concatenate[Replica, P], R]:
    """Let an I/O error end all replicas in the log dir, and raise PartitionError (KAFKA_STORAGE_ERROR)."""

    def guarded(self: Replica, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except OSError as error:
            raise self.storage_failed(error) from error

    update_wrapper(guarded, method)
    return guarded


class Replica:
    """Joins the pure `Partition` to its log. Every method runs on the event loop, and none waits.

    `failed` is called with I/O errors; it has to call `fail` on all replicas that share the log dir.
    `caught_up` is called when a replica that began empty is known to have all committed records; `note_start` with a
    new start of the log, None if its files say it. Both may raise OSError.
    """

    def __init__(
        self,
        core: Partition,
        log_of_partition: Log,
        config: DataPlaneConfig,
        failed: Callable[[OSError], None],
        caught_up: Callable[[], None],
        note_start: Callable[[int | None], None] = lambda _: None,
    ) -> None:
        self.core = core
        self.log = log_of_partition
        self.purgatory = Purgatory()
        self.settings = LogSettings.of(core.config, config)
        self._config = config
        self._failed = failed
        self._caught_up = caught_up
        self._note_start = note_start
        self.closed = threading.Event()
        """Set for good once the log is closed; work in other threads looks at it."""
        core.log_start_offset = log_of_partition.log_start_offset
        self._began_empty = core.began_empty
        self._producers = None if log_of_partition.log_end_offset else ProducerStates()
        """The producers of the log's records; None until the log is read for them."""
        if log_of_partition.stopped_producers is not None:
            self._producers = ProducerStates.load(log_of_partition.stopped_producers)

    def __str__(self) -> str:
        return str(self.core.name)

    @_storage
    def assign(self, to: PartitionAssignment, now: float) -> RoleTransition:
        """Adopt committed state; a new leader reads the producers' states from its log. Raises PartitionError."""
        settings = LogSettings.of(to.config, self._config)
        transition = self.core.assign(to, log_end_offset=self.log.log_end_offset, min_isr=settings.min_isr, now=now)
        if self.core.config is to.config:
            self._use(settings)
        if transition is RoleTransition.FOLLOWS:
            # A leader term in which no record was written left an epoch that no other log has.
            self.log.epochs.truncate_from_end(self.log.log_end_offset)
            if not self.asks_leader:
                self._cut(max(self.core.high_watermark, self.log.log_start_offset))
        if transition in (RoleTransition.LEADS, RoleTransition.LEADS_ANEW):
            self.log.epochs.assign(self.core.leader_epoch, self.log.log_end_offset)
            self._known_producers()
            self._note_caught_up()
        if transition is not RoleTransition.NOTHING:
            self.purgatory.committed(self.core.acknowledges)
            self.purgatory.grown()
        return transition

    def configure(self, config: Mapping[str, str]) -> None:
        """Adopt other settings, as `PartitionAssignment.config` has them."""
        settings = LogSettings.of(config, self._config)
        self.core.configure(config, settings.min_isr)
        self._use(settings)

    def _use(self, settings: LogSettings) -> None:
        self.settings = settings
        self.log.segment_bytes, self.log.segment_ms = settings.segment_bytes, settings.segment_ms

    def isr_answered(self, proposal: IsrProposal, outcome: IsrOutcome, now: float) -> None:
        self.core.isr_answered(proposal, outcome, now)
        self.purgatory.committed(self.core.acknowledges)

    @_storage
    def append_as_leader(self, records: Buffer | None, acks: int, now: float) -> ProducedRecords:
        """Append a client's records; a repeated batch is found, not appended again. Raises PartitionError."""
        if refusal := self.core.check_client(ANY_EPOCH) or self.core.may_append(acks):
            raise PartitionError(refusal)
        batch = check_produced(records, self.settings.max_message_bytes)
        try:
            if self.settings.compacts:
                check_keys(batch)
            append_time = -1
            if original := self._known_producers().check(batch):
                append_time = original.timestamp if self.settings.log_append_time else -1
                return ProducedRecords(original.base_offset, original.last_offset + 1, append_time)
            if self.settings.log_append_time:
                batch, append_time = stamped(batch)
            appended = self.log.append_as_leader(batch.view, self.core.leader_epoch)
        except (SequenceError, InvalidBatch) as error:
            raise PartitionError(error.error, str(error)) from error
        batch.base_offset = appended.base_offset
        self._known_producers().update(batch)
        if self.core.appended(self.log.log_end_offset, now):
            self.purgatory.committed(self.core.acknowledges)
        self.purgatory.grown()
        return ProducedRecords(appended.base_offset, appended.last_offset + 1, append_time)

    def credit(self, fetch: FollowerFetch, registered_epoch: int | None, last_epoch: int, now: float) -> None:
        """Count a follower's fetch as progress, unless its log has diverged. Raises PartitionError."""
        if error := self.core.check_follower(fetch, registered_epoch):
            raise PartitionError(error)
        if self._divergence(fetch.offset, last_epoch) is None:
            self._check_range(fetch.offset)
            if self.core.credit(fetch, now):
                self.purgatory.committed(self.core.acknowledges)
            self.purgatory.start_advanced()

    @_storage
    def read(
        self,
        offset: int,
        leader_epoch: int,
        last_epoch: int,
        max_bytes: int,
        *,
        committed: bool,
        of_follower: bool = False,
    ) -> Read:
        """Return the records from `offset` on: the committed ones, or all for a follower. Raises PartitionError.

        `last_epoch` is the leader epoch of the reader's last record, or -1 if the request lacks it. A client may read
        them of a follower with `of_follower`: as far as it knows that they are committed.
        """
        if not committed:
            error = self.core.check_leader(leader_epoch)
        elif of_follower:
            error = self.core.check_reader(leader_epoch)
            if not error and self.core.role is ReplicaRole.FOLLOWER:
                # First, for a log that is only shorter than the one that was read before has not diverged from it.
                error = self.core.check_position(offset)
        else:
            error = self.core.check_client(leader_epoch)
        if error:
            raise PartitionError(error)
        records: Buffer = b""
        diverging = self._divergence(offset, last_epoch)
        if diverging is None:
            self._check_range(offset)
            limit = self.core.high_watermark if committed else self.log.log_end_offset
            if offset < limit and max_bytes > 0:
                records = self.log.read(offset, max_bytes, limit)
        return Read(records, self.core.high_watermark, self.log.log_start_offset, diverging)

    def _divergence(self, offset: int, last_epoch: int) -> LogEpochEnd | None:
        if last_epoch == UNDEFINED_EPOCH:
            return None
        end = self.epoch_end(last_epoch)
        if end.epoch == UNDEFINED_EPOCH:
            raise PartitionError(Error.OFFSET_OUT_OF_RANGE, f"{self} has no records of epoch {last_epoch} or below")
        return end if end.epoch < last_epoch or end.end_offset < offset else None

    def _check_range(self, offset: int) -> None:
        start, end = self.log.log_start_offset, self.log.log_end_offset
        if not start <= offset <= end:
            raise PartitionError(
                Error.OFFSET_OUT_OF_RANGE, f"{self} has offsets {start} to {end}, and the request asks for {offset}"
            )

    def epoch_end(self, epoch: int) -> LogEpochEnd:
        """Return the end of an epoch in this log, by which a follower finds the part that both logs share."""
        return LogEpochEnd(*self.log.epochs.end_offset_for(epoch))

    @_storage
    def append_as_follower(self, records: Buffer, leader_high_watermark: int, leader_log_start: int = 0) -> None:
        """Append the leader's records, which begin at the log's end, and begin where its log begins.

        Raises PartitionError for damaged records.
        """
        if records:
            try:
                self._append_of_leader(records)
            except (InvalidBatch, OffsetMismatch) as error:
                raise PartitionError(Error.CORRUPT_MESSAGE, str(error)) from error
            self.core.copied(self.log.log_end_offset)
            if self._producers is not None:
                for batch in split(records):
                    self._producers.update(batch)
        if self.core.note_high_watermark(leader_high_watermark):
            self.purgatory.committed(self.core.acknowledges)
        self._note_caught_up()
        if leader_log_start > self.core.log_start_offset:
            self._advance_start(min(leader_log_start, self.core.high_watermark))

    @_storage
    def begin_anew(self, leader_log_start: int) -> None:
        """Drop a follower's log, which ends before its leader's begins, and go on from there. Raises PartitionError."""
        log.info("%s begins anew at %d, where its leader's log begins", self, leader_log_start)
        self.log.begin_anew(leader_log_start)
        self._note_start(None)
        self._producers = ProducerStates()
        self.core.began_anew(leader_log_start)
        self.purgatory.committed(self.core.acknowledges)

    @_storage
    def delete_records(self, before: int) -> int:
        """Let a leader's log begin at `before`, or at the high watermark for -1; return the offset.

        Raises PartitionError.
        """
        if error := self.core.check_client(ANY_EPOCH):
            raise PartitionError(error)
        offset = self.core.high_watermark if before == -1 else before
        if not 0 <= offset <= self.core.high_watermark:
            raise PartitionError(Error.OFFSET_OUT_OF_RANGE)
        self._advance_start(offset)
        return offset

    @_storage
    def apply_retention(self, now_ms: int) -> bool:
        """Delete what the topic's settings do not keep, if this replica leads; return True if there was something.

        Followers delete what their leader has deleted. Raises PartitionError.
        """
        if self.core.role is not ReplicaRole.LEADER or not self.settings.deletes:
            return False
        start = self.log.expired_before(
            self.core.high_watermark, now_ms, self.settings.retention_ms, self.settings.retention_bytes
        )
        return self._advance_start(start)

    def _advance_start(self, offset: int) -> bool:
        if offset <= self.log.log_start_offset:
            return False
        by_files = self.log.begins_segment(offset)
        if not by_files:
            # Recorded first: once a client has its answer, a crash does not bring anything back.
            self._note_start(offset)
        self.log.advance_start(offset)
        if by_files:
            self._note_start(None)
        self.core.start_advanced(offset)
        log.info("%s begins at %d", self, offset)
        self.purgatory.start_advanced()
        return True

    def _append_of_leader(self, records: Buffer) -> None:
        """Append batches of the leader, the first of which may lie across the end of this log.

        It may have no records: compaction at the leader has joined removed batches; its rest is appended. Otherwise the
        logs differ below the end, which happens only where followers do not compare them by leader epochs: this one is
        cut to the begin of the batch.
        """
        try:
            self.log.append_as_follower(records)
        except OffsetMismatch as overlap:
            end = self.log.log_end_offset
            (first, *_) = split(records)
            if not first.count and first.base_offset < end < first.next_offset:
                self.log.append_as_follower(beginning_at(first, end) + bytes(records[first.size :]))
                return
            if self.asks_leader or overlap.expected != end or not self.log.log_start_offset <= overlap.found < end:
                raise
            self._cut(overlap.found)
            self.log.append_as_follower(records)

    def _note_caught_up(self) -> None:
        if self._began_empty and not self.core.began_empty:
            self._began_empty = False
            self._caught_up()

    @_storage
    def offset_at(self, timestamp: int | None) -> TimestampedOffset | None:
        """Return the first record at least as new as `timestamp`, or the newest record. Raises PartitionError."""
        return self.log.newest_timestamp() if timestamp is None else self.log.offset_for_timestamp(timestamp)

    def batches(self) -> Iterator[Batch]:
        """Yield all batches of the log, from the first. Raises PartitionError."""
        try:
            yield from self.log.batches(self.log.log_start_offset)
        except OSError as error:
            raise self.storage_failed(error) from error

    @property
    def asks_leader(self) -> bool:
        """True if a follower compares its log with its leader's by leader epochs."""
        return self.core.rules.truncates_to is TruncatesTo.LEADER_EPOCH

    def latest_epoch(self) -> int:
        """Return the leader epoch of a follower's last record; UNDEFINED_EPOCH without one, or without comparison."""
        return self.log.epochs.latest if self.asks_leader else UNDEFINED_EPOCH

    @_storage
    def truncate(self, leader: LogEpochEnd) -> bool:
        """Cut the log to the part that it shares with the leader's; return False if the leader must be asked again.

        Raises PartitionError.
        """
        point = truncation_point(leader.epoch, leader.end_offset, self.log.epochs, self.log.log_end_offset)
        offset = max(point.offset, self.log.log_start_offset)
        if offset < self.core.high_watermark:
            log.error(
                "%s is cut to %d below its high watermark %d: its leader %d does not have what was committed",
                self,
                offset,
                self.core.high_watermark,
                self.core.leader,
            )
        self._cut(offset)
        return point.complete

    @_storage
    def cut_to_high_watermark(self, of_leader: int) -> None:
        """Cut the log, which ends beyond the leader's, to the smaller high watermark of both. Raises PartitionError."""
        self._cut(max(min(self.core.high_watermark, of_leader), self.log.log_start_offset))

    def _cut(self, offset: int) -> None:
        if offset < self.log.log_end_offset:
            log.info("%s is cut from %d to %d", self, self.log.log_end_offset, offset)
            self.log.truncate_to(offset)
            self._producers = None
            self.core.truncated(self.log.log_end_offset)

    def stop(self) -> None:
        """Neither lead nor follow until the next assignment; pending requests are answered with an error."""
        self.core.stop()
        self.purgatory.committed(self.core.acknowledges)
        self.purgatory.grown()
        self.purgatory.start_advanced()

    def storage_failed(self, error: OSError) -> PartitionError:
        """Give the log dir up; return the error to answer with."""
        self._failed(error)
        return PartitionError(Error.KAFKA_STORAGE_ERROR, f"{self} is in a log dir that has failed: {error}")

    def fail(self) -> None:
        """End the replica with its log dir: pending requests get an error, and nothing is acknowledged any more."""
        self.core.fail()
        self.close()

    def save(self) -> None:
        """Leave the log so that the next start need not read it. Nothing may be appended afterwards. Raises OSError."""
        self.log.stop(None if self._producers is None else self._producers.dump())

    def close(self) -> None:
        """Stop the replica and close its log."""
        self.closed.set()
        self.stop()
        self.log.close()

    def _known_producers(self) -> ProducerStates:
        """Return the producers' states, a function of the log: read once and after each cut, updated by each append."""
        if self._producers is None:
            self._producers = ProducerStates.rebuilt(self.log.batches(self.log.log_start_offset))
        return self._producers
