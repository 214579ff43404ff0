"""A controller that a test scripts, for tests of the term and the host that run it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.zk_controller.controller.controller import RegisteredBroker
from fencepost.cluster_impl.designs.zk_controller.controller.events import Event, ReceivedRequest
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message

Handle = Callable[[Event], Steps[None]]


def nothing(_: Event) -> Steps[None]:
    yield from ()


@dataclass(slots=True)
class ScriptedController:
    """Has what a term calls of `Controller`. Heartbeats are answered at once, `steps_of` handles everything else."""

    steps_of: Handle = nothing
    events: list[Event] = field(default_factory=list)
    """The events whose handling has begun."""
    registered: Mapping[int, RegisteredBroker] = field(default_factory=dict)
    requests: list[tuple[int, Message]] = field(default_factory=list)
    tick_at: float | None = None

    def handle(self, event: Event) -> Steps[None]:
        self.events.append(event)
        yield from self.steps_of(event)

    def answer_at_once(self, received: ReceivedRequest) -> bool:
        if isinstance(received.request, m.MetadataHeartbeatRequest):
            received.reply(m.MetadataHeartbeatResponse())
            return True
        return False

    def drain(self) -> Sequence[tuple[int, Message]]:
        drained, self.requests = self.requests, []
        return drained

    def next_tick(self) -> float | None:
        return self.tick_at

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]
