"""Nodes are restarted one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Capability, Cluster, Evidence, Running
from faults.processes.process_fault import READY_PATIENCE, How, ProcessFault, await_ready, life, measured


class RollingRestart(ProcessFault):
    """Each node in turn is ended and started again, and answers before the next one is ended.

    Models a change of configuration that is rolled out, or a host after host that is patched. Who is ready answers
    requests; it need not be back in every in-sync replica set, which an operator would wait for. Each restart is
    measured in the process table: another process than before. Nothing is held: what is left to heal is a restart that
    failed half way.
    """

    name: ClassVar[str] = "rolling-restart"
    capability: ClassVar[Capability] = Capability.TERMINATE

    def __init__(self, cluster: Cluster, *, nodes: Sequence[str], how: How = "shutdown") -> None:
        super().__init__(cluster, tuple(nodes))
        self.how: How = how

    def set_up(self) -> None:
        self.require_running("restart")

    def inject(self) -> None:
        for name in self.names:
            self.end(name, self.how)
            self.cluster.processes.start(name)
            self.cluster.processes.await_ready(name, READY_PATIENCE)

    def verify(self) -> Evidence:
        found = {name: self.cluster.processes.status(name) for name in self.names}
        restarted = [life(status) != self.before[name] for name, status in found.items()]
        proven = all(restarted) and all(status.running is Running.RUNNING for status in found.values())
        return Evidence(proven, "the process table: each is another process than before", measured(found))

    def recover(self) -> None:
        self.at_once(self.restart)

    def verify_healed(self) -> Evidence:
        return await_ready(self.cluster, self.names)
