"""The events of an active controller. They are handled one at a time, in their order, as by Kafka's event thread.

`now` is the monotonic time in seconds at which the event arrived. So a heartbeat that waited behind other events counts
from its arrival.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fencepost.cluster_impl.wire.codec import Message


@dataclass(frozen=True, slots=True)
class Election:
    """This broker created /controller and raised /controller_epoch to `epoch`; always the first event."""

    epoch: int
    now: float


@dataclass(frozen=True, slots=True)
class ZnodeChange:
    """A watch on `path` fired, for any change. A repeated event is harmless."""

    path: str
    now: float


@dataclass(frozen=True, slots=True)
class BrokerResponse:
    """The response of a broker to a request from `drain`. Late responses on closed connections do not arrive."""

    broker_id: int
    request: Message
    response: Message
    now: float


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request on the INTERNAL listener. `reply` is called exactly once, maybe during a later event.

    `allowed` says whether the sender's principal may do what the request asks (ClusterAction for broker requests);
    requests that need no right of their own are always allowed.
    """

    request: Message
    version: int
    reply: Callable[[Message], None]
    now: float
    allowed: bool = True


@dataclass(frozen=True, slots=True)
class Tick:
    """The time of `Controller.next_tick` has come; an early or late Tick is harmless."""

    now: float


@dataclass(frozen=True, slots=True)
class Reconnection:
    """The session was suspended and lives on. In between no Tick is handled, so that no broker is declared inactive."""

    now: float


@dataclass(frozen=True, slots=True)
class Resignation:
    """This controller is no longer active: pending requests are refused. Always the last event."""


Event = Election | ZnodeChange | BrokerResponse | ReceivedRequest | Tick | Reconnection | Resignation


class ControllerMoved(Exception):
    """A later controller exists: its writes were read, or its epoch refused a write. The term is over."""
