"""The base of the faults that start a node with a wrong identity."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import ClassVar

from fencepost.faults.capabilities import Capability, Evidence
from fencepost.faults.generation import Aim, GeneratedFault
from fencepost.faults.parameters import FaultParameters
from fencepost.faults.processes.process_fault import ProcessFault, await_ready, generated, life, measured


class MisconfiguredFault(ProcessFault):
    """SIGKILL, a change of the node's identity in its files, and a start with them.

    Proven from the files, and from the process table: another process was started since. Whether the cluster lets it in
    or it ends by itself is what the scenario asks, so the process may run or not. Healed by ending it if it still runs,
    by restoring the files, and by one more start.
    """

    capability: ClassVar[Capability] = Capability.IDENTITY

    @abstractmethod
    def misconfigure(self) -> None:
        """Give the nodes, which are down, the wrong identity."""

    @abstractmethod
    def correct(self) -> None:
        """Give the nodes, which are down, their own identity again."""

    @abstractmethod
    def is_misconfigured(self) -> bool:
        """Return whether the files hold the wrong identity."""

    def set_up(self) -> None:
        self.require_running("misconfigure")

    def inject(self) -> None:
        self.at_once(self.cluster.processes.kill)
        self.misconfigure()
        self.at_once(self.cluster.processes.start)

    def verify(self) -> Evidence:
        statuses = {name: self.cluster.processes.status(name) for name in self.names}
        started = all(life(status) != self.before.get(name) for name, status in statuses.items())
        data = {**measured(statuses), **self.claims()}
        how = "the files hold a wrong identity, and the process table shows that each node was started with them"
        return Evidence(started and self.is_misconfigured(), how, data)

    def recover(self) -> None:
        if self.is_misconfigured():
            self.at_once(self.down)
            self.correct()
        self.at_once(self.restart)

    def verify_healed(self) -> Evidence:
        ready = await_ready(self.cluster, self.names)
        right = not self.is_misconfigured()
        how = ready.how if right else "the files still hold a wrong identity"
        measured = {**ready.measured, **self.claims()}
        return Evidence(ready.proven and right, how, measured, ready.missed if right else how)

    def claims(self) -> Mapping[str, object]:
        return {f"{name} claims": asdict(self.cluster.directories.claim(name)) for name in self.names}


def generated_exclusive(parameters: FaultParameters, aim: Aim, title: str) -> GeneratedFault:
    """Return the generated fault. Exclusive: the node is killed and started again, at its healing as well."""
    return generated(parameters, aim, title, stops_nodes=True, exclusive=True)
