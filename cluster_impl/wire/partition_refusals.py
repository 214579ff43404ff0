"""Responses that refuse each part of CreatePartitions, ElectLeaders and the requests about reassignments."""

from __future__ import annotations

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

PartitionRequest = (
    m.CreatePartitionsRequest
    | m.ElectLeadersRequest
    | m.AlterPartitionReassignmentsRequest
    | m.ListPartitionReassignmentsRequest
)


def refused_partitions(
    request: PartitionRequest, error: Error = Error.NOT_CONTROLLER, message: str | None = None
) -> Message:
    """Return the response of the request's kind with one error for the whole and for every part that has a place."""
    match request:
        case m.CreatePartitionsRequest():
            return _not_created(request, error, message)
        case m.ElectLeadersRequest():
            return _not_elected(request, error, message)
        case m.AlterPartitionReassignmentsRequest():
            return _not_reassigned(request, error, message)
        case m.ListPartitionReassignmentsRequest():
            return m.ListPartitionReassignmentsResponse(error_code=error, error_message=message)


def _not_created(request: m.CreatePartitionsRequest, error: Error, message: str | None) -> Message:
    result = m.CreatePartitionsResponse.CreatePartitionsTopicResult
    return m.CreatePartitionsResponse(
        results=[result(name=topic.name, error_code=error, error_message=message) for topic in request.topics]
    )


def _not_elected(request: m.ElectLeadersRequest, error: Error, message: str | None) -> Message:
    topic, partition = m.ElectLeadersResponse.ReplicaElectionResult, m.ElectLeadersResponse.PartitionResult
    results = [
        topic(
            topic=each.topic,
            partition_result=[
                partition(partition_id=index, error_code=error, error_message=message) for index in each.partitions
            ],
        )
        for each in request.topic_partitions or ()
    ]
    return m.ElectLeadersResponse(error_code=error, replica_election_results=results)


def _not_reassigned(request: m.AlterPartitionReassignmentsRequest, error: Error, message: str | None) -> Message:
    topic = m.AlterPartitionReassignmentsResponse.ReassignableTopicResponse
    partition = m.AlterPartitionReassignmentsResponse.ReassignablePartitionResponse
    responses = [
        topic(
            name=each.name,
            partitions=[
                partition(partition_index=at.partition_index, error_code=error, error_message=message)
                for at in each.partitions
            ],
        )
        for each in request.topics
    ]
    return m.AlterPartitionReassignmentsResponse(error_code=error, error_message=message, responses=responses)
