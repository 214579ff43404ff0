"""FindCoordinator, OffsetCommit, OffsetFetch."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from fencepost.cluster_impl.api.groups.coordinator import OFFSETS_TOPIC, Coordinator, partition_of
from fencepost.cluster_impl.api.groups.offset_records import CommittedOffset
from fencepost.cluster_impl.api.metadata import reachable
from fencepost.cluster_impl.api.topics import WantedTopics
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import ControlPlane, TopicPartition
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request

_GROUP_KEY, _TRANSACTION_KEY = 0, 1
_SEVERAL_KEYS_FROM = 4
_SEVERAL_GROUPS_FROM = 8
_METADATA_LIMIT = 4096

Found = m.FindCoordinatorResponse.Coordinator
GroupAnswer = m.OffsetFetchResponse.OffsetFetchResponseGroup
PartitionOffset = m.OffsetFetchResponse.OffsetFetchResponsePartitions
TopicOffsets = m.OffsetFetchResponse.OffsetFetchResponseTopics
RequestedTopics = (
    Sequence[m.OffsetFetchRequest.OffsetFetchRequestTopic] | Sequence[m.OffsetFetchRequest.OffsetFetchRequestTopics]
)


class CoordinatorFinder:
    """Finds the broker that leads a group's offsets partition; the first request has the topic created."""

    def __init__(self, control: ControlPlane, topics: WantedTopics, config: DataPlaneConfig) -> None:
        self._control = control
        self._topics = topics
        self._config = config

    async def handle(self, body: m.FindCoordinatorRequest, request: Request) -> m.FindCoordinatorResponse:
        await self._control.look([OFFSETS_TOPIC])
        several = request.version >= _SEVERAL_KEYS_FROM
        keys = body.coordinator_keys if several else [body.key]
        coordinators = [self._find(key, body.key_type, request.listener) for key in keys]
        return _finder_response(coordinators, several)

    def _find(self, key: str, key_type: int, listener: str) -> Found:
        if key_type == _TRANSACTION_KEY:
            # Clients ask again after nearly every error. This one is final for all of them.
            return _not_found(key, Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "there are no transactions here")
        if key_type != _GROUP_KEY:
            return _not_found(key, Error.INVALID_REQUEST, "only groups have coordinators here")
        cluster = self._control.cluster()
        topic = cluster.topics.get(OFFSETS_TOPIC)
        if topic is None:
            self._topics.want(
                OFFSETS_TOPIC,
                self._config.offsets_topic_partitions,
                self._config.offsets_topic_replication_factor,
                {"cleanup.policy": "compact", "segment.bytes": str(self._config.offsets_topic_segment_bytes)},
            )
            return _not_found(key)
        leader = topic.partitions[partition_of(key, len(topic.partitions))].leader
        for broker_id, endpoint, _ in reachable(cluster, listener):
            if broker_id == leader:
                return Found(key=key, node_id=leader, host=endpoint.host, port=endpoint.port)
        return _not_found(key)


def _not_found(key: str, error: Error = Error.COORDINATOR_NOT_AVAILABLE, why: str | None = None) -> Found:
    return Found(key=key, node_id=-1, host="", port=-1, error_code=error, error_message=why)


def _finder_response(coordinators: list[Found], several: bool) -> m.FindCoordinatorResponse:
    if several:
        return m.FindCoordinatorResponse(coordinators=coordinators)
    one = coordinators[0]
    return m.FindCoordinatorResponse(
        error_code=one.error_code,
        error_message=one.error_message,
        node_id=one.node_id,
        host=one.host,
        port=one.port,
    )


def refused_finder(body: m.FindCoordinatorRequest, request: Request) -> m.FindCoordinatorResponse:
    several = request.version >= _SEVERAL_KEYS_FROM
    return _finder_response([_not_found(key) for key in (body.coordinator_keys if several else [body.key])], several)


