"""A partition's replica on this broker: its decisions, its log, and the requests that wait for it."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from cluster_impl.replication.config import ReplicationConfig
from cluster_impl.replication.control_plane import PartitionAssignment
from cluster_impl.replication.follower import FollowerFetch
from cluster_impl.replication.partition import Partition, Transition
from cluster_impl.replication.purgatory import Acknowledgements, Wakeable
from cluster_impl.replication.validation import Refused, check_produced
from cluster_impl.storage.log import Log
from cluster_impl.storage.producers import ProducerStates
from cluster_impl.wire.codec import Buffer

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Appended:
    """Where produced records are: `next_offset` is what the high watermark has to reach."""

    base_offset: int
    next_offset: int


@dataclass(frozen=True, slots=True)
class Diverging:
    """The reader's log and this one part: the epoch that both may share ends here at `end_offset`."""

    epoch: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class Read:
    """Whole batches, the first of which contains the offset asked for; none beside a divergence."""

    records: Buffer
    high_watermark: int
    log_start_offset: int
    diverging: Diverging | None = None


class Replica:
    """Joins the pure `Partition` to its log. Every method runs on the event loop, none waits."""

    def __init__(self, core: Partition, log_: Log, config: ReplicationConfig) -> None:
        self.core = core
        self.log = log_
        self.acknowledgements = Acknowledgements()
        self.watchers: set[Wakeable] = set()
        self._config = config
        self._producers = ProducerStates()

    @property
    def name(self) -> str:
        return str(self.core.name)

    def assign(self, to: PartitionAssignment, now: float) -> Transition:
        min_isr = int(to.config.get("min.insync.replicas", self._config.min_isr))
        transition = self.core.assign(to, log_end_offset=self.log.log_end_offset, min_isr=min_isr, now=now)
        if transition is Transition.LEADS:
            self.log.epochs.assign(self.core.leader_epoch, self.log.log_end_offset)
            self._producers = ProducerStates.rebuilt(self.log.batches(self.log.log_start_offset))
        if transition is not Transition.NOTHING:
            self._changed()
        return transition

    def append_as_leader(self, records: Buffer, acks: int) -> Appended:
        """Append one produced batch. Raises Refused."""
        if error := self.core.check_leader(-1) or self.core.may_append(acks):
            raise Refused(error)
        batch = check_produced(records, self.message_max_bytes)
        if original := self._producers.check(batch):
            return Appended(original.base_offset, original.next_offset)
        appended = self.log.append_as_leader(records, self.core.leader_epoch)
        self._producers.update(batch)
        if self.core.appended(self.log.log_end_offset):
            self._committed()
        self.wake()
        return Appended(appended.base_offset, appended.last_offset + 1)

    @property
    def message_max_bytes(self) -> int:
        return int(self.core.config.get("max.message.bytes", self._config.message_max_bytes))

    def read_as_follower(
        self, fetch: FollowerFetch, registered_epoch: int | None, last_epoch: int, max_bytes: int, now: float
    ) -> Read:
        """Serve a follower up to the end of the log and count its fetch as progress. Raises Refused."""
        if error := self.core.check_follower(fetch, registered_epoch):
            raise Refused(error)
        read = self._read(fetch.offset, last_epoch, max_bytes, self.log.log_end_offset)
        if read.diverging is None and self.core.credit(fetch, now):
            self._committed()
        return read
