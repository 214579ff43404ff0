"""CLUSTER_ACTION: only nodes may send the requests between nodes, if there is a file of permissions.

ReplicaStateEvent names the permission itself; the others need it in Kafka (LeaderAndIsr and similar ones) or are for
brokers only (the drafts). On a controller of KIP-631 every request needs it: clients send theirs to brokers, which
forward them in their own name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Mapping

from fencepost.cluster_impl.security.acl import Authorizer, NoAuthorizer, Operation, Resource
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import REFUSABLE, refusal
from fencepost.cluster_impl.wire.server import Handler, Request

_ERROR = Error.CLUSTER_AUTHORIZATION_FAILED
_ERROR_OF_FETCH = Error.TOPIC_AUTHORIZATION_FAILED
"""Kafka puts it on each partition."""
_CONSUMER = -1


def _is_of_client(request: Message) -> bool:
    """Return whether the request is a fetch of a client, which needs no permission among nodes."""
    if not isinstance(request, m.FetchRequest):
        return False
    state = request.replica_state
    return request.replica_id == _CONSUMER and (state is None or state.replica_id == _CONSUMER)


BETWEEN_NODES: Collection[type[Message]] = (
    m.FetchRequest,
    m.LeaderAndIsrRequest,
    m.StopReplicaRequest,
    m.UpdateMetadataRequest,
    m.ControlledShutdownRequest,
    m.MetadataHeartbeatRequest,
    m.IsrChangeRequest,
    m.ReplicaStateEventRequest,
    m.AlterIsrRequest,
    m.BrokerHeartbeatRequest,
    m.ControllerHeartbeatRequest,
    m.VoteRequest,
    m.BeginQuorumEpochRequest,
    m.EndQuorumEpochRequest,
    m.FetchSnapshotRequest,
)
"""On a listener that clients use as well."""


def denial(
    authorizer: Authorizer, principal: str, request: Message, host: str = "", *, on_controller: bool = False
) -> Message | None:
    """Return the refusal of a request whose sender lacks the permission; None if it may be processed.

    KIP-631, Networking: controllers require the permission for all operations.
    """
    if not on_controller and (type(request) not in BETWEEN_NODES or _is_of_client(request)):
        return None
    if authorizer.authorize(principal, Operation.CLUSTER_ACTION, Resource.CLUSTER, host):
        return None
    return refusal(request, _ERROR_OF_FETCH if isinstance(request, m.FetchRequest) else _ERROR)


def require_cluster_action(handlers: Mapping[int, Handler], authorizer: Authorizer) -> Mapping[int, Handler]:
    """Return the handlers with a check of the permission; the same mapping if there are no permissions."""
    needing = {request.API_KEY for request in BETWEEN_NODES}
    return _guarded(handlers, authorizer, needing & handlers.keys(), on_controller=False)


def require_cluster_action_for_all(handlers: Mapping[int, Handler], authorizer: Authorizer) -> Mapping[int, Handler]:
    """Require the permission for every handler, as on controllers. Raises KeyError for a handler without a refusal."""
    if unknown := handlers.keys() - REFUSABLE:
        raise KeyError(f"no refusal is known for the API keys {sorted(unknown)}")
    return _guarded(handlers, authorizer, handlers.keys(), on_controller=True)


def _guarded(
    handlers: Mapping[int, Handler], authorizer: Authorizer, needing: Collection[int], *, on_controller: bool
) -> Mapping[int, Handler]:
    if isinstance(authorizer, NoAuthorizer):
        return handlers

    def guarded(handler: Handler) -> Handler:
        def handle(request: Request) -> Message | Awaitable[Message | None] | None:
            host = request.connection.host
            denied = denial(authorizer, request.principal, request.body, host, on_controller=on_controller)
            return handler(request) if denied is None else denied

        return handle

    return {key: guarded(handler) if key in needing else handler for key, handler in handlers.items()}
