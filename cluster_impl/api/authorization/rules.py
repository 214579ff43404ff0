"""The two kinds of rules: for a request as a whole, and for each item of a list in it.

A rule stands before a handler. What it refuses never reaches the handler; its errors join the response.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fencepost.cluster_impl.api.serving import Answer
from fencepost.cluster_impl.security.access_control import AccessControl
from fencepost.cluster_impl.security.entries import CLUSTER_NAME, AclOperation, ResourceType
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.server import Handler, Request


@dataclass(frozen=True, slots=True)
class Asker:
    """The sender of a request, and what it may do."""

    access: AccessControl
    principal: str
    host: str

    @classmethod
    def of(cls, access: AccessControl, request: Request) -> Asker:
        return cls(access, request.principal, request.connection.host)

    def topic(self, operation: AclOperation, name: str) -> bool:
        return self.access.allows(self.principal, self.host, operation, ResourceType.TOPIC, name)

    def group(self, operation: AclOperation, name: str) -> bool:
        return self.access.allows(self.principal, self.host, operation, ResourceType.GROUP, name)

    def cluster(self, operation: AclOperation) -> bool:
        return self.access.allows(self.principal, self.host, operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def some_topic(self, operation: AclOperation) -> bool:
        return self.access.allows_on_some(self.principal, self.host, operation, ResourceType.TOPIC)

    def operations(self, kind: ResourceType, name: str) -> int:
        return self.access.operations(self.principal, self.host, kind, name)


Rule = Callable[[Request, Asker, Handler], Answer]
"""Answers a request, with the handler for what is allowed."""


def whole(allowed: Callable[[Any, Asker], bool], refuse: Callable[[Any, Request], Message | None]) -> Rule:
    """Return a rule that refuses a request as a whole."""

    def rule(request: Request, asker: Asker, handler: Handler) -> Answer:
        return handler(request) if allowed(request.body, asker) else refuse(request.body, request)

    return rule


def each(
    items: str,
    allowed: Callable[[Any, Asker], bool],
    results: str,
    refused: Callable[[Any], object],
) -> Rule:
    """Return a rule for each item of the list `items` of a request.

    `refused` makes the element of the list `results` of the response for an item that is refused.
    """

    def rule(request: Request, asker: Asker, handler: Handler) -> Answer:
        requested = getattr(request.body, items)
        denied = [item for item in requested if not allowed(item, asker)]
        if not denied:
            return handler(request)
        errors = [refused(item) for item in denied]
        return without(request, handler, items, denied, lambda response: getattr(response, results).extend(errors))

    return rule


def without(
    request: Request, handler: Handler, items: str, denied: Sequence[object], add: Callable[[Any], object]
) -> Answer:
    """Have the request answered without the denied items; `add` puts their errors into the response."""
    allowed = [item for item in getattr(request.body, items) if not any(item is other for other in denied)]
    if not allowed:
        response = request.api.response()
        add(response)
        return response
    setattr(request.body, items, allowed)
    return joined(handler(request), add)


def joined(answer: Answer, add: Callable[[Any], object]) -> Answer:
    """Return the answer with something added to the response, now or when it comes."""
    if answer is None:
        return None
    if isinstance(answer, Message):
        add(answer)
        return answer
    return _later(answer, add)


async def _later(answer: Awaitable[Message | None], add: Callable[[Any], object]) -> Message | None:
    response = await answer
    if response is not None:
        add(response)
    return response
