"""Processes stop in the middle of whatever they do, and later go on as if nothing had been."""

from __future__ import annotations

import random
from typing import ClassVar

from fencepost.faults.capabilities import Capability, Cluster, Evidence, Running
from fencepost.faults.fault import BundleScript
from fencepost.faults.generation import BreakableCluster, GeneratedFault, HealOrder, some_nodes
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in
from fencepost.faults.processes.process_fault import ProcessFault, await_ready, generated


class PauseParameters(FaultParameters):
    """SIGSTOP. Healed by SIGCONT. Links to a paused node can only be cut: stall them before."""

    nodes: NodeRefs


class Pause(ProcessFault):
    """SIGSTOP to each node's process group; SIGCONT heals.

    Models a long garbage collection, a suspended virtual machine, an overloaded host. The kernel goes on accepting
    connections and bytes for it, so a successful connect proves nothing. Does not stop the clock: when it wakes, its
    monotonic time has moved on.
    """

    name: ClassVar[str] = "pause"
    phrase = "{nodes} are paused"
    capability: ClassVar[Capability] = Capability.PAUSE
    Parameters = PauseParameters
    weight = 7
    bundle_script = BundleScript.PROCESS_EVENTS

    def __init__(self, cluster: Cluster, parameters: PauseParameters) -> None:
        super().__init__(cluster, names_in(parameters.nodes))

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        """A stopped process keeps its connections: a client may wait for it as long as the stop lasts."""
        aim = some_nodes(rng, cluster)
        parameters = PauseParameters(nodes=aim.refs)
        return generated(parameters, aim, f"pause of {aim.text}", heal_order=HealOrder.PAUSES, stops_nodes=True)

    def set_up(self) -> None:
        self.require_running("pause")

    def inject(self) -> None:
        self.at_once(self.cluster.processes.pause)

    def verify(self) -> Evidence:
        return self.await_status(
            lambda status: status.running is Running.PAUSED, "the process table: each is stopped (T)"
        )

    def recover(self) -> None:
        for name in self.names:
            if self.cluster.processes.status(name).running is Running.PAUSED:
                self.cluster.processes.resume(name)

    def verify_healed(self) -> Evidence:
        return await_ready(self.cluster, self.names)
