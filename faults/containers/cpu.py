"""Nodes get only so much of a processor."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from fencepost.faults.capabilities import Capability, Cluster, Evidence, Limits, Running
from fencepost.faults.containers.container_fault import ContainerFault
from fencepost.faults.generation import BreakableCluster, GeneratedFault, HealOrder, Resource, one_broker
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in

TELLABLE = 1e-5
"""Processors: a microsecond in each period of 0.1 s."""
SPIN = 0.3
TRIES = 10
"""Together three seconds: on a busy machine it takes a while until a process gets its whole share."""


class CpuParameters(FaultParameters):
    """At most `cpus` processors for each node: 0.1 is a tenth of one. Healed by no limit."""

    nodes: NodeRefs
    cpus: Annotated[float, Field(ge=0.01)]


class Cpu(ContainerFault):
    """Each node's container gets at most `cpus` processors: 0.1 is a tenth of one. Healed by no limit.

    Models an overloaded host and a container with a small quota. The kernel hands time out in periods of 0.1 s: a
    process that has used up its share stands still until the next one begins, with all its threads.

    Proven by the kernel's limit of the node's group, and by what busy loops in that group met: they were throttled.
    """

    name: ClassVar[str] = "cpu"
    phrase = "{nodes} are limited to {cpus} processors"
    capability: ClassVar[Capability] = Capability.RESOURCES
    Parameters = CpuParameters
    weight = 3

    def __init__(self, cluster: Cluster, parameters: CpuParameters) -> None:
        super().__init__(cluster, names_in(parameters.nodes))
        self.cpus = parameters.cpus

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim, cpus = one_broker(rng, cluster), rng.choice((0.1, 0.2, 0.5))
        return GeneratedFault(
            parameters=CpuParameters(nodes=aim.refs, cpus=cpus),
            aim=aim,
            heal_order=HealOrder.MACHINES,
            resources=(Resource("processors"), *aim.processes()),
            title=f"{aim.text} has {cpus:g} of a processor",
            brokers=1,
        )

    def targets(self) -> Mapping[str, object]:
        return {**super().targets(), "cpus": self.cpus}

    def set_up(self) -> None:
        self.require_running("limit")

    def inject(self) -> None:
        for name in self.names:
            self.cluster.containers.limit_cpus(name, self.cpus)

    def verify(self) -> Evidence:
        met = {name: self._spun(name) for name in self.names}
        proven = all(_same(limits.get("cpus"), self.cpus) and limits["throttled"] for limits in met.values())
        return Evidence(proven, "the kernel's limits, and busy loops in each group: they were throttled", met)

    def recover(self) -> None:
        for name in self._running():
            self.cluster.containers.limit_cpus(name, None)

    def verify_healed(self) -> Evidence:
        met = {name: {"cpus": self.cluster.containers.limits(name).cpus} for name in self._running()}
        proven = all(limits["cpus"] is None for limits in met.values())
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
        """Return the nodes whose containers run: a limit ends with its container."""
        live = (Running.RUNNING, Running.PAUSED)
        return [name for name in self.names if self.cluster.processes.status(name).running in live]


def _same(found: object, wanted: float) -> bool:
    """The kernel counts in millionths of a second."""
    return isinstance(found, float | int) and abs(found - wanted) < TELLABLE


def _throttled(before: Limits, after: Limits) -> int:
    """Return the number of periods meanwhile in which the share was used up."""
    return (after.throttled or 0) - (before.throttled or 0)
