"""One term of an active controller: its state, and the way of its operations through the Raft log to a response.

KIP-631, Persistence and Visibility: the state is ahead of the committed records, and no response shows uncommitted
state. The end of the term drops the state with everything uncommitted; the committed image stays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from fencepost.cluster_impl.designs.quorum.controller.heartbeats import end_lease
from fencepost.cluster_impl.designs.quorum.controller.reassignment import complete_reassignments
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState, Reply
from fencepost.cluster_impl.designs.quorum.image import MetadataImage, MetadataRecord
from fencepost.cluster_impl.designs.quorum.metrics import ControllerMeters
from fencepost.cluster_impl.designs.quorum.raft.core import NotLeader
from fencepost.cluster_impl.designs.quorum.raft.waiting import LostLeadership
from fencepost.cluster_impl.security.entries import AclOperation, PatternType, PermissionType, ResourceType
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.records import encode_record

log = logging.getLogger(__name__)


class Quorum(Protocol):
    """The part of Raft that an active controller uses."""

    @property
    def end_offset(self) -> int: ...

    def append(self, records: Sequence[bytes], epoch: int) -> int:
        """Append one atomic batch; return the offset of its last record. Raises NotLeader."""
        ...

    async def committed(self, offset: int, epoch: int) -> None:
        """Return once `offset` is committed within this leadership. Raises LostLeadership."""
        ...

    async def confirm_leadership(self) -> None:
        """Return once a majority has confirmed this leadership in a round that began after this call.

        Raises LostLeadership.
        """
        ...


class TermEnded(Exception):
    """This controller is no longer active; the requested change may or may not happen."""


class ActiveControllerTerm:
    """One term, at Raft epoch `epoch`."""

    def __init__(self, epoch: int, quorum: Quorum, state: ControllerState, meters: ControllerMeters) -> None:
        self.epoch = epoch
        self.state = state
        self.ended = False
        self._quorum = quorum
        self._meters = meters

    async def run(self, operation: Callable[[ControllerState], ControllerResult[Reply]], now: float) -> Reply:
        """Decide at once, and return the reply when it may be sent. Raises TermEnded."""
        self.end_leases(now)
        outcome = operation(self.state)
        self._append(outcome.records)
        self._append(complete_reassignments(self.state, now))
        await self.until_reply_may_be_sent(outcome)
        return outcome.reply

    def end_leases(self, now: float) -> None:
        """End the leases that are over at `now`. Raises TermEnded."""
        self._follow_log()
        for broker_id in self.state.leases.over(now):
            log.info("the lease of broker %d ended", broker_id)
            self._append(end_lease(self.state, broker_id, now))

    def append_own(self, records: Sequence[MetadataRecord]) -> None:
        """Append records that no request waits for. Raises TermEnded."""
        self._follow_log()
        self._append(records)

    def _follow_log(self) -> None:
        """Count the records that Raft has appended by itself (voters): epochs of brokers are offsets in the log."""
        self.state.end_offset = max(self.state.end_offset, self._quorum.end_offset)

    async def until_reply_may_be_sent(self, outcome: ControllerResult[Reply]) -> None:
        """Wait until the state behind the reply is committed and this controller is known to be active still.

        A reply with records waits for their commit, which shows both. A reply without records waits for the records
        pending at its decision, and for a majority that confirms the epoch in a round begun after the request arrived
        (decision: a deposed controller must not renew). Refusals wait too, because a deposed controller would fence
        brokers by them.

        Raises TermEnded.
        """
        pending = self.state.end_offset - 1
        try:
            if not outcome.records:
                await self._quorum.confirm_leadership()
            await self._quorum.committed(pending, self.epoch)
        except LostLeadership as lost:
            raise TermEnded(str(lost)) from lost
        if self.ended:
            raise TermEnded(f"the leadership of epoch {self.epoch} ended")

    def _append(self, records: Sequence[MetadataRecord]) -> None:
        """Append a batch and replay it; only this changes the metadata of the state."""
        if not records:
            return
        if self.ended:
            raise TermEnded(f"the leadership of epoch {self.epoch} ended")
        base = self.state.end_offset
        try:
            last = self._quorum.append([encode_record(record) for record in records], self.epoch)
        except NotLeader as refused:
            raise TermEnded(str(refused)) from refused
        if last != base + len(records) - 1:
            raise AssertionError(f"the batch ends at offset {last}; its records were made for offset {base} on")
        self._meters.appended(last)
        for offset, record in enumerate(records, start=base):
            self.state.image.replay(record, offset)
        self.state.end_offset = last + 1
        for message in _describe(records, self.state.image):
            log.info("%s", message)


def _describe(records: Sequence[MetadataRecord], image: MetadataImage) -> Iterator[str]:
    """Yield a log message for each change of a broker, a topic, a leader or an ISR.

    `image` already contains the records.
    """
    for record in records:
        match record:
            case m.AccessControlRecord() | m.DeleteAccessControlRecord():
                yield _describe_entry(record)
            case m.FeatureLevelRecord():
                yield f"{record.name} has level {record.level}"
            case m.BrokerRecord():
                yield f"broker {record.broker_id} is registered with epoch {record.broker_epoch}"
            case m.DeleteBrokerRecord():
                yield f"broker {record.id} is no longer registered"
            case m.TopicRecord():
                what = "is being deleted" if record.deleting else f"has the id {record.topic_id}"
                yield f"topic {record.name} {what}"
            case m.DeleteTopicRecord():
                yield f"the topic with the id {record.name} is deleted"
            case m.PartitionRecord() | m.IsrChangeRecord():
                yield _describe_partition(record, image)


def _describe_entry(record: m.AccessControlRecord | m.DeleteAccessControlRecord) -> str:
    what = "new" if isinstance(record, m.AccessControlRecord) else "deleted"
    permission, operation = PermissionType(record.permission_type), AclOperation(record.operation)
    resource = (
        f"{ResourceType(record.resource_type).name} {PatternType(record.pattern_type).name} {record.resource_name}"
    )
    return f"{what} access control entry: {permission.name} {record.principal} {operation.name} on {resource}"


def _describe_partition(record: m.PartitionRecord | m.IsrChangeRecord, image: MetadataImage) -> str:
    name = image.topic_names.get(record.topic_id, str(record.topic_id))
    state = (
        f"{name}-{record.partition_id}: leader {record.leader}, ISR {record.isr}, leader epoch {record.leader_epoch}"
    )
    if isinstance(record, m.PartitionRecord) and (record.adding_replicas or record.removing_replicas):
        state += f", adding {record.adding_replicas}, removing {record.removing_replicas}"
    return state
