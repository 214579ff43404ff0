"""CreateTopics and DeleteTopics are a controller's to decide; any broker passes them on to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import cast

from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message, RequestMessage
from cluster_impl.wire.errors import Error

RETRY = 0.05
"""Seconds between attempts while nobody answers as the controller."""

Decided = RequestMessage[m.CreateTopicsResponse | m.DeleteTopicsResponse]
Reply = m.CreateTopicsResponse | m.DeleteTopicsResponse

Ask = Callable[[Decided, int, float], Awaitable[tuple[int, Reply]]]
"""Asks whoever is taken for the controller, in a version, within so many seconds: who answered, and what.

Raises ConnectionError or TimeoutError with a sentence.
"""


async def forward(
    request: Message, version: int, ask: Ask, not_controller: Callable[[int], None] = lambda _: None
) -> Message:
    """Pass a request on to the controller, and to the next one if that changes; `not_controller` is told who is none.

    Goes on for as long as the request's own timeout, and asks again only when an attempt has failed: after one with an
    unknown outcome the next one may find the topic as the first one left it, and answer TOPIC_ALREADY_EXISTS or
    UNKNOWN_TOPIC_OR_PARTITION.
    """
    if not isinstance(request, m.CreateTopicsRequest | m.DeleteTopicsRequest):
        raise TypeError(f"{type(request).__name__} is nothing that a controller decides.")
    decided = cast("Decided", request)
    deadline = time.monotonic() + request.timeout_ms / 1000
    while True:
        try:
            asked, reply = await ask(decided, version, max(RETRY, deadline - time.monotonic()))
        except (ConnectionError, TimeoutError):
            if time.monotonic() + RETRY >= deadline:
                raise
        else:
            if Error.NOT_CONTROLLER not in _errors(reply) or time.monotonic() + RETRY >= deadline:
                return reply
            not_controller(asked)
        await asyncio.sleep(RETRY)


def _errors(reply: Reply) -> Iterable[int]:
    results = reply.topics if isinstance(reply, m.CreateTopicsResponse) else reply.responses
    return {result.error_code for result in results}
