"""The steps of a plan, followed without a cluster: the faults that could only fail when they are injected or healed.

Only what the plan itself shows is refused: faults of nodes that it names, one by one or by groups (`brokers`). Nodes
behind roles and bound names are known when the step runs. `problems` is asked when a plan is read, so that every saved
run can be judged again; this is asked when a plan is to be run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from fencepost.faults.capabilities import Capability, Cluster
from fencepost.faults.fault import Fault
from fencepost.faults.links.link_fault import LinkFault, Pair
from fencepost.faults.parameters import MOVING, NodeRef, NodeRefs, names_in
from fencepost.faults.processes.pause import Pause
from fencepost.faults.registry import FAULTS
from fencepost.harness.plan.checks import Problem, problems
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import NodeSpec, Plan
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.heal_all import HealAll

GROUPS = {"brokers": "broker", "controllers": "controller", "zookeeper": "zookeeper"}
OF_NODES = frozenset({Capability.DIRECTORIES, Capability.IDENTITY, Capability.LOG_DIRS})
"""The capabilities that change directories and ids, of which ZooKeeper servers keep theirs."""


def problems_to_run(plan: Plan) -> list[Problem]:
    """Return all reasons why a plan cannot be run, in the order of the file."""
    return [*problems(plan), *_Rehearsal(plan).problems()]


@dataclass
class _Rehearsal:
    plan: Plan
    held: dict[str, Fault] = field(default_factory=dict)
    """The faults that were injected and are not healed, by name."""

    def problems(self) -> Iterator[Problem]:
        for place, step in enumerate(self.plan.steps):
            at = ("steps", place)
            if isinstance(step, HealAll):
                self.held.clear()
            elif isinstance(step, Heal):
                yield from self._release(at, step.fault)
            elif isinstance(step, InjectStep):
                yield from self._unfit(at, step)
                yield from self._inject(at, step)

    def _inject(self, at: tuple[str | int, ...], step: InjectStep) -> Iterator[Problem]:
        if (fault := self._fault(step)) is None:
            return
        if isinstance(fault, LinkFault) and not fault.effects:
            yield Problem(at, f"`{step.as_}` is aimed at no link: name two different nodes, or groups of nodes")
        for other, active in self.held.items():
            links = [f"{source} to {destination}" for source, destination in sorted(active.links() & fault.links())]
            if shared := ", ".join([*links, *sorted(active.nodes() & fault.nodes())]):
                message = f"`{step.as_}` is aimed at {shared}, which `{other}` holds: heal that first"
                yield Problem(at, f"{message}, or give one fault both effects" if links else message)
        if (stopped := self._stopped_ends(fault)) is not None:
            yield Problem(at, f"`{step.as_}` holds bytes back at {stopped[1]} while `{stopped[0]}` pauses it: {_CUT}")
        self.held[step.as_] = fault

    def _release(self, at: tuple[str | int, ...], name: str) -> Iterator[Problem]:
        fault = self.held.pop(name, None)
        if fault is not None and (stopped := self._stopped_ends(fault)) is not None:
            yield Problem(at, f"`{name}` holds bytes back at {stopped[1]}: heal `{stopped[0]}`, which pauses it, first")

    def _stopped_ends(self, fault: Fault) -> tuple[str, str] | None:
        """Return a pause that is held, and a node of it at which this fault holds bytes back."""
        ends = {node for pair in _harmed(fault) for node in pair}
        for name, held in self.held.items():
            if isinstance(held, Pause) and (shared := sorted(held.nodes() & ends)):
                return name, shared[0]
        return None

    def _fault(self, step: InjectStep) -> Fault | None:
        """Return the fault with the nodes that the plan names; None if some of them are known later."""
        if any(ref.startswith(("$", *MOVING)) for ref in step.aims):
            return None
        parameters = step.parameters.resolved(str, self._names)
        return FAULTS[step.fault](cast("Cluster", _NO_CLUSTER), parameters)

    def _names(self, refs: NodeRefs) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for ref in names_in(refs) for name in self._named(ref)))

    def _named(self, ref: NodeRef) -> list[str]:
        if ref not in GROUPS:
            return [ref]
        return [node.name for node in self.plan.topology.nodes if GROUPS[ref] in node.roles and node.is_original]

    def _unfit(self, at: tuple[str | int, ...], step: InjectStep) -> Iterator[Problem]:
        """Check what the topology has to give the nodes that the fault is aimed at."""
        capability = FAULTS[step.fault].capability
        if capability not in (Capability.DISKS, *OF_NODES):
            return
        nodes = {node.name: node for node in self.plan.topology.nodes}
        for ref in step.aims:
            moving = ref.startswith(("$", *MOVING))
            candidates = [nodes[name] for name in (nodes if moving else self._named(ref)) if name in nodes]
            complaints = [_complaint(node, step, capability) for node in candidates]
            wrong = [each for each in complaints if each is not None]
            if wrong and (not moving or len(wrong) == len(candidates)):
                yield Problem(at, f"`{step.as_}` cannot be injected: {wrong[0]}")


_CUT = "do it before the pause or after it, or cut the links"
_NO_CLUSTER = object()
"""Faults use their cluster from `set_up` on."""


def _harmed(fault: Fault) -> Iterator[Pair]:
    """Yield the links of which the fault holds bytes back; a cut one carries none."""
    for effect in fault.effects if isinstance(fault, LinkFault) else ():
        if not effect.cuts:
            yield effect.pair


def _complaint(node: NodeSpec, step: InjectStep, capability: Capability) -> str | None:
    """Return why a node lacks what a fault of this capability needs; None if it has it."""
    if capability in OF_NODES and "service" in node.roles:
        return f"{node.name} is a service, whose directories are left alone"
    if capability in OF_NODES and "zookeeper" in node.roles:
        return f"{node.name} is a ZooKeeper server, whose directories and id are left alone"
    if capability is Capability.DISKS and node.disk != "breakable":
        return f"the disk of {node.name} is plain: give it `disk: breakable` in the topology"
    number: Any = getattr(step, "dir", None)
    if number is not None and number >= node.log_dirs:
        return f"{node.name} has no log directory {number}: it has {node.log_dirs}, counted from 0"
    return None
