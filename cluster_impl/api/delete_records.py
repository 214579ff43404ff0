"""DeleteRecords: the leader moves the start of a log, and answers when all in-sync replicas have moved theirs.

So no later leader shows the records again: it is one of them, or has joined them since, which takes the same start.
"""

from __future__ import annotations

import asyncio

from fencepost.cluster_impl.api.serving import Answer, fencing_error
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.partition import ANY_EPOCH
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request

PartitionResult = m.DeleteRecordsResponse.DeleteRecordsPartitionResult
TopicResult = m.DeleteRecordsResponse.DeleteRecordsTopicResult

_UNKNOWN = -1


class DeleteRecords:
    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    def handle(self, body: m.DeleteRecordsRequest, request: Request) -> Answer:
        response = m.DeleteRecordsResponse()
        waiting: list[PendingDeletion] = []
        for topic in body.topics:
            result = TopicResult(name=topic.name)
            response.topics.append(result)
            for partition in topic.partitions:
                answer = PartitionResult(partition_index=partition.partition_index, low_watermark=_UNKNOWN)
                result.partitions.append(answer)
                pending = self._delete(topic.name, partition, answer)
                if pending is not None:
                    waiting.append(pending)
        return _when_done(response, waiting, body.timeout_ms / 1000) if waiting else response

    def _delete(
        self, topic: str, partition: m.DeleteRecordsRequest.DeleteRecordsPartition, answer: PartitionResult
    ) -> PendingDeletion | None:
        try:
            replica = self._replicas.find(topic, partition.partition_index)
            if not replica.settings.deletes:
                raise PartitionError(Error.POLICY_VIOLATION)
            offset = replica.delete_records(partition.offset)
        except PartitionError as refused:
            answer.error_code = refused.error
            return None
        pending = PendingDeletion(replica, offset, answer, self._replicas.control)
        return None if pending.decide() else pending


class PendingDeletion:
    """A deletion of one partition; it is in `Purgatory.deletions` while it waits for followers."""

    def __init__(self, replica: Replica, offset: int, answer: PartitionResult, control: ControlPlane) -> None:
        self._replica = replica
        self._offset = offset
        self._answer = answer
        self._control = control
        self.decided: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        replica.purgatory.deletions.add(self)
        self.decided.add_done_callback(lambda _: replica.purgatory.deletions.discard(self))

    def wake(self) -> None:
        asyncio.get_running_loop().call_soon(self.decide)

    def decide(self, *, last: bool = False) -> bool:
        """Fill the answer if there is one now, or in any case at the `last` attempt; return whether there is."""
        if self.decided.done():
            return True
        core = self._replica.core
        error = core.check_client(ANY_EPOCH) or fencing_error(self._control)
        if not error and core.low_watermark >= self._offset:
            self._answer.low_watermark = core.low_watermark
        elif error or last:
            self._answer.error_code = error or Error.REQUEST_TIMED_OUT
        else:
            return False
        self.decided.set_result(None)
        return True


async def _when_done(
    response: m.DeleteRecordsResponse, waiting: list[PendingDeletion], timeout: float
) -> m.DeleteRecordsResponse:
    try:
        await asyncio.wait([deletion.decided for deletion in waiting], timeout=timeout)
        for deletion in waiting:
            deletion.decide(last=True)
    finally:
        for deletion in waiting:
            deletion.decided.cancel()
    return response
