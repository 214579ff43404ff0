"""ListOffsets and OffsetForLeaderEpoch: the start and the end of a log, by time and by epoch."""

from __future__ import annotations

from collections import Counter

from fencepost.cluster_impl.api.serving import body_of
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL = -1, -2, -3, -4

_EARLIEST_LOCAL_FROM = 8
_LEADER_EPOCH_FROM = 4
_OFFSET_NOT_AVAILABLE_FROM = 5

PartitionOffset = m.ListOffsetsResponse.ListOffsetsPartitionResponse
EpochEndOffset = m.OffsetForLeaderEpochResponse.EpochEndOffset


def _named_again(partition: m.ListOffsetsRequest.ListOffsetsPartition) -> PartitionOffset:
    index = partition.partition_index
    return PartitionOffset(
        partition_index=index, error_code=Error.INVALID_REQUEST, timestamp=-1, offset=-1, leader_epoch=-1
    )


class Offsets:
    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    def list_offsets(self, body: m.ListOffsetsRequest, request: Request) -> m.ListOffsetsResponse:
        named = Counter((topic.name, each.partition_index) for topic in body.topics for each in topic.partitions)
        return m.ListOffsetsResponse(
            topics=[
                m.ListOffsetsResponse.ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[
                        _named_again(each)
                        if named[topic.name, each.partition_index] > 1
                        else self._offset(topic.name, each, request.version)
                        for each in topic.partitions
                    ],
                )
                for topic in body.topics
            ]
        )

    def _offset(
        self, topic: str, partition: m.ListOffsetsRequest.ListOffsetsPartition, version: int
    ) -> PartitionOffset:
        answer = PartitionOffset(partition_index=partition.partition_index, timestamp=-1, offset=-1, leader_epoch=-1)
        try:
            replica = self._replicas.find(topic, partition.partition_index)
            if error := replica.core.check_client(partition.current_leader_epoch):
                raise PartitionError(error)
            self._look_up(replica, partition, version, answer)
        except PartitionError as refused:
            answer.error_code = refused.error
        return answer

    def _look_up(
        self,
        replica: Replica,
        partition: m.ListOffsetsRequest.ListOffsetsPartition,
        version: int,
        answer: PartitionOffset,
    ) -> None:
        if partition.timestamp != EARLIEST and replica.core.high_watermark < replica.core.leader_term_start:
            # A new leader does not know yet the high watermark that clients saw before, and must not show a lower one.
            has_code = version >= _OFFSET_NOT_AVAILABLE_FROM
            answer.error_code = Error.OFFSET_NOT_AVAILABLE if has_code else Error.LEADER_NOT_AVAILABLE
        elif partition.timestamp == LATEST:
            answer.offset = replica.core.high_watermark
        elif partition.timestamp == EARLIEST or (
            partition.timestamp == EARLIEST_LOCAL and version >= _EARLIEST_LOCAL_FROM
        ):  # all of a log is on the local disk
            answer.offset = replica.log.log_start_offset
        elif partition.timestamp == MAX_TIMESTAMP or partition.timestamp >= 0:
            record = replica.offset_at(None if partition.timestamp == MAX_TIMESTAMP else partition.timestamp)
            if record is not None and record.offset < replica.core.high_watermark:
                answer.offset, answer.timestamp = record.offset, record.timestamp
        else:
            answer.error_code = Error.UNSUPPORTED_VERSION
        if answer.offset >= 0 and version >= _LEADER_EPOCH_FROM:
            answer.leader_epoch = replica.log.epochs.epoch_at(answer.offset)

    def end_of_epochs(self, request: Request) -> m.OffsetForLeaderEpochResponse:
        """Answer clients and followers alike; the caller has checked the sender."""
        body = body_of(request, m.OffsetForLeaderEpochRequest)
        return m.OffsetForLeaderEpochResponse(
            topics=[
                m.OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult(
                    topic=topic.topic,
                    partitions=[
                        self._epoch_end(topic.topic, partition, body.replica_id) for partition in topic.partitions
                    ],
                )
                for topic in body.topics
            ]
        )

    def _epoch_end(
        self, topic: str, partition: m.OffsetForLeaderEpochRequest.OffsetForLeaderPartition, replica_id: int
    ) -> EpochEndOffset:
        answer = EpochEndOffset(partition=partition.partition, leader_epoch=-1, end_offset=-1)
        try:
            replica = self._replicas.find(topic, partition.partition)
            check = replica.core.check_client if replica_id < 0 else replica.core.check_leader
            if error := check(partition.current_leader_epoch):
                raise PartitionError(error)
            end = replica.epoch_end(partition.leader_epoch)
        except PartitionError as refused:
            answer.error_code = refused.error
        else:
            answer.leader_epoch, answer.end_offset = end.epoch, end.end_offset
        return answer
