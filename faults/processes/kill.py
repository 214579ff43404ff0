"""Processes die without a word."""

from __future__ import annotations

import random
import signal
from typing import ClassVar, Literal

from fencepost.faults.capabilities import Capability, Cluster, Evidence, Running
from fencepost.faults.fault import BundleScript
from fencepost.faults.generation import BreakableCluster, GeneratedFault, some_nodes
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in
from fencepost.faults.processes.process_fault import ProcessFault, await_ready, generated


class KillParameters(FaultParameters):
    """SIGKILL. Healed by a restart."""

    nodes: NodeRefs
    back: Literal["running", "ready"] = "ready"
    """When the restart counts as healed: once the new process runs, or once it answers requests."""


class Kill(ProcessFault):
    """SIGKILL to each node's process group, all at once. Healed by a restart on the same directory.

    `back` says when the restart counts: once each new process runs, or once it answers requests.

    Models a crash of the process. Does not model a crash of the machine: the kernel still writes what was handed to it,
    so nothing here says that fsync was called; and its connections end (FIN through the link), they do not go silent.
    """

    name: ClassVar[str] = "kill"
    phrase = "{nodes} are killed"
    capability: ClassVar[Capability] = Capability.KILL
    Parameters = KillParameters
    weight = 9
    bundle_script = BundleScript.PROCESS_EVENTS

    def __init__(self, cluster: Cluster, parameters: KillParameters) -> None:
        super().__init__(cluster, names_in(parameters.nodes))
        self.back = parameters.back

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        """SIGKILL loses nothing that was handed to the kernel, so any number of nodes may be killed at a time."""
        aim = some_nodes(rng, cluster)
        parameters = KillParameters(nodes=aim.refs)
        return generated(parameters, aim, f"kill -9 of {aim.text}", stops_nodes=True, others_go_on=True)

    def set_up(self) -> None:
        self.require_running("kill")

    def inject(self) -> None:
        self.at_once(self.cluster.processes.kill)

    def verify(self) -> Evidence:
        return self.await_status(
            lambda status: status.running is Running.EXITED and status.exit_code == -signal.SIGKILL,
            "the process table: each is gone, ended by SIGKILL",
        )

    def recover(self) -> None:
        """Start all at once: some targets have to wait before a node may start, and the nodes may need each other."""
        self.at_once(self.restart)

    def verify_healed(self) -> Evidence:
        if self.back == "ready":
            return await_ready(self.cluster, self.names)
        return self.await_status(lambda status: status.running is Running.RUNNING, "the process table: each runs again")
