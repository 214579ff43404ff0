"""The active controller, from its election to its resignation: events in, steps on znodes and requests to brokers out.

003, Controller. One object for each term; it remembers nothing of an earlier one, all of it is read from ZooKeeper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cluster_impl.designs.zk_controller.controller.events import Event
from cluster_impl.designs.zk_controller.controller.operations import Steps
from cluster_impl.designs.zk_controller.znodes import BrokerInfo
from cluster_impl.wire.codec import Message


@dataclass(frozen=True, slots=True)
class Registration:
    """A znode below /brokers/ids. `epoch` is its czxid: broker epoch and incarnation id (KIP-343)."""

    broker_id: int
    epoch: int
    info: BrokerInfo


class Controller:
    """How the driver uses it: run the steps of `handle(event)` to their end; then make the channels those of
    `registered`; then queue what `drain` gives; then see that a Tick comes at `next_tick`.
    """

    def handle(self, event: Event) -> Steps[None]:
        raise NotImplementedError

    @property
    def registered(self) -> Mapping[int, Registration]:
        """The brokers that a channel is kept for. One whose epoch changed is another process: its channel begins anew,
        and what waited in the old one is dropped."""
        raise NotImplementedError

    def drain(self) -> Sequence[tuple[int, Message]]:
        """The requests that the last event made, by broker, in the order in which they must arrive there."""
        raise NotImplementedError

    def next_tick(self) -> float | None:
        """Monotonic time at which to send Tick; None if nothing waits for the time. Past: at once, behind what is
        queued already."""
        raise NotImplementedError
