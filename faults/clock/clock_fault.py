"""The base of the faults of the wall clock: the nodes, the proof, and the way back to the machine's time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from fencepost.faults.capabilities import Capability, CapabilityError, ClockReading, Cluster, Evidence
from fencepost.faults.fault import Fault
from fencepost.faults.generation import Aim, BreakableCluster, GeneratedFault, HealOrder, Resource, one_broker
from fencepost.faults.parameters import FaultParameters, NodeRefs, PlannedNode, names_in

TIMEOUT_S = 10.0
"""The timeout in seconds of a clock that is to be as wanted: a probe is a new process each time."""
ASKED_WITHIN = 1.0
"""Seconds in which most nodes ask for the time by themselves; one that does not cannot have seen a wrong time."""
EXACT_MS = 5.0
"""The tolerance of a measurement: a clock may only be kept by the tick (4 ms)."""

ELECTS_BY_WALL_CLOCK = "apache-kafka"
"""The target whose controllers do, from 4.0 on."""

Judge = Callable[[ClockReading], bool]


class ClockParameters(FaultParameters):
    """The nodes, which need `clock: own`."""

    nodes: NodeRefs

    def problems(self, nodes: Iterable[PlannedNode], backups: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Check the nodes that are named. A role is checked when the step runs."""
        named = names_in(self.nodes)
        for node in nodes:
            if node.name in named and node.clock != "own":
                yield "nodes", f"{node.name} reads the wall clock of the machine: its topology entry needs `clock: own`"


@dataclass
class ClockFault(Fault):
    """A fault of the wall clock of some nodes.

    The process lives on, so it is none of the fault's `nodes()`: it may be killed, paused and started meanwhile, and
    has the same clock afterwards.
    """

    cluster: Cluster
    names: tuple[str, ...]
    capability: ClassVar[Capability] = Capability.CLOCK

    def targets(self) -> Mapping[str, object]:
        return {"nodes": list(self.names)}

    def set_up(self) -> None:
        """Raise CapabilityError unless each runs with a wall clock of its own that shows the machine's time."""
        if not self.names:
            raise CapabilityError("there is no node whose clock to change: the plan's reference led to no node")
        for name in self.names:
            found = self.cluster.clocks.read(name)
            if found.unfollowed is not None:
                raise CapabilityError(f"cannot change the wall clock of {name}: {found.unfollowed}")
            if abs(found.ahead_ms) > EXACT_MS:
                raise CapabilityError(
                    f"the wall clock of {name} is {found.ahead_ms:+.1f} ms off the machine's already: heal that first"
                )

    def recover(self) -> None:
        for name in self.names:
            self.cluster.clocks.set(name, 0)

    def verify_healed(self) -> Evidence:
        """Measure the clocks. If a process is gone, only the clock is measured that the next one will have."""
        return self.await_readings(right, "each wall clock shows the machine's time again", also_gone=True)

    def await_readings(self, wanted: Judge, how: str, *, also_gone: bool = False) -> Evidence:
        """Measure until each clock is as wanted and its node has asked for the time, or did not ask for a while."""
        began = time.monotonic()
        while True:
            found = {name: self.cluster.clocks.read(name) for name in self.names}
            proven = all(wanted(clock) and (also_gone or clock.unfollowed is None) for clock in found.values())
            waited = time.monotonic() - began
            if proven and (waited > ASKED_WITHIN or all(clock.asked for clock in found.values())):
                return Evidence(True, how, measured(found))
            if not proven and waited > TIMEOUT_S:
                return Evidence.against(_against(found), measured(found))
            time.sleep(0.02)


def random_aim(rng: random.Random, cluster: BreakableCluster) -> Aim:
    """Aim at one broker, or at one controller. ZooKeeper's servers keep the machine's clock.

    A controller with a name can be aimed at while the fault of another one holds.
    """
    if not cluster.uses_zookeeper and rng.random() < 0.4:
        name = rng.choice(cluster.quorum)
        named = Aim(name, 1, "quorum", (name,))
        return rng.choice((Aim("active-controller", 1, "quorum"), Aim("standby-controller", 1, "quorum"), named, named))
    return one_broker(rng, cluster)


def generated(parameters: ClockParameters, aim: Aim, title: str, cluster: BreakableCluster) -> GeneratedFault:
    """Return the generated fault.

    Leases, sessions and elections go by the monotonic clock, so no node is away because of it. The elections of Apache
    Kafka go by the wall clock (AK-15), so a controller there counts as one that takes no part in them.
    """
    return GeneratedFault(
        parameters=parameters,
        aim=aim,
        heal_order=HealOrder.MACHINES,
        resources=(Resource("clocks"), *aim.processes()),
        title=title,
        quorum=aim.away_quorum if cluster.target_name == ELECTS_BY_WALL_CLOCK else 0,
        needs_running_nodes=True,
    )


def right(found: ClockReading) -> bool:
    return abs(found.ahead_ms) <= EXACT_MS and reported(found, 0)


def reported(found: ClockReading, wanted_ms: float) -> bool:
    """Return whether the node itself was given a time with this offset, or never asked for one."""
    if found.reported_ms is None:
        return True
    least, most = found.reported_ms
    return least - EXACT_MS <= wanted_ms <= most + EXACT_MS


def measured(found: Mapping[str, ClockReading]) -> dict[str, object]:
    """For the journal. Milliseconds."""
    return {
        name: {
            "ahead_ms": round(each.ahead_ms, 3),
            "asked": each.asked,
            "reported_ms": None if each.reported_ms is None else [round(bound, 3) for bound in each.reported_ms],
            **({} if each.unfollowed is None else {"unfollowed": each.unfollowed}),
        }
        for name, each in found.items()
    }


def _against(found: Mapping[str, ClockReading]) -> str:
    return "; ".join(
        each.unfollowed or f"the wall clock of {name} is {each.ahead_ms:+.3f} ms off the machine's"
        for name, each in found.items()
    )
