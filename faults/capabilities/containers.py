"""What can be done to a node that runs in a container, and to no other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Limits:
    """What the kernel lets a container have, and what that has cost it, by its control groups. None: no limit."""

    memory: int | None
    """Bytes."""
    memory_used: int | None
    cpus: float | None
    """Processors: 0.5 is half of one."""
    throttled: int | None
    """Periods so far in which it had used up its share before the end."""


class Containers(Protocol):
    """Take nodes off their network, and give them less to live on."""

    def disconnect(self, node: str) -> None:
        """Off the network at once: no packet comes or goes any more, and nobody is told."""

    def connect(self, node: str) -> None:
        """Back, at the same address. Connections that are still there go on."""

    def address(self, node: str) -> str | None:
        """What the engine says its address in the cluster's network is; None if it is off."""

    def limit_memory(self, node: str, bytes_: int | None) -> None:
        """None: as much as the machine has. A node that cannot do with it is ended by the kernel (SIGKILL)."""

    def limit_cpus(self, node: str, cpus: float | None) -> None: ...

    def limits(self, node: str) -> Limits: ...

    def spin(self, node: str, seconds: float) -> None:
        """Use as much of the processors as the node's container is given, for so long."""
