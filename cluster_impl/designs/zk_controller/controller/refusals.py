"""The responses of a broker that is not the controller, or no longer."""

from __future__ import annotations

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import PARTITION_REQUESTS, refusal

MESSAGE = "this broker is not the controller"

CONTROLLER_REQUESTS = frozenset(
    request.API_KEY
    for request in (
        m.CreateTopicsRequest,
        m.DeleteTopicsRequest,
        *PARTITION_REQUESTS,
        m.ControlledShutdownRequest,
        m.MetadataHeartbeatRequest,
        m.IsrChangeRequest,
        m.ReplicaStateEventRequest,
    )
)
"""The API keys that only the controller serves."""


def not_controller(request: Message) -> Message:
    """Return a response with NOT_CONTROLLER, of the type that the request requires."""
    return refusal(request, Error.NOT_CONTROLLER, MESSAGE)
