"""A fenced broker processes no client request (KIP-631, Fencing)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from cluster_impl.replication.control_plane import ControlPlane
from cluster_impl.wire.codec import Message
from cluster_impl.wire.errors import Error
from cluster_impl.wire.server import CloseConnection, Handler, Request

Body = TypeVar("Body", bound=Message)
Answer = Message | Awaitable[Message | None] | None


def guarded(
    control: ControlPlane,
    kind: type[Body],
    process: Callable[[Body, Request], Answer],
    refuse: Callable[[Body, Request], Message | None],
) -> Handler:
    """A handler that processes requests only while the broker serves, and refuses them otherwise.

    The question is asked for each request when its turn comes: what a paused process finds in its sockets when it wakes
    is judged after the pause, not by when it arrived.
    """

    def handle(request: Request) -> Answer:
        return (process if control.serving() else refuse)(body_of(request, kind), request)

    return handle


def still_said(control: ControlPlane) -> Error:
    """NONE, or how a broker that lost its lease meanwhile answers what was begun and is done: another may lead already,
    so nothing is told of it (decision DLD-15; KIP-343 completes what was begun)."""
    return Error.NONE if control.serving() or control.completes_begun() else Error.NOT_LEADER_OR_FOLLOWER


def body_of(request: Request, kind: type[Body]) -> Body:
    assert isinstance(request.body, kind)
    return request.body


def close_connection(_: Message, request: Request) -> None:
    """Refuses a request whose response has no place for an error."""
    raise CloseConnection(f"{request.api.name} cannot be answered while this broker is fenced")
