"""Nodes get only so much of a processor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from faults.capabilities import Capability, Cluster, Evidence, Limits, Running
from faults.containers.container_fault import ContainerFault

TELLABLE = 1e-5
"""Processors: a microsecond in each period of 0.1 s."""
SPIN = 0.3
TRIES = 10
"""Together three seconds: on a busy machine it takes a while until anybody gets all that it may have."""


class Cpu(ContainerFault):
    """Each node's container gets at most `cpus` processors: 0.1 is a tenth of one. Healed by no limit.

    Models an overloaded host and a container with a small quota. The kernel hands time out in periods of 0.1 s: who has
    used up its share stands still until the next one begins, all threads together, and its protocol with it.

    Proven by the kernel's limit of the node's group, and by what busy loops in that group met: they were throttled.
    """

    name: ClassVar[str] = "cpu"
    capability: ClassVar[Capability] = Capability.RESOURCES

    def __init__(self, cluster: Cluster, *, nodes: Sequence[str], cpus: float) -> None:
        super().__init__(cluster, nodes)
        self.cpus = cpus

    def targets(self) -> Mapping[str, object]:
        return {**super().targets(), "cpus": self.cpus}

    def set_up(self) -> None:
        self.require_running("limit")

    def inject(self) -> None:
        for name in self.names:
            self.cluster.containers.limit_cpus(name, self.cpus)

    def verify(self) -> Evidence:
        met = {name: self._spun(name) for name in self.names}
        proven = all(_same(each.get("cpus"), self.cpus) and each["throttled"] for each in met.values())
        return Evidence(proven, "the kernel's limits, and busy loops in each group: they were throttled", met)

    def recover(self) -> None:
        for name in self._running():
            self.cluster.containers.limit_cpus(name, None)

    def verify_healed(self) -> Evidence:
        met = {name: {"cpus": self.cluster.containers.limits(name).cpus} for name in self._running()}
        proven = all(each["cpus"] is None for each in met.values())
        return Evidence(proven, "the kernel's limits of the groups that the processes are in", met)

    def _spun(self, name: str) -> dict[str, object]:
        before = after = self.cluster.containers.limits(name)
        for _ in range(TRIES):
            self.cluster.containers.spin(name, SPIN)
            after = self.cluster.containers.limits(name)
            if _throttled(before, after):
                break
        return {"cpus": after.cpus, "throttled": _throttled(before, after)}

    def _running(self) -> list[str]:
        """Of the nodes: a limit goes with the container that it is of."""
        live = (Running.RUNNING, Running.PAUSED)
        return [name for name in self.names if self.cluster.processes.status(name).running in live]


def _same(told: object, wanted: float) -> bool:
    """The kernel counts in millionths of a second."""
    return isinstance(told, float | int) and abs(told - wanted) < TELLABLE


def _throttled(before: Limits, after: Limits) -> int:
    """Periods in which all was used up meanwhile."""
    return (after.throttled or 0) - (before.throttled or 0)
