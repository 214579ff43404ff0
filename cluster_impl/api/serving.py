"""A fenced broker processes no client request (KIP-631, Fencing)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import refusal
from fencepost.cluster_impl.wire.server import CloseConnection, Handler, Request

Body = TypeVar("Body", bound=Message)
Answer = Message | Awaitable[Message | None] | None


def when_serving(
    control: ControlPlane,
    kind: type[Body],
    process: Callable[[Body, Request], Answer],
    refuse: Callable[[Body, Request], Message | None],
) -> Handler:
    """Return a handler that processes requests only while the broker serves, and refuses them otherwise.

    The handler checks this for each request when its turn comes: requests in the sockets of a paused process are judged
    after the pause, not by the time at which they arrived.
    """

    def handle(request: Request) -> Answer:
        return (process if control.serving() else refuse)(body_of(request, kind), request)

    return handle


def fencing_error(control: ControlPlane) -> Error:
    """Return NONE if the response to a request that began earlier may contain data, else the error to answer with.

    A broker that lost its lease meanwhile may have been replaced as leader, so its data is not sent (decision DLD-15);
    under KIP-343 such a request is completed.
    """
    return Error.NONE if control.serving() or control.completes_begun() else Error.NOT_LEADER_OR_FOLLOWER


def body_of(request: Request, kind: type[Body]) -> Body:
    assert isinstance(request.body, kind)
    return request.body


async def forwarded(control: ControlPlane, body: Message, request: Request) -> Message:
    """Return the response of the control plane, or an error if no node responds."""
    try:
        return await control.forward(body, request.version)
    except (ConnectionError, TimeoutError) as error:
        return refusal(body, Error.REQUEST_TIMED_OUT, str(error))


def refused(error: Error, message: str | None = None) -> Callable[[Message, Request], Message]:
    """Return a function that refuses a request with this error."""
    return lambda body, _: refusal(body, error, message)


def close_connection(_: Message, request: Request) -> None:
    """Refuse a request whose response has no place for an error."""
    raise CloseConnection(f"{request.api.name} cannot be answered while this broker is fenced")
