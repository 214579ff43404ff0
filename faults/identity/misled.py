"""What the faults share that let a node start as somebody else."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import ClassVar

from faults.capabilities import Capability, Evidence
from faults.processes.process_fault import ProcessFault, await_ready, life, measured


class MisledFault(ProcessFault):
    """kill -9, something about who the node is gets wrong, and a start upon it.

    Proven from the files, and from the process table: another process was started since, whether it is let in or ends
    by itself. That is what the story asks; so the process may be there or not. Healed by ending it if it still runs,
    by putting right what was wrong, and by one more start.
    """

    capability: ClassVar[Capability] = Capability.IDENTITY

    @abstractmethod
    def mislead(self) -> None: ...

    @abstractmethod
    def put_right(self) -> None:
        """The nodes are down, and misled."""

    @abstractmethod
    def is_misled(self) -> bool: ...

    def set_up(self) -> None:
        self.require_running("mislead")

    def inject(self) -> None:
        self.at_once(self.cluster.processes.kill)
        self.mislead()
        self.at_once(self.cluster.processes.start)

    def verify(self) -> Evidence:
        found = {name: self.cluster.processes.status(name) for name in self.names}
        started = all(life(status) != self.before.get(name) for name, status in found.items())
        data = {**measured(found), **self.claims()}
        how = "the files say who each is not, and the process table that each was started upon them"
        return Evidence(started and self.is_misled(), how, data)

    def recover(self) -> None:
        if self.is_misled():
            self.at_once(self.down)
            self.put_right()
        self.at_once(self.restart)

    def verify_healed(self) -> Evidence:
        ready = await_ready(self.cluster, self.names)
        right = not self.is_misled()
        how = ready.how if right else "the files still say who it is not"
        return Evidence(ready.proven and right, how, {**ready.measured, **self.claims()})

    def claims(self) -> Mapping[str, object]:
        return {f"{name} claims": asdict(self.cluster.directories.claim(name)) for name in self.names}
