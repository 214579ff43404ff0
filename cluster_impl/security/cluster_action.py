"""CLUSTER_ACTION: only nodes may send the requests between nodes, if there is a file of permissions.

Each response has its own place for the error, hence the tables. ReplicaStateEvent names the permission itself; the
others need it in Kafka (LeaderAndIsr and similar ones) or are for brokers only (the drafts). On a controller of KIP-631
every request needs it: clients send theirs to brokers, which forward them in their own name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from fencepost.cluster_impl.security.acl import Authorizer, NoAuthorizer, Operation, Resource
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.partition_refusals import PARTITION_REQUESTS, refused_partitions
from fencepost.cluster_impl.wire.server import Handler, Request

_REFUSED = Error.CLUSTER_AUTHORIZATION_FAILED
_CONSUMER = -1

Refusals = Mapping[type[Message], Callable[[Message], Message | None]]
"""The response to a request whose sender lacks the permission, by its type; None where it needs no permission."""


def _followers_fetch(request: Message) -> Message | None:
    assert isinstance(request, m.FetchRequest)
    state = request.replica_state
    if request.replica_id == _CONSUMER and (state is None or state.replica_id == _CONSUMER):
        return None
    return _fetch(request)


def _fetch(request: Message) -> Message:
    """Kafka puts the error on each partition."""
    assert isinstance(request, m.FetchRequest)
    error = Error.TOPIC_AUTHORIZATION_FAILED
    topics = [
        m.FetchResponse.FetchableTopicResponse(
            topic=topic.topic,
            topic_id=topic.topic_id,
            partitions=[
                m.FetchResponse.PartitionData(partition_index=each.partition, error_code=error, high_watermark=-1)
                for each in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return m.FetchResponse(responses=topics)


def _create_topics(request: Message) -> Message:
    assert isinstance(request, m.CreateTopicsRequest)
    result = m.CreateTopicsResponse.CreatableTopicResult
    return m.CreateTopicsResponse(topics=[result(name=topic.name, error_code=_REFUSED) for topic in request.topics])


def _delete_topics(request: Message) -> Message:
    assert isinstance(request, m.DeleteTopicsRequest)
    result = m.DeleteTopicsResponse.DeletableTopicResult
    results = [result(name=topic.name, topic_id=topic.topic_id, error_code=_REFUSED) for topic in request.topics]
    results += [result(name=name, error_code=_REFUSED) for name in request.topic_names]
    return m.DeleteTopicsResponse(responses=results)


def _alter_configs(request: Message) -> Message:
    assert isinstance(request, m.AlterConfigsRequest)
    result = m.AlterConfigsResponse.AlterConfigsResourceResponse
    return m.AlterConfigsResponse(
        responses=[
            result(resource_type=each.resource_type, resource_name=each.resource_name, error_code=_REFUSED)
            for each in request.resources
        ]
    )


def _incremental_alter_configs(request: Message) -> Message:
    assert isinstance(request, m.IncrementalAlterConfigsRequest)
    result = m.IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
    return m.IncrementalAlterConfigsResponse(
        responses=[
            result(resource_type=each.resource_type, resource_name=each.resource_name, error_code=_REFUSED)
            for each in request.resources
        ]
    )


def _partitions(request: Message) -> Message:
    assert isinstance(request, PARTITION_REQUESTS)
    return refused_partitions(request, _REFUSED)


def _create_acls(request: Message) -> Message:
    assert isinstance(request, m.CreateAclsRequest)
    result = m.CreateAclsResponse.AclCreationResult
    return m.CreateAclsResponse(results=[result(error_code=_REFUSED) for _ in request.creations])


def _delete_acls(request: Message) -> Message:
    assert isinstance(request, m.DeleteAclsRequest)
    result = m.DeleteAclsResponse.DeleteAclsFilterResult
    return m.DeleteAclsResponse(filter_results=[result(error_code=_REFUSED) for _ in request.filters])


BETWEEN_NODES: Refusals = {
    m.FetchRequest: _followers_fetch,
    m.LeaderAndIsrRequest: lambda _: m.LeaderAndIsrResponse(error_code=_REFUSED),
    m.StopReplicaRequest: lambda _: m.StopReplicaResponse(error_code=_REFUSED),
    m.UpdateMetadataRequest: lambda _: m.UpdateMetadataResponse(error_code=_REFUSED),
    m.ControlledShutdownRequest: lambda _: m.ControlledShutdownResponse(error_code=_REFUSED),
    m.MetadataHeartbeatRequest: lambda _: m.MetadataHeartbeatResponse(error_code=_REFUSED),
    m.IsrChangeRequest: lambda _: m.IsrChangeResponse(top_level_error_code=_REFUSED),
    m.ReplicaStateEventRequest: lambda _: m.ReplicaStateEventResponse(error_code=_REFUSED),
    m.AlterIsrRequest: lambda _: m.AlterIsrResponse(error_code=_REFUSED),
    m.BrokerHeartbeatRequest: lambda _: m.BrokerHeartbeatResponse(error_code=_REFUSED),
    m.ControllerHeartbeatRequest: lambda _: m.ControllerHeartbeatResponse(error_code=_REFUSED),
    m.VoteRequest: lambda _: m.VoteResponse(error_code=_REFUSED),
    m.BeginQuorumEpochRequest: lambda _: m.BeginQuorumEpochResponse(error_code=_REFUSED),
    m.EndQuorumEpochRequest: lambda _: m.EndQuorumEpochResponse(error_code=_REFUSED),
    m.FetchSnapshotRequest: lambda _: m.FetchSnapshotResponse(error_code=_REFUSED),
}
"""On a listener that clients use as well."""

ON_CONTROLLERS: Refusals = {
    **BETWEEN_NODES,
    m.FetchRequest: _fetch,
    m.CreateTopicsRequest: _create_topics,
    m.DeleteTopicsRequest: _delete_topics,
    m.AlterConfigsRequest: _alter_configs,
    m.IncrementalAlterConfigsRequest: _incremental_alter_configs,
    **dict.fromkeys(PARTITION_REQUESTS, _partitions),
    m.DescribeAclsRequest: lambda _: m.DescribeAclsResponse(error_code=_REFUSED),
    m.CreateAclsRequest: _create_acls,
    m.DeleteAclsRequest: _delete_acls,
    m.UpdateFeaturesRequest: lambda _: m.UpdateFeaturesResponse(error_code=_REFUSED),
    m.DescribeQuorumRequest: lambda _: m.DescribeQuorumResponse(error_code=_REFUSED),
    m.AddRaftVoterRequest: lambda _: m.AddRaftVoterResponse(error_code=_REFUSED),
    m.RemoveRaftVoterRequest: lambda _: m.RemoveRaftVoterResponse(error_code=_REFUSED),
}
"""KIP-631, Networking: controllers require the permission for all operations."""


def refusal(
    authorizer: Authorizer, principal: str, request: Message, refusals: Refusals = BETWEEN_NODES, host: str = ""
) -> Message | None:
    """Return the refusal of a request whose sender lacks the permission; None if it may be processed."""
    refuse = refusals.get(type(request))
    if refuse is None or authorizer.authorize(principal, Operation.CLUSTER_ACTION, Resource.CLUSTER, host):
        return None
    return refuse(request)


def require_cluster_action(handlers: Mapping[int, Handler], authorizer: Authorizer) -> Mapping[int, Handler]:
    """Return the handlers with a check of the permission; the same mapping if there are no permissions."""
    needing = {request.API_KEY for request in BETWEEN_NODES}
    return _guarded(handlers, authorizer, BETWEEN_NODES, needing & handlers.keys())


def require_cluster_action_for_all(handlers: Mapping[int, Handler], authorizer: Authorizer) -> Mapping[int, Handler]:
    """Require the permission for every handler, as on controllers. Raises KeyError for a handler without a refusal."""
    refusable = {request.API_KEY for request in ON_CONTROLLERS}
    if unknown := handlers.keys() - refusable:
        raise KeyError(f"no refusal is known for the API keys {sorted(unknown)}")
    return _guarded(handlers, authorizer, ON_CONTROLLERS, handlers.keys())


def _guarded(
    handlers: Mapping[int, Handler], authorizer: Authorizer, refusals: Refusals, needing: Collection[int]
) -> Mapping[int, Handler]:
    if isinstance(authorizer, NoAuthorizer):
        return handlers
    return {
        key: _asking(handler, authorizer, refusals) if key in needing else handler for key, handler in handlers.items()
    }


def _asking(handler: Handler, authorizer: Authorizer, refusals: Refusals) -> Handler:
    def ask(request: Request) -> object:
        refused = refusal(authorizer, request.principal, request.body, refusals, request.connection.host)
        return handler(request) if refused is None else refused

    return ask  # type: ignore[return-value]  # what the handler returns, or a message
