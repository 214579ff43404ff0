"""CLUSTER_ACTION: what nodes ask of one another is asked by nodes only, where permissions are written down.

Each request has its own place for the error in its response, hence the table. ReplicaStateEvent names the permission
itself; the others need it in Kafka (LeaderAndIsr and its like) or do what only a broker may (the drafts).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cluster_impl.security.acl import Authorizer, NoAuthorizer, Operation, Resource
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message
from cluster_impl.wire.errors import Error
from cluster_impl.wire.server import Handler, Request

_REFUSED = Error.CLUSTER_AUTHORIZATION_FAILED
_CONSUMER = -1


def _fetch(request: Message) -> Message | None:
    """Only followers and observers of the metadata log need it. Kafka puts their error on each partition."""
    assert isinstance(request, m.FetchRequest)
    state = request.replica_state
    if request.replica_id == _CONSUMER and (state is None or state.replica_id == _CONSUMER):
        return None
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


_REFUSALS: Mapping[type[Message], Callable[[Message], Message | None]] = {
    m.FetchRequest: _fetch,
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
}
"""What a request is answered with when its sender may not ask it; None where it needs no permission."""


def refusal(authorizer: Authorizer, principal: str, request: Message) -> Message | None:
    """The response to a request that its sender may not ask; None if it may."""
    refuse = _REFUSALS.get(type(request))
    if refuse is None or authorizer.authorize(principal, Operation.CLUSTER_ACTION, Resource.CLUSTER):
        return None
    return refuse(request)


def guarded(handlers: Mapping[int, Handler], authorizer: Authorizer) -> Mapping[int, Handler]:
    """The same handlers behind the permission; the same mapping where everybody may do everything."""
    if isinstance(authorizer, NoAuthorizer):
        return handlers
    needing = {request.API_KEY for request in _REFUSALS}
    return {key: _guarded(handler, authorizer) if key in needing else handler for key, handler in handlers.items()}


def _guarded(handler: Handler, authorizer: Authorizer) -> Handler:
    def ask(request: Request) -> object:
        refused = refusal(authorizer, request.principal, request.body)
        return handler(request) if refused is None else refused

    return ask  # type: ignore[return-value]  # what the handler returns, or a message
