"""Nodes are off the network, with all that runs in them."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

from fencepost.faults.capabilities import Capability, CapabilityError, Cluster, Evidence, ProbeResult, Running
from fencepost.faults.containers.container_fault import ContainerFault
from fencepost.faults.generation import (
    LINKS_AMONG_BROKERS,
    LINKS_AMONG_QUORUM,
    LINKS_TO_QUORUM,
    BreakableCluster,
    GeneratedFault,
    HealOrder,
    one_broker,
)
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in

OUTSIDE = "site:probe"
"""From where it is measured whether a node can be reached."""
TIMEOUT_S = 15.0
"""Seconds for a node to answer: once it is back, its neighbours have to find it again, and they asked in vain."""
ANSWER_WITHIN = 1.0
ASK_EVERY = 0.05


class DisconnectParameters(FaultParameters):
    """Off the network: no packet comes or goes, clients and probes included. Healed at the same address."""

    nodes: NodeRefs


class Disconnect(ContainerFault):
    """The network is taken out of each node's pod; healed by putting it back, at the same address.

    Models a cable that is pulled, a dead switch port, a virtual machine whose network is detached: no packet comes or
    goes, neither side gets an error, clients and raw probes are cut off as well. Connections are not ended; what was
    sent meanwhile is sent again by TCP after healing, which takes it up to some seconds. Does not model loss or delay
    of packets. A node that is started while it is off finds no address to listen at, and ends.

    Proven by round trips from outside that had an answer before and have none, and by what the engine says of the
    network.
    """

    name: ClassVar[str] = "disconnect"
    phrase = "{nodes} are disconnected from the network"
    capability: ClassVar[Capability] = Capability.NETWORK
    Parameters = DisconnectParameters
    weight = 4

    def __init__(self, cluster: Cluster, parameters: DisconnectParameters) -> None:
        super().__init__(cluster, names_in(parameters.nodes))
        self._addresses: dict[str, str | None] = {}

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        """Exclusive: a node that is started while it is off its network finds no address to listen at."""
        aim = one_broker(rng, cluster)
        return GeneratedFault(
            parameters=DisconnectParameters(nodes=aim.refs),
            aim=aim,
            heal_order=HealOrder.LINKS,
            resources=(LINKS_AMONG_BROKERS, LINKS_TO_QUORUM, LINKS_AMONG_QUORUM),
            title=f"{aim.text} off the network",
            brokers=1,
            exclusive=True,
        )

    def set_up(self) -> None:
        self.require_running("disconnect")
        for name in self.names:
            self._addresses[name] = self.cluster.containers.address(name)
            if self._addresses[name] is None:
                raise CapabilityError(f"cannot disconnect {name}: it is off the network already")
        for name, met in self._answers(self.names).items():
            if met is not ProbeResult.ANSWERED:
                raise CapabilityError(f"cannot disconnect {name}: it does not answer ({met.value}), so nothing changes")

    def inject(self) -> None:
        for name in self.names:
            self.cluster.containers.disconnect(name)

    def verify(self) -> Evidence:
        met = {name: self._reach(name) for name in self.names}
        addresses = {name: self.cluster.containers.address(name) for name in self.names}
        proven = all(result is not ProbeResult.ANSWERED for result in met.values()) and not any(addresses.values())
        return Evidence(proven, "round trips from outside, which had an answer before", _measured(met, addresses))

    def recover(self) -> None:
        for name in self.names:
            self.cluster.containers.connect(name)

    def verify_healed(self) -> Evidence:
        """A node that died meanwhile is only asked for its address: its pod is back."""
        living = [name for name in self.names if self.cluster.processes.status(name).running is Running.RUNNING]
        met = self._answers(living)
        addresses = {name: self.cluster.containers.address(name) for name in self.names}
        proven = _all_answer(met) and addresses == self._addresses
        return Evidence(proven, "round trips from outside, at the same addresses", _measured(met, addresses))

    def _answers(self, names: Sequence[str]) -> Mapping[str, ProbeResult]:
        """Ask until all of them answer, for a while: a busy node may be silent for a moment."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            met = {name: self._reach(name) for name in names}
            if _all_answer(met) or time.monotonic() > deadline:
                return met
            time.sleep(ASK_EVERY)

    def _reach(self, name: str) -> ProbeResult:
        return self.cluster.links.reach(OUTSIDE, name, ANSWER_WITHIN)


def _all_answer(met: Mapping[str, ProbeResult]) -> bool:
    return all(result is ProbeResult.ANSWERED for result in met.values())


def _measured(met: Mapping[str, ProbeResult], addresses: Mapping[str, str | None]) -> Mapping[str, object]:
    asked = {name: reach.value for name, reach in met.items()}
    return {name: {"reach": asked.get(name), "address": address} for name, address in addresses.items()}
