"""Steps that break processes: `faults.processes`."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from harness.plan.base import NodeRefs, Said
from harness.plan.injects.base import InjectStep


class _InjectProcess(InjectStep):
    nodes: NodeRefs
    when: Said | None = None
    """Hit the one node at the moment that its own log says so; the step fails if it does not."""

    @model_validator(mode="after")
    def _one_log(self) -> _InjectProcess:
        if self.when is not None and isinstance(self.nodes, tuple) and len(self.nodes) != 1:
            raise ValueError("`when` is about the log of one node: name one in `nodes`")
        return self


class InjectKill(_InjectProcess):
    """kill -9. Healed by a restart."""

    fault: Literal["kill"] = "kill"
    back: Literal["running", "ready"] = "ready"
    """When the restart counts as healed: once the new process runs, or once it answers requests."""


class InjectPause(_InjectProcess):
    """SIGSTOP. Healed by SIGCONT. Links to a paused node can only be cut: stall them before."""

    fault: Literal["pause"] = "pause"


InjectProcesses = InjectKill | InjectPause
