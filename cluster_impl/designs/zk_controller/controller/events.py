"""What happens to an active controller. Events are handled one at a time, in their order (Kafka's event thread).

`now` is the monotonic time in seconds at which the event came in, not at which its turn came: a heartbeat that waited
behind other events counts from when it was received.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cluster_impl.wire.codec import Message


@dataclass(frozen=True, slots=True)
class Elected:
    """This broker won /controller and raised /controller_epoch to `epoch`; always the first event."""

    epoch: int
    now: float


@dataclass(frozen=True, slots=True)
class ZnodeChanged:
    """A watch on `path` fired, whatever it was set by and whatever changed. Told twice, it does no harm."""

    path: str
    now: float


@dataclass(frozen=True, slots=True)
class BrokerAnswered:
    """A broker answered what was drained for it. Answers of a connection that was given up are not told."""

    broker_id: int
    request: Message
    response: Message
    now: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A request on the INTERNAL listener. `reply` is called exactly once, maybe by a later event.

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
    """The time that `Controller.next_tick` named has come; earlier or later does no harm."""

    now: float


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The session was suspended, and lives on. No Tick may be handled in between: nobody is given up meanwhile."""

    now: float


@dataclass(frozen=True, slots=True)
class Resigned:
    """This controller is not the active one any more: what it still owes is refused. Always the last event."""


Event = Elected | ZnodeChanged | BrokerAnswered | Asked | Tick | Reconnected | Resigned
