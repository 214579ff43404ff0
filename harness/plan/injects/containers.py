"""Steps that break containers: `faults.containers`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.plan.base import NodeRefs
from harness.plan.injects.base import InjectStep


class InjectDisconnect(InjectStep):
    """Off the network: no packet comes or goes, clients and probes included. Healed at the same address."""

    fault: Literal["disconnect"] = "disconnect"
    nodes: NodeRefs


class InjectMemory(InjectStep):
    """At most `mb` MiB of memory for each node, page cache included. Healed by no limit."""

    fault: Literal["memory"] = "memory"
    nodes: NodeRefs
    mb: Annotated[int, Field(ge=8)]


class InjectCpu(InjectStep):
    """At most `cpus` processors for each node: 0.1 is a tenth of one. Healed by no limit."""

    fault: Literal["cpu"] = "cpu"
    nodes: NodeRefs
    cpus: Annotated[float, Field(ge=0.01)]


InjectContainers = InjectDisconnect | InjectMemory | InjectCpu
