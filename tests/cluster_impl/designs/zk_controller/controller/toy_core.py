"""A core that does as a test says, to see what the edge around it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.zk_controller.controller.controller import Registration
from cluster_impl.designs.zk_controller.controller.events import Asked, Event
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message

Handle = Callable[[Event], Steps[None]]


def nothing(_: Event) -> Steps[None]:
    yield from ()


@dataclass(slots=True)
class ToyCore:
    """Implements `driver.Core`. Heartbeats are answered at once, everything else is `steps_of`'s affair."""

    steps_of: Handle = nothing
    events: list[Event] = field(default_factory=list)
    """What it was given, when its handling began."""
    registered: Mapping[int, Registration] = field(default_factory=dict)
    requests: list[tuple[int, Message]] = field(default_factory=list)
    tick_at: float | None = None

    def handle(self, event: Event) -> Steps[None]:
        self.events.append(event)
        yield from self.steps_of(event)

    def at_once(self, asked: Asked) -> bool:
        if isinstance(asked.request, m.MetadataHeartbeatRequest):
            asked.reply(m.MetadataHeartbeatResponse())
            return True
        return False

    def drain(self) -> Sequence[tuple[int, Message]]:
        drained, self.requests = self.requests, []
        return drained

    def next_tick(self) -> float | None:
        return self.tick_at

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]
