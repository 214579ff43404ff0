"""DeleteGroups and OffsetDelete: records without a value in the log of offsets, committed before the answer."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from fencepost.cluster_impl.api.groups.coordinator import Coordinator
from fencepost.cluster_impl.api.groups.group import Group
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request

GroupResult = m.DeleteGroupsResponse.DeletableGroupResult
TopicResult = m.OffsetDeleteResponse.OffsetDeleteResponseTopic
PartitionResult = m.OffsetDeleteResponse.OffsetDeleteResponsePartition

_SUBSCRIPTION = struct.Struct(">hi")
_LENGTH = struct.Struct(">h")


class GroupDeletion:
    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    async def delete_groups(self, body: m.DeleteGroupsRequest, request: Request) -> m.DeleteGroupsResponse:
        """Delete groups without members, with all their offsets."""
        names = dict.fromkeys(body.groups_names)
        results = [GroupResult(group_id=name, error_code=await self._delete(name)) for name in names]
        return m.DeleteGroupsResponse(results=results)

    async def _delete(self, group_id: str) -> Error:
        try:
            group = self._coordinator.group(group_id).group
            offsets = self._coordinator.shard(group_id).offsets.get(group_id, {})
        except PartitionError as refused:
            return refused.error
        if not group.is_idle:
            return Error.NON_EMPTY_GROUP
        return await self._coordinator.remove(group_id, list(offsets)) if offsets else Error.GROUP_ID_NOT_FOUND

    async def delete_offsets(self, body: m.OffsetDeleteRequest, request: Request) -> m.OffsetDeleteResponse:
        """Delete offsets of topics to which no member of the group is subscribed."""
        try:
            group = self._coordinator.group(body.group_id).group
            offsets = self._coordinator.shard(body.group_id).offsets.get(body.group_id, {})
        except PartitionError as refused:
            return m.OffsetDeleteResponse(error_code=refused.error)
        if group.is_idle and not offsets:
            return m.OffsetDeleteResponse(error_code=Error.GROUP_ID_NOT_FOUND)
        read = {topic.name for topic in body.topics if is_subscribed(group, topic.name)}
        asked = [
            TopicPartition(topic.name, partition.partition_index)
            for topic in body.topics
            for partition in topic.partitions
        ]
        doomed = [partition for partition in asked if partition in offsets and partition.topic not in read]
        error = await self._coordinator.remove(body.group_id, doomed)
        if error:
            return m.OffsetDeleteResponse(error_code=error)
        return m.OffsetDeleteResponse(
            topics=[
                TopicResult(
                    name=topic.name,
                    partitions=[
                        PartitionResult(
                            partition_index=partition.partition_index,
                            error_code=Error.GROUP_SUBSCRIBED_TO_TOPIC if topic.name in read else Error.NONE,
                        )
                        for partition in topic.partitions
                    ],
                )
                for topic in body.topics
            ]
        )


def is_subscribed(group: Group, topic: str) -> bool:
    """Return True if a member reads the topic, or if its subscription cannot be read."""
    return any(
        (names := subscribed_topics(metadata)) is None or topic in names
        for member in group.members.values()
        for metadata in member.join.protocols.values()
    )


def subscribed_topics(metadata: bytes) -> Sequence[str] | None:
    """Return the topics in a consumer's metadata (ConsumerProtocolSubscription); None if it is something else."""
    try:
        _, count = _SUBSCRIPTION.unpack_from(metadata)
        names, position = [], _SUBSCRIPTION.size
        for _ in range(count):
            (length,) = _LENGTH.unpack_from(metadata, position)
            position += _LENGTH.size
            if length < 0 or position + length > len(metadata):
                return None
            names.append(str(metadata[position : position + length], "utf-8"))
            position += length
    except (struct.error, UnicodeDecodeError):
        return None
    return names
