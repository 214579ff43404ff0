"""ListOffsets and OffsetForLeaderEpoch: where a log begins and ends, in time and in epochs."""

from __future__ import annotations

from cluster_impl.api.serving import body_of
from cluster_impl.replication.manager import ReplicaManager
from cluster_impl.replication.replica import Replica
from cluster_impl.replication.validation import Refused
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error
from cluster_impl.wire.server import Request

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3

_LEADER_EPOCH_FROM = 4
_OFFSET_NOT_AVAILABLE_FROM = 5

PartitionOffset = m.ListOffsetsResponse.ListOffsetsPartitionResponse
EpochEndOffset = m.OffsetForLeaderEpochResponse.EpochEndOffset


class Offsets:
    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    def list_offsets(self, body: m.ListOffsetsRequest, request: Request) -> m.ListOffsetsResponse:
        return m.ListOffsetsResponse(
            topics=[
                m.ListOffsetsResponse.ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[self._offset(topic.name, asked, request.version) for asked in topic.partitions],
                )
                for topic in body.topics
            ]
        )

    def _offset(self, topic: str, asked: m.ListOffsetsRequest.ListOffsetsPartition, version: int) -> PartitionOffset:
        answer = PartitionOffset(partition_index=asked.partition_index, timestamp=-1, offset=-1, leader_epoch=-1)
        try:
            replica = self._replicas.find(topic, asked.partition_index)
            if error := replica.core.check_client(asked.current_leader_epoch):
                raise Refused(error)
            self._look_up(replica, asked, version, answer)
        except Refused as refused:
            answer.error_code = refused.error
        return answer

    def _look_up(
        self,
        replica: Replica,
        asked: m.ListOffsetsRequest.ListOffsetsPartition,
        version: int,
        answer: PartitionOffset,
    ) -> None:
        if asked.timestamp != EARLIEST and replica.core.high_watermark < replica.core.tenure_start:
            # A new leader does not know yet what its predecessor showed to clients, and must not show less.
            known = version >= _OFFSET_NOT_AVAILABLE_FROM
            answer.error_code = Error.OFFSET_NOT_AVAILABLE if known else Error.LEADER_NOT_AVAILABLE
        elif asked.timestamp == LATEST:
            answer.offset = replica.core.high_watermark
        elif asked.timestamp == EARLIEST:
            answer.offset = replica.log.log_start_offset
        elif asked.timestamp == MAX_TIMESTAMP or asked.timestamp >= 0:
            found = replica.offset_at(None if asked.timestamp == MAX_TIMESTAMP else asked.timestamp)
            if found is not None and found.offset < replica.core.high_watermark:
                answer.offset, answer.timestamp = found.offset, found.timestamp
        else:
            answer.error_code = Error.UNSUPPORTED_VERSION
        if answer.offset >= 0 and version >= _LEADER_EPOCH_FROM:
            answer.leader_epoch = replica.log.epochs.epoch_at(answer.offset)

    def end_of_epochs(self, request: Request) -> m.OffsetForLeaderEpochResponse:
        """For clients as for followers: who may ask this broker is decided before."""
        body = body_of(request, m.OffsetForLeaderEpochRequest)
        return m.OffsetForLeaderEpochResponse(
            topics=[
                m.OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult(
                    topic=topic.topic,
                    partitions=[self._epoch_end(topic.topic, asked, body.replica_id) for asked in topic.partitions],
                )
                for topic in body.topics
            ]
        )

    def _epoch_end(
        self, topic: str, asked: m.OffsetForLeaderEpochRequest.OffsetForLeaderPartition, replica_id: int
    ) -> EpochEndOffset:
        answer = EpochEndOffset(partition=asked.partition, leader_epoch=-1, end_offset=-1)
        try:
            replica = self._replicas.find(topic, asked.partition)
            check = replica.core.check_client if replica_id < 0 else replica.core.check_leader
            if error := check(asked.current_leader_epoch):
                raise Refused(error)
            end = replica.epoch_end(asked.leader_epoch)
        except Refused as refused:
            answer.error_code = refused.error
        else:
            answer.leader_epoch, answer.end_offset = end.epoch, end.end_offset
        return answer


def refused_list_offsets(body: m.ListOffsetsRequest, request: Request) -> m.ListOffsetsResponse:
    error = Error.NOT_LEADER_OR_FOLLOWER
    return m.ListOffsetsResponse(
        topics=[
            m.ListOffsetsResponse.ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    PartitionOffset(partition_index=asked.partition_index, error_code=error, timestamp=-1, offset=-1)
                    for asked in topic.partitions
                ],
            )
            for topic in body.topics
        ]
    )


def refused_epochs(body: m.OffsetForLeaderEpochRequest) -> m.OffsetForLeaderEpochResponse:
    error = Error.NOT_LEADER_OR_FOLLOWER
    return m.OffsetForLeaderEpochResponse(
        topics=[
            m.OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[
                    EpochEndOffset(partition=asked.partition, error_code=error, leader_epoch=-1, end_offset=-1)
                    for asked in topic.partitions
                ],
            )
            for topic in body.topics
        ]
    )
