"""The nodes of a cluster that runs elsewhere: they are found running, and have no files and no processes here."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.faults.capabilities import Running
from fencepost.harness.cluster.nodes import Nodes
from fencepost.harness.processes.command import Command


class NodesElsewhere(Nodes):
    """Implements `fencepost.faults.capabilities.Processes`."""

    def start(self, node: str) -> None:
        """Take the node as it runs; later, start it again, and return once it answers."""
        was = self.status(node).running
        if was in (Running.RUNNING, Running.PAUSED):
            return
        self._note(node, "intent", durable=True)
        nothing = Command(())
        self._backend.start(node, nothing)
        self._note_started(self._described(node), nothing, lives_on=True if was is Running.NEVER_STARTED else None)

    def shut_down(self, node: str) -> None:
        """Ask it to end, and return once it is seen to have ended. No exit code is seen from outside."""
        if self.status(node).running is not Running.RUNNING:
            return
        self._note(node, "stopping")
        self._backend.terminate(node)
        self._write(node, "stopped", {"exit_code": None, "orderly": True})

    def said(self, node: str) -> Sequence[str]:
        log = self._backend.log(node)
        return log.read_text(errors="replace").splitlines() if log.exists() else []

    def peers(self, node: str) -> frozenset[str]:
        """Return none: its connections are not seen."""
        return frozenset()
