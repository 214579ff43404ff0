"""Operations on a node that runs in a container."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Limits:
    """The limits of a container's control groups, and their effects so far. None: no limit."""

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
        """Take it off the network at once: no packet comes or goes any more, and neither side gets an error."""

    def connect(self, node: str) -> None:
        """Back, at the same address. Connections that are still there go on."""

    def address(self, node: str) -> str | None:
        """Return its address in the cluster's network, as the engine reports it; None if it is off."""

    def limit_memory(self, node: str, bytes_: int | None) -> None:
        """None: as much as the machine has. A node that cannot do with it is ended by the kernel (SIGKILL)."""

    def limit_cpus(self, node: str, cpus: float | None) -> None: ...

    def limits(self, node: str) -> Limits: ...

    def spin(self, node: str, seconds: float) -> None:
        """Use as much of the processors as the node's container is given, for so long."""
