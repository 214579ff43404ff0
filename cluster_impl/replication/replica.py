"""A partition's replica on this broker: its decisions, its log, and the requests that wait for it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypeVar

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import IsrOutcome, IsrProposal, PartitionAssignment
from fencepost.cluster_impl.replication.follower import FollowerFetch
from fencepost.cluster_impl.replication.partition import ANY_EPOCH, Partition, RoleTransition
from fencepost.cluster_impl.replication.purgatory import Acknowledgements, Wakeable
from fencepost.cluster_impl.replication.rules import TruncatesTo
from fencepost.cluster_impl.replication.validation import PartitionError, check_produced
from fencepost.cluster_impl.storage.epochs import UNDEFINED_EPOCH, truncation_point
from fencepost.cluster_impl.storage.log import InvalidBatch, Log, OffsetMismatch, TimestampedOffset
from fencepost.cluster_impl.storage.producers import ProducerStates, SequenceError
from fencepost.cluster_impl.wire.batches import Batch, split
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

    Fetches of followers, which wait for any records, watch `growth`; fetches of clients, which wait for committed ones,
    watch `commits`. `failed` is called with I/O errors; it has to call `fail` on all replicas that share the log dir.
    `caught_up` is called when a replica that began empty is known to have all committed records; it may raise OSError.
    """

    def __init__(
        self,
        core: Partition,
        log_of_partition: Log,
        config: DataPlaneConfig,
        failed: Callable[[OSError], None],
        caught_up: Callable[[], None],
    ) -> None:
        self.core = core
        self.log = log_of_partition
        self.acknowledgements = Acknowledgements()
        self.growth: set[Wakeable] = set()
        self.commits: set[Wakeable] = set()
        self._config = config
        self._failed = failed
        self._caught_up = caught_up
        self._began_empty = core.began_empty
        self._producers = None if log_of_partition.log_end_offset else ProducerStates()
        """The producers of the log's records; None until the log is read for them."""

    def __str__(self) -> str:
        return str(self.core.name)

    @_storage
    def assign(self, to: PartitionAssignment, now: float) -> RoleTransition:
        """Adopt committed state; a new leader reads the producers' states from its log. Raises PartitionError."""
        self.log.segment_bytes = int(to.config.get("segment.bytes", self._config.segment_bytes))
        min_isr = int(to.config.get("min.insync.replicas", self._config.min_isr))
        transition = self.core.assign(to, log_end_offset=self.log.log_end_offset, min_isr=min_isr, now=now)
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
            self._committed()
            self._grown()
        return transition

    def isr_answered(self, proposal: IsrProposal, outcome: IsrOutcome, now: float) -> None:
        self.core.isr_answered(proposal, outcome, now)
        self._committed()

    @_storage
    def append_as_leader(self, records: Buffer | None, acks: int, now: float) -> ProducedRecords:
        """Append a client's records; a repeated batch is found, not appended again. Raises PartitionError."""
        if refusal := self.core.check_client(ANY_EPOCH) or self.core.may_append(acks):
            raise PartitionError(refusal)
        limit = int(self.core.config.get("max.message.bytes", self._config.message_max_bytes))
        batch = check_produced(records, limit)
        try:
            if original := self._known_producers().check(batch):
                return ProducedRecords(original.base_offset, original.last_offset + 1)
            appended = self.log.append_as_leader(batch.view, self.core.leader_epoch)
        except (SequenceError, InvalidBatch) as error:
            raise PartitionError(error.error, str(error)) from error
        batch.base_offset = appended.base_offset
        self._known_producers().update(batch)
        if self.core.appended(self.log.log_end_offset, now):
            self._committed()
        self._grown()
        return ProducedRecords(appended.base_offset, appended.last_offset + 1)

    def credit(self, fetch: FollowerFetch, registered_epoch: int | None, last_epoch: int, now: float) -> None:
        """Count a follower's fetch as progress, unless its log has diverged. Raises PartitionError."""
        if error := self.core.check_follower(fetch, registered_epoch):
            raise PartitionError(error)
        if self._divergence(fetch.offset, last_epoch) is None:
            self._check_range(fetch.offset)
            if self.core.credit(fetch, now):
                self._committed()

    @_storage
    def read(self, offset: int, leader_epoch: int, last_epoch: int, max_bytes: int, *, committed: bool) -> Read:
        """Return the records from `offset` on: the committed ones, or all for a follower. Raises PartitionError.

        `last_epoch` is the leader epoch of the reader's last record, or -1 if the request lacks it.
        """
        if error := self.core.check_client(leader_epoch) if committed else self.core.check_leader(leader_epoch):
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
    def append_as_follower(self, records: Buffer, leader_high_watermark: int) -> None:
        """Append the leader's records, which begin at the log's end. Raises PartitionError for damaged records."""
        if records:
            try:
                self._append_of_leader(records)
            except (InvalidBatch, OffsetMismatch) as error:
                raise PartitionError(Error.CORRUPT_MESSAGE, str(error)) from error
            self.core.copied(self.log.log_end_offset)
            if self._producers is not None:
                for batch in split(records):
                    self._producers.update(batch)
        self.core.note_high_watermark(leader_high_watermark)
        self._note_caught_up()

    def _append_of_leader(self, records: Buffer) -> None:
        """Append batches of the leader; cut the log first if one of them lies across its end.

        That happens only where followers do not compare logs by leader epochs: the logs differ below the end, and this
        one is cut to the begin of the batch.
        """
        try:
            self.log.append_as_follower(records)
        except OffsetMismatch as overlap:
            end = self.log.log_end_offset
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
        self._committed()
        self._grown()

    def storage_failed(self, error: OSError) -> PartitionError:
        """Give the log dir up; return the error to answer with."""
        self._failed(error)
        return PartitionError(Error.KAFKA_STORAGE_ERROR, f"{self} is in a log dir that has failed: {error}")

    def fail(self) -> None:
        """End the replica with its log dir: pending requests get an error, and nothing is acknowledged any more."""
        self.core.fail()
        self.close()

    def close(self) -> None:
        """Stop the replica and close its log."""
        self.stop()
        self.log.close()

    def _known_producers(self) -> ProducerStates:
        """Return the producers' states, a function of the log: read once and after each cut, updated by each append."""
        if self._producers is None:
            self._producers = ProducerStates.rebuilt(self.log.batches(self.log.log_start_offset))
        return self._producers

    def _grown(self) -> None:
        for fetch in self.growth:
            fetch.wake()

    def _committed(self) -> None:
        self.acknowledgements.decide(self.core.acknowledges)
        for fetch in self.commits:
            fetch.wake()
