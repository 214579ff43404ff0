"""Forwarding of administrative requests from any broker to the controller, which decides them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator
from typing import cast

from fencepost.cluster_impl.wire.codec import Message, RequestMessage, Struct
from fencepost.cluster_impl.wire.errors import Error

RETRY = 0.05
"""Seconds between attempts while no controller answers."""

DEFAULT_TIMEOUT_MS = 30_000
"""For requests that carry no timeout; that of Kafka's clients."""

Ask = Callable[[RequestMessage[Message], int, float], Awaitable[tuple[int, Message]]]
"""Sends a request of some version to the presumed controller, with a timeout in seconds; returns the id of the node
that answered, and its response. Raises ConnectionError or TimeoutError with a message.
"""


async def forward(
    request: Message,
    version: int,
    ask: Ask,
    not_controller: Callable[[int], None] = lambda _: None,
    refusals: Collection[Error] = (Error.NOT_CONTROLLER,),
) -> Message:
    """Send a request to the controller, and to the next one if the controller changes; return the response.

    `not_controller` is called with the id of each node that answers one of `refusals`. Attempts end with the request's
    own timeout. After an attempt with an unknown outcome, the next one may find the topic as the first one left it and
    answer TOPIC_ALREADY_EXISTS or UNKNOWN_TOPIC_OR_PARTITION.
    """
    decided = cast("RequestMessage[Message]", request)
    deadline = time.monotonic() + getattr(request, "timeout_ms", DEFAULT_TIMEOUT_MS) / 1000
    while True:
        try:
            responder, reply = await ask(decided, version, max(RETRY, deadline - time.monotonic()))
        except (ConnectionError, TimeoutError):
            if time.monotonic() + RETRY >= deadline:
                raise
        else:
            if not set(refusals).intersection(_errors(reply)) or time.monotonic() + RETRY >= deadline:
                return reply
            not_controller(responder)
        await asyncio.sleep(RETRY)


def _errors(part: Struct) -> Iterator[int]:
    """Yield every error code of a response, wherever it stands."""
    for name in part._fields:
        value = getattr(part, name)
        if name == "error_code":
            yield value
        elif isinstance(value, list):
            for element in value:
                if isinstance(element, Struct):
                    yield from _errors(element)
