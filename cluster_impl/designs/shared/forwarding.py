"""Forwarding of CreateTopics and DeleteTopics from any broker to the controller, which decides them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import cast

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message, RequestMessage
from fencepost.cluster_impl.wire.errors import Error

RETRY = 0.05
"""Seconds between attempts while no controller answers."""

Decided = RequestMessage[m.CreateTopicsResponse | m.DeleteTopicsResponse]
Reply = m.CreateTopicsResponse | m.DeleteTopicsResponse

Ask = Callable[[Decided, int, float], Awaitable[tuple[int, Reply]]]
"""Sends a request of some version to the presumed controller, with a timeout in seconds; returns the id of the node
that answered, and its response. Raises ConnectionError or TimeoutError with a message.
"""


async def forward(
    request: Message, version: int, ask: Ask, not_controller: Callable[[int], None] = lambda _: None
) -> Message:
    """Send a request to the controller, and to the next one if the controller changes; return the response.

    `not_controller` is called with the id of each node that answers NOT_CONTROLLER. Attempts end with the request's own
    timeout. After an attempt with an unknown outcome, the next one may find the topic as the first one left it and
    answer TOPIC_ALREADY_EXISTS or UNKNOWN_TOPIC_OR_PARTITION.
    """
    if not isinstance(request, m.CreateTopicsRequest | m.DeleteTopicsRequest):
        raise TypeError(f"{type(request).__name__} is not decided by a controller.")
    decided = cast("Decided", request)
    deadline = time.monotonic() + request.timeout_ms / 1000
    while True:
        try:
            responder, reply = await ask(decided, version, max(RETRY, deadline - time.monotonic()))
        except (ConnectionError, TimeoutError):
            if time.monotonic() + RETRY >= deadline:
                raise
        else:
            if Error.NOT_CONTROLLER not in _errors(reply) or time.monotonic() + RETRY >= deadline:
                return reply
            not_controller(responder)
        await asyncio.sleep(RETRY)


def _errors(reply: Reply) -> Iterable[int]:
    results = reply.topics if isinstance(reply, m.CreateTopicsResponse) else reply.responses
    return {result.error_code for result in results}
