"""Nodes are restarted one after the other."""

from __future__ import annotations

import random
from typing import ClassVar

from fencepost.faults.capabilities import Capability, Cluster, Evidence, Running
from fencepost.faults.fault import BundleScript
from fencepost.faults.generation import Aim, BreakableCluster, GeneratedFault
from fencepost.faults.parameters import EndingMethod, FaultParameters, NodeRefs, names_in
from fencepost.faults.processes.process_fault import (
    READY_TIMEOUT_S,
    ProcessFault,
    await_ready,
    generated,
    life,
    measured,
)

METHODS: tuple[EndingMethod, ...] = ("kill", "shutdown")


class RollingRestartParameters(FaultParameters):
    """One node after the other is ended and started again; each answers before the next one is ended."""

    nodes: NodeRefs
    how: EndingMethod = "shutdown"


class RollingRestart(ProcessFault):
    """Each node in turn is ended and started again, and answers before the next one is ended.

    Models a change of configuration that is rolled out, or a host after host that is patched. A node that is ready
    answers requests; it need not be back in every in-sync replica set, which an operator would wait for. Each restart
    is measured in the process table: another process than before. Nothing is held: what is left to heal is a restart
    that failed half way.
    """

    name: ClassVar[str] = "rolling-restart"
    phrase = "{nodes} are restarted one after the other"
    capability: ClassVar[Capability] = Capability.TERMINATE
    Parameters = RollingRestartParameters
    weight = 1
    bundle_script = BundleScript.PROCESS_EVENTS

    def __init__(self, cluster: Cluster, parameters: RollingRestartParameters) -> None:
        super().__init__(cluster, names_in(parameters.nodes))
        self.how = parameters.how

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        """Nothing is held once it is proven. A replica may not have caught up when the next node goes; all come back,
        so it costs time and nothing else."""
        side = "brokers" if rng.random() < 0.7 or len(cluster.quorum) < 2 else "quorum"
        names = cluster.brokers if side == "brokers" else cluster.quorum
        order = tuple(rng.sample(names, len(names)))
        how = rng.choice(METHODS)
        title = f"restart of all {'brokers' if side == 'brokers' else cluster.quorum_role} in turn ({how})"
        parameters = RollingRestartParameters(nodes=order, how=how)
        return generated(parameters, Aim(order, 1, side, order), title, exclusive=True)

    def set_up(self) -> None:
        self.require_running("restart")

    def inject(self) -> None:
        for name in self.names:
            self.end(name, self.how)
            self.cluster.processes.start(name)
            self.cluster.processes.await_ready(name, READY_TIMEOUT_S)

    def verify(self) -> Evidence:
        statuses = {name: self.cluster.processes.status(name) for name in self.names}
        restarted = [life(status) != self.before[name] for name, status in statuses.items()]
        proven = all(restarted) and all(status.running is Running.RUNNING for status in statuses.values())
        return Evidence(proven, "the process table: each is another process than before", measured(statuses))

    def recover(self) -> None:
        self.at_once(self.restart)

    def verify_healed(self) -> Evidence:
        return await_ready(self.cluster, self.names)
