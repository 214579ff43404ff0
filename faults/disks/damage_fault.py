"""The base of the faults after which a node starts on files that are not what it left."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from fencepost.faults.capabilities import Cluster, Evidence, Running
from fencepost.faults.last_words import last_words
from fencepost.faults.processes.process_fault import ProcessFault, await_ready

Outcome = Literal["taken", "refused", "fatal later", "silent"]
_AFTER: Mapping[Outcome, str] = {
    "refused": "it refused the files and they were put back",
    "fatal later": "it took the files, answered, and ended by itself; they were put back",
    "silent": "it neither answered nor ended on the files, was ended, and they were put back",
}
OPENED_WITHIN = 5.0
"""Seconds for a broker that answers to learn of its partitions from the controller, and to open them."""


class DamageFault(ProcessFault):
    """Healed by a restart on what is left. Without an answer that lasts the files are put back, for one more start."""

    readable = False
    """True if a node that answers has nothing left to stumble over: it finds no file that it cannot read."""

    def __init__(self, cluster: Cluster, node: str) -> None:
        super().__init__(cluster, (node,))
        self.node = node
        self.outcome: Outcome = "taken"
        self.last_words: Sequence[str] = ()

    @abstractmethod
    def repair(self) -> None:
        """Put the files of the node back, which is down."""

    def recover(self) -> None:
        self.restart(self.node)

    def verify_healed(self) -> Evidence:
        ready = await_ready(self.cluster, self.names)
        if self.outcome == "taken" and (outcome := self._outcome(ready)) != "taken":
            self.outcome = outcome
            self.last_words = last_words(self.cluster.processes.said(self.node)) or ("nothing",)
            self.down(self.node)
            self.repair()
            self.restart(self.node)
            ready = await_ready(self.cluster, self.names)
        how = ready.how if self.outcome == "taken" else f"{ready.how}, after {_AFTER[self.outcome]}"
        return replace(ready, how=how, measured={**ready.measured, self.outcome: list(self.last_words)})

    def _outcome(self, ready: Evidence) -> Outcome:
        """Return what became of the files. A broker may answer before it opens its partitions."""
        if self._ended():
            return "fatal later" if ready.proven else "refused"
        if not ready.proven:
            return "silent"
        ends = not self.readable and self.cluster.processes.await_end(self.node, OPENED_WITHIN)
        return "fatal later" if ends else "taken"

    def _ended(self) -> bool:
        return self.cluster.processes.status(self.node).running is Running.EXITED
