"""The response that refuses each request: one error for the whole, and for every part that has a place for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error

PARTITION_REQUESTS = (
    m.CreatePartitionsRequest,
    m.ElectLeadersRequest,
    m.AlterPartitionReassignmentsRequest,
    m.ListPartitionReassignmentsRequest,
)
"""The requests that an administrator sends about partitions; each is decided where the metadata is."""

Refuse = Callable[[Any, Error, str | None], Message]


def refusal(request: Message, error: Error, message: str | None = None) -> Message:
    """Return the response to a request with this error. Raises KeyError for one whose response has no place for it.

    The message is dropped where the response has no place for one. A response whose form depends on the version, as
    that to JoinGroup, is made where the request is handled.
    """
    return _REFUSALS[type(request)](request, error, message)


def _with_code(response: Callable[..., Message]) -> Refuse:
    return lambda _, error, __: response(error_code=error)


def _with_message(response: Callable[..., Message]) -> Refuse:
    return lambda _, error, message: response(error_code=error, error_message=message)


# Records and offsets


def _fetch(request: m.FetchRequest, error: Error, _: str | None) -> Message:
    topic, partition = m.FetchResponse.FetchableTopicResponse, m.FetchResponse.PartitionData
    return m.FetchResponse(
        responses=[
            topic(
                topic=requested.topic,
                topic_id=requested.topic_id,
                partitions=[
                    partition(partition_index=at.partition, error_code=error, high_watermark=-1, records=b"")
                    for at in requested.partitions
                ],
            )
            for requested in request.topics
        ]
    )


def _produce(request: m.ProduceRequest, error: Error, _: str | None) -> Message:
    topic, partition = m.ProduceResponse.TopicProduceResponse, m.ProduceResponse.PartitionProduceResponse
    return m.ProduceResponse(
        responses=[
            topic(
                name=requested.name,
                partition_responses=[
                    partition(index=data.index, error_code=error, base_offset=-1) for data in requested.partition_data
                ],
            )
            for requested in request.topic_data
        ]
    )


def _list_offsets(request: m.ListOffsetsRequest, error: Error, _: str | None) -> Message:
    topic, partition = (
        m.ListOffsetsResponse.ListOffsetsTopicResponse,
        m.ListOffsetsResponse.ListOffsetsPartitionResponse,
    )
    return m.ListOffsetsResponse(
        topics=[
            topic(
                name=requested.name,
                partitions=[
                    partition(partition_index=at.partition_index, error_code=error, timestamp=-1, offset=-1)
                    for at in requested.partitions
                ],
            )
            for requested in request.topics
        ]
    )


def _ends_of_epochs(request: m.OffsetForLeaderEpochRequest, error: Error, _: str | None) -> Message:
    topic = m.OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult
    partition = m.OffsetForLeaderEpochResponse.EpochEndOffset
    return m.OffsetForLeaderEpochResponse(
        topics=[
            topic(
                topic=requested.topic,
                partitions=[
                    partition(partition=at.partition, error_code=error, leader_epoch=-1, end_offset=-1)
                    for at in requested.partitions
                ],
            )
            for requested in request.topics
        ]
    )


def _delete_records(request: m.DeleteRecordsRequest, error: Error, _: str | None) -> Message:
    topic = m.DeleteRecordsResponse.DeleteRecordsTopicResult
    partition = m.DeleteRecordsResponse.DeleteRecordsPartitionResult
    return m.DeleteRecordsResponse(
        topics=[
            topic(
                name=requested.name,
                partitions=[
                    partition(partition_index=at.partition_index, low_watermark=-1, error_code=error)
                    for at in requested.partitions
                ],
            )
            for requested in request.topics
        ]
    )


# Groups


def _offset_commit(request: m.OffsetCommitRequest, error: Error, _: str | None) -> Message:
    topic = m.OffsetCommitResponse.OffsetCommitResponseTopic
    partition = m.OffsetCommitResponse.OffsetCommitResponsePartition
    return m.OffsetCommitResponse(
        topics=[
            topic(
                name=requested.name,
                partitions=[
                    partition(partition_index=at.partition_index, error_code=error) for at in requested.partitions
                ],
            )
            for requested in request.topics
        ]
    )


def _describe_groups(request: m.DescribeGroupsRequest, error: Error, _: str | None) -> Message:
    group = m.DescribeGroupsResponse.DescribedGroup
    return m.DescribeGroupsResponse(groups=[group(group_id=group_id, error_code=error) for group_id in request.groups])


def _delete_groups(request: m.DeleteGroupsRequest, error: Error, _: str | None) -> Message:
    group = m.DeleteGroupsResponse.DeletableGroupResult
    return m.DeleteGroupsResponse(
        results=[group(group_id=group_id, error_code=error) for group_id in request.groups_names]
    )


# Topics, settings and entries


def _create_topics(request: m.CreateTopicsRequest, error: Error, message: str | None) -> Message:
    topic = m.CreateTopicsResponse.CreatableTopicResult
    return m.CreateTopicsResponse(
        topics=[topic(name=requested.name, error_code=error, error_message=message) for requested in request.topics]
    )


def _delete_topics(request: m.DeleteTopicsRequest, error: Error, message: str | None) -> Message:
    """Topics have names up to version 5, and names or ids from version 6 on."""
    topic = m.DeleteTopicsResponse.DeletableTopicResult
    by_name = [topic(name=name, error_code=error, error_message=message) for name in request.topic_names]
    by_state = [
        topic(name=requested.name, topic_id=requested.topic_id, error_code=error, error_message=message)
        for requested in request.topics
    ]
    return m.DeleteTopicsResponse(responses=by_state + by_name)


def _describe_configs(request: m.DescribeConfigsRequest, error: Error, _: str | None) -> Message:
    result = m.DescribeConfigsResponse.DescribeConfigsResult
    return m.DescribeConfigsResponse(
        results=[
            result(error_code=error, resource_type=resource.resource_type, resource_name=resource.resource_name)
            for resource in request.resources
        ]
    )


def _alter_configs(response: Any) -> Refuse:
    """For both kinds of responses, which have the same fields."""

    def refuse(
        request: m.AlterConfigsRequest | m.IncrementalAlterConfigsRequest, error: Error, message: str | None
    ) -> Message:
        result = response.AlterConfigsResourceResponse
        refused: Message = response(
            responses=[
                result(
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                    error_code=error,
                    error_message=message,
                )
                for resource in request.resources
            ]
        )
        return refused

    return refuse


def _describe_log_dirs(_: m.DescribeLogDirsRequest, error: Error, __: str | None) -> Message:
    """The error is at the top, and before version 3 in the only other place."""
    result = m.DescribeLogDirsResponse.DescribeLogDirsResult(error_code=error, log_dir="")
    return m.DescribeLogDirsResponse(error_code=error, results=[result])


def _create_acls(request: m.CreateAclsRequest, error: Error, message: str | None) -> Message:
    result = m.CreateAclsResponse.AclCreationResult
    return m.CreateAclsResponse(results=[result(error_code=error, error_message=message) for _ in request.creations])


def _delete_acls(request: m.DeleteAclsRequest, error: Error, message: str | None) -> Message:
    result = m.DeleteAclsResponse.DeleteAclsFilterResult
    return m.DeleteAclsResponse(
        filter_results=[result(error_code=error, error_message=message) for _ in request.filters]
    )


# Partitions


def _create_partitions(request: m.CreatePartitionsRequest, error: Error, message: str | None) -> Message:
    topic = m.CreatePartitionsResponse.CreatePartitionsTopicResult
    return m.CreatePartitionsResponse(
        results=[topic(name=requested.name, error_code=error, error_message=message) for requested in request.topics]
    )


def _elect_leaders(request: m.ElectLeadersRequest, error: Error, message: str | None) -> Message:
    topic, partition = m.ElectLeadersResponse.ReplicaElectionResult, m.ElectLeadersResponse.PartitionResult
    results = [
        topic(
            topic=requested.topic,
            partition_result=[
                partition(partition_id=index, error_code=error, error_message=message) for index in requested.partitions
            ],
        )
        for requested in request.topic_partitions or ()
    ]
    return m.ElectLeadersResponse(error_code=error, replica_election_results=results)


def _alter_reassignments(request: m.AlterPartitionReassignmentsRequest, error: Error, message: str | None) -> Message:
    topic = m.AlterPartitionReassignmentsResponse.ReassignableTopicResponse
    partition = m.AlterPartitionReassignmentsResponse.ReassignablePartitionResponse
    responses = [
        topic(
            name=requested.name,
            partitions=[
                partition(partition_index=at.partition_index, error_code=error, error_message=message)
                for at in requested.partitions
            ],
        )
        for requested in request.topics
    ]
    return m.AlterPartitionReassignmentsResponse(error_code=error, error_message=message, responses=responses)


_REFUSALS: Mapping[type[Message], Refuse] = {
    m.FetchRequest: _fetch,
    m.ProduceRequest: _produce,
    m.ListOffsetsRequest: _list_offsets,
    m.OffsetForLeaderEpochRequest: _ends_of_epochs,
    m.DeleteRecordsRequest: _delete_records,
    m.InitProducerIdRequest: lambda _, error, __: m.InitProducerIdResponse(
        error_code=error, producer_id=-1, producer_epoch=-1
    ),
    m.SyncGroupRequest: _with_code(m.SyncGroupResponse),
    m.HeartbeatRequest: _with_code(m.HeartbeatResponse),
    m.LeaveGroupRequest: _with_code(m.LeaveGroupResponse),
    m.ListGroupsRequest: _with_code(m.ListGroupsResponse),
    m.DescribeGroupsRequest: _describe_groups,
    m.DeleteGroupsRequest: _delete_groups,
    m.OffsetCommitRequest: _offset_commit,
    m.OffsetDeleteRequest: _with_code(m.OffsetDeleteResponse),
    m.CreateTopicsRequest: _create_topics,
    m.DeleteTopicsRequest: _delete_topics,
    m.DescribeConfigsRequest: _describe_configs,
    m.AlterConfigsRequest: _alter_configs(m.AlterConfigsResponse),
    m.IncrementalAlterConfigsRequest: _alter_configs(m.IncrementalAlterConfigsResponse),
    m.DescribeLogDirsRequest: _describe_log_dirs,
    m.UpdateFeaturesRequest: _with_message(m.UpdateFeaturesResponse),
    m.DescribeAclsRequest: _with_message(m.DescribeAclsResponse),
    m.CreateAclsRequest: _create_acls,
    m.DeleteAclsRequest: _delete_acls,
    m.CreatePartitionsRequest: _create_partitions,
    m.ElectLeadersRequest: _elect_leaders,
    m.AlterPartitionReassignmentsRequest: _alter_reassignments,
    m.ListPartitionReassignmentsRequest: _with_message(m.ListPartitionReassignmentsResponse),
    # Between nodes
    m.LeaderAndIsrRequest: _with_code(m.LeaderAndIsrResponse),
    m.StopReplicaRequest: _with_code(m.StopReplicaResponse),
    m.UpdateMetadataRequest: _with_code(m.UpdateMetadataResponse),
    m.ControlledShutdownRequest: _with_code(m.ControlledShutdownResponse),
    m.MetadataHeartbeatRequest: lambda _, error, message: m.MetadataHeartbeatResponse(
        error_code=error, error_string=message
    ),
    m.IsrChangeRequest: lambda _, error, message: m.IsrChangeResponse(
        top_level_error_code=error, top_level_error_message=message
    ),
    m.ReplicaStateEventRequest: _with_code(m.ReplicaStateEventResponse),
    m.AlterIsrRequest: _with_code(m.AlterIsrResponse),
    m.BrokerHeartbeatRequest: _with_code(m.BrokerHeartbeatResponse),
    m.ControllerHeartbeatRequest: _with_code(m.ControllerHeartbeatResponse),
    m.VoteRequest: _with_code(m.VoteResponse),
    m.BeginQuorumEpochRequest: _with_code(m.BeginQuorumEpochResponse),
    m.EndQuorumEpochRequest: _with_code(m.EndQuorumEpochResponse),
    m.FetchSnapshotRequest: _with_code(m.FetchSnapshotResponse),
    m.DescribeQuorumRequest: _with_code(m.DescribeQuorumResponse),
    m.AddRaftVoterRequest: _with_code(m.AddRaftVoterResponse),
    m.RemoveRaftVoterRequest: _with_code(m.RemoveRaftVoterResponse),
}

REFUSABLE = frozenset(request.API_KEY for request in _REFUSALS)
"""The API keys of the requests that can be refused."""