class GroupOffsets:
    def __init__(self, control: ControlPlane, coordinator: Coordinator) -> None:
        self._control = control
        self._coordinator = coordinator

    async def commit(self, body: m.OffsetCommitRequest, request: Request) -> m.OffsetCommitResponse:
        """Commit offsets. Those with too much metadata, or of partitions that do not exist, are refused one by one; the
        others succeed or fail together.
        """
        await self._control.look([topic.name for topic in body.topics])
        topics = self._control.cluster().topics
        now = time.time_ns() // 1_000_000
        commits = {
            TopicPartition(topic.name, one.partition_index): CommittedOffset(
                one.committed_offset, one.committed_leader_epoch, one.committed_metadata or "", now
            )
            for topic in body.topics
            for one in topic.partitions
        }
        refused = {
            partition: Error.UNKNOWN_TOPIC_OR_PARTITION
            for partition in commits
            if partition.topic not in topics or partition.partition not in topics[partition.topic].partitions
        }
        for partition, committed in commits.items():
            if len(committed.metadata.encode()) > _METADATA_LIMIT:
                refused.setdefault(partition, Error.OFFSET_METADATA_TOO_LARGE)
        accepted = {partition: committed for partition, committed in commits.items() if partition not in refused}
        try:
            group = self._coordinator.group(body.group_id).group
            error = group.may_commit(
                body.member_id, body.group_instance_id, body.generation_id_or_member_epoch, time.monotonic()
            )
        except PartitionError as not_here:
            error = not_here.error
        if not error and accepted:
            error = await self._coordinator.commit(body.group_id, accepted)
        return _commit_response(body, error, refused)

    def fetch(self, body: m.OffsetFetchRequest, request: Request) -> m.OffsetFetchResponse:
        """Fetch the offsets of one group before version 8, of several from then on; a null list means all topics."""
        if request.version >= _SEVERAL_GROUPS_FROM:
            return m.OffsetFetchResponse(groups=[self._fetch(one.group_id, one.topics) for one in body.groups])
        return _single(self._fetch(body.group_id, body.topics))

    def _fetch(self, group_id: str, requested: RequestedTopics | None) -> GroupAnswer:
        """Return the offsets of the given partitions, -1 where none was committed; or all committed offsets."""
        try:
            offsets = self._coordinator.shard(group_id).offsets.get(group_id, {})
        except PartitionError as refused:
            return _refused_group(group_id, requested or (), refused.error)
        partitions = list(offsets) if requested is None else _partitions(requested)
        topics: dict[str, TopicOffsets] = {}
        for partition in partitions:
            topic = topics.setdefault(partition.topic, TopicOffsets(name=partition.topic))
            topic.partitions.append(_answer(partition.partition, offsets.get(partition)))
        return GroupAnswer(group_id=group_id, topics=list(topics.values()))


def _partitions(requested: RequestedTopics) -> list[TopicPartition]:
    return [TopicPartition(topic.name, index) for topic in requested for index in topic.partition_indexes]


def _answer(index: int, committed: CommittedOffset | None) -> PartitionOffset:
    if committed is None:
        return PartitionOffset(partition_index=index, committed_offset=-1, committed_leader_epoch=-1, metadata="")
    return PartitionOffset(
        partition_index=index,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
    )


def _refused_group(group_id: str, requested: RequestedTopics, error: Error) -> GroupAnswer:
    """Put the error at each partition, the only place for it in version 1."""
    return GroupAnswer(
        group_id=group_id,
        error_code=error,
        topics=[
            TopicOffsets(
                name=topic.name,
                partitions=[
                    PartitionOffset(
                        partition_index=index,
                        committed_offset=-1,
                        committed_leader_epoch=-1,
                        metadata="",
                        error_code=error,
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in requested
        ],
    )


def _single(group: GroupAnswer) -> m.OffsetFetchResponse:
    """Return the answer for one group in the form of versions before 8."""
    partition_class = m.OffsetFetchResponse.OffsetFetchResponsePartition
    return m.OffsetFetchResponse(
        error_code=group.error_code,
        topics=[
            m.OffsetFetchResponse.OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    partition_class(
                        partition_index=one.partition_index,
                        committed_offset=one.committed_offset,
                        committed_leader_epoch=one.committed_leader_epoch,
                        metadata=one.metadata,
                        error_code=one.error_code,
                    )
                    for one in topic.partitions
                ],
            )
            for topic in group.topics
        ],
    )


def _commit_response(
    body: m.OffsetCommitRequest, error: Error, refused: Mapping[TopicPartition, Error]
) -> m.OffsetCommitResponse:
    partition_class = m.OffsetCommitResponse.OffsetCommitResponsePartition
    return m.OffsetCommitResponse(
        topics=[
            m.OffsetCommitResponse.OffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    partition_class(
                        partition_index=one.partition_index,
                        error_code=error or refused.get(TopicPartition(topic.name, one.partition_index), error),
                    )
                    for one in topic.partitions
                ],
            )
            for topic in body.topics
        ]
    )


def refused_offset_fetch(
    body: m.OffsetFetchRequest, request: Request, error: Error = Error.COORDINATOR_NOT_AVAILABLE
) -> m.OffsetFetchResponse:
    if request.version >= _SEVERAL_GROUPS_FROM:
        return m.OffsetFetchResponse(groups=[_refused_group(group.group_id, (), error) for group in body.groups])
    return _single(_refused_group(body.group_id, body.topics or (), error))
