"""The responses of a broker that is not the controller, or no longer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.partition_refusals import PARTITION_REQUESTS, refused_partitions

MESSAGE = "this broker is not the controller"


def _create_topics(request: m.CreateTopicsRequest) -> Message:
    return m.CreateTopicsResponse(
        topics=[
            m.CreateTopicsResponse.CreatableTopicResult(
                name=topic.name, error_code=Error.NOT_CONTROLLER, error_message=MESSAGE
            )
            for topic in request.topics
        ]
    )


def _delete_topics(request: m.DeleteTopicsRequest) -> Message:
    """Refuse each topic. Up to version 5 topics have names, from version 6 on names or ids."""
    result = m.DeleteTopicsResponse.DeletableTopicResult
    responses = [
        result(name=name, error_code=Error.NOT_CONTROLLER, error_message=MESSAGE) for name in request.topic_names
    ] + [
        result(name=each.name, topic_id=each.topic_id, error_code=Error.NOT_CONTROLLER, error_message=MESSAGE)
        for each in request.topics
    ]
    return m.DeleteTopicsResponse(responses=responses)


_REFUSALS: Mapping[type[Message], Callable[[Any], Message]] = {
    m.CreateTopicsRequest: _create_topics,
    m.DeleteTopicsRequest: _delete_topics,
    **dict.fromkeys(PARTITION_REQUESTS, partial(refused_partitions, error=Error.NOT_CONTROLLER, message=MESSAGE)),
    m.ControlledShutdownRequest: lambda _: m.ControlledShutdownResponse(error_code=Error.NOT_CONTROLLER),
    m.MetadataHeartbeatRequest: lambda _: m.MetadataHeartbeatResponse(
        error_code=Error.NOT_CONTROLLER, error_string=MESSAGE
    ),
    m.IsrChangeRequest: lambda _: m.IsrChangeResponse(
        top_level_error_code=Error.NOT_CONTROLLER, top_level_error_message=MESSAGE
    ),
    m.ReplicaStateEventRequest: lambda _: m.ReplicaStateEventResponse(error_code=Error.NOT_CONTROLLER),
}

CONTROLLER_REQUESTS = frozenset(request.API_KEY for request in _REFUSALS)
"""The API keys that only the controller serves."""


def not_controller(request: Message) -> Message:
    """Return a response with NOT_CONTROLLER, of the type that the request requires."""
    return _REFUSALS[type(request)](request)
