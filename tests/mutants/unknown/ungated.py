"""Handlers of requests that a broker answers whether it may serve or not."""

from __future__ import annotations

from fencepost.cluster_impl.api import apis
from fencepost.cluster_impl.api.serving import Answer, body_of
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.server import Request


def serve_always(*kinds: type[Message]) -> None:
    """Let brokers answer these requests while they are fenced, too."""
    honest = apis.BrokerApis._add

    def add(self: apis.BrokerApis, kind, process, refuse) -> None:  # type: ignore[no-untyped-def]
        honest(self, kind, process, refuse)
        if kind in kinds:

            def handle(request: Request) -> Answer:
                return process(body_of(request, kind), request)  # type: ignore[no-any-return]

            self._handlers[kind.API_KEY] = handle

    apis.BrokerApis._add = add  # type: ignore[method-assign]
