"""Containers of a fake cluster: a network that one can be off, and limits that are counted against."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fencepost.faults.capabilities import Limits


@dataclass
class FakeContainers:
    deaf: bool = False
    off: set[str] = field(default_factory=set)
    given: dict[str, Limits] = field(default_factory=dict)

    def disconnect(self, node: str) -> None:
        if not self.deaf:
            self.off.add(node)

    def connect(self, node: str) -> None:
        if not self.deaf:
            self.off.discard(node)

    def address(self, node: str) -> str | None:
        return None if node in self.off else f"10.0.0.{node.removeprefix('node-')}"

    def limits(self, node: str) -> Limits:
        return self.given.get(node, Limits(None, 60 << 20, None, 0))

    def limit_memory(self, node: str, bytes_: int | None) -> None:
        self._give(node, replace(self.limits(node), memory=bytes_))

    def limit_cpus(self, node: str, cpus: float | None) -> None:
        self._give(node, replace(self.limits(node), cpus=cpus))

    def spin(self, node: str, seconds: float) -> None:
        found = self.limits(node)
        self.given[node] = replace(found, throttled=(found.throttled or 0) + 3 * (found.cpus is not None))

    def _give(self, node: str, limits: Limits) -> None:
        if not self.deaf:
            self.given[node] = limits
