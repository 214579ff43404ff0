"""Processes get SIGTERM, as from an operator."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import ClassVar

from fencepost.faults.capabilities import (
    Capability,
    Cluster,
    Evidence,
    ProcessStatus,
    Running,
    exit_in_words,
)
from fencepost.faults.fault import BundleScript
from fencepost.faults.generation import BreakableCluster, GeneratedFault, one_broker, one_of_quorum
from fencepost.faults.last_words import last_error
from fencepost.faults.parameters import FaultParameters, Milliseconds, NodeRefs, names_in
from fencepost.faults.processes.process_fault import ProcessFault, await_ready, from_outside, generated, measured


class TerminateParameters(FaultParameters):
    """SIGTERM, and each has to end by itself within `within_ms`. Healed by a restart."""

    nodes: NodeRefs
    within_ms: Milliseconds = 60_000


class Terminate(ProcessFault):
    """SIGTERM to each node's process, all at once. Healed by a restart on the same directory.

    Models an operator's stop, or an orchestrator that moves a node. What is done before the end is the target's: where
    it has a controlled shutdown it hands over what it leads, and closes its logs. Does not model an orchestrator that
    sends SIGKILL after a timeout: `within_ms` is how long it may take, and a node that takes longer
    leaves the fault unproven. Proven from the process table: gone, and by an exit code that answers SIGTERM; any other
    breaks LIVE-07.
    """

    name: ClassVar[str] = "terminate"
    phrase = "{nodes} are ended by SIGTERM"
    capability: ClassVar[Capability] = Capability.TERMINATE
    Parameters = TerminateParameters
    weight = 3
    bundle_script = BundleScript.PROCESS_EVENTS

    def __init__(self, cluster: Cluster, parameters: TerminateParameters) -> None:
        super().__init__(cluster, names_in(parameters.nodes))
        self.within_ms = parameters.within_ms
        self._asked: dict[str, int | None] = {}

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        """Exclusive: a broker that reaches no other node cannot hand over what it leads, and may end late."""
        of_quorum = rng.random() >= 0.7 and cluster.quorum
        aim = one_of_quorum(rng, cluster) if of_quorum else one_broker(rng, cluster)
        parameters = TerminateParameters(nodes=aim.refs)
        return generated(parameters, aim, f"SIGTERM to {aim.text}", stops_nodes=True, exclusive=True)

    def set_up(self) -> None:
        self.require_running("terminate")

    def inject(self) -> None:
        self._asked = {name: self.cluster.processes.status(name).pid for name in self.names}
        self.at_once(self.cluster.processes.shut_down)

    def verify(self) -> Evidence:
        began = time.monotonic()
        self._await_ends()
        statuses = {name: self.cluster.processes.status(name) for name in self.names}
        if (seen := from_outside(statuses)) is not None:
            return seen
        orderly = self.cluster.processes.is_orderly
        proven = all(status.running is Running.EXITED and orderly(status.exit_code) for status in statuses.values())
        data = {**measured(statuses), "seconds": round(time.monotonic() - began, 3)}
        how = "the process table: each ended by itself, on request"
        return Evidence(proven, how, data, "" if proven else self._against(statuses))

    def _against(self, statuses: Mapping[str, ProcessStatus]) -> str:
        """Say which did not end on request, how they ended, and the last error that each logged."""
        wrong = [name for name, status in statuses.items() if not self.cluster.processes.is_orderly(status.exit_code)]
        errors = {name: last_error(self.cluster.processes.said(name)) for name in wrong}
        said = [f"{name} {_ended(statuses[name])}" + (f" ({errors[name]})" if errors[name] else "") for name in wrong]
        return "after SIGTERM " + "; ".join(said)

    def recover(self) -> None:
        """Wait for processes that are still ending: they would be down again soon after their restart."""
        self._await_ends()
        self.at_once(self.restart)

    def verify_healed(self) -> Evidence:
        return await_ready(self.cluster, self.names)

    def _await_ends(self) -> None:
        deadline = time.monotonic() + self.within_ms / 1000
        for name, pid in self._asked.items():
            status = self.cluster.processes.status(name)
            if status.pid == pid and status.running is not Running.EXITED:
                self.cluster.processes.await_end(name, max(0.0, deadline - time.monotonic()))


def _ended(status: ProcessStatus) -> str:
    return f"ended with {exit_in_words(status.exit_code)}" if status.running is Running.EXITED else "did not end"
