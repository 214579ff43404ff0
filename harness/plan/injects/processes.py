"""Steps that break processes: `faults.processes`."""

from __future__ import annotations

from typing import Literal

from harness.plan.base import NodeRefs
from harness.plan.injects.base import InjectStep


class _InjectProcess(InjectStep):
    nodes: NodeRefs


class InjectKill(_InjectProcess):
    """kill -9. Healed by a restart."""

    fault: Literal["kill"] = "kill"
    back: Literal["running", "ready"] = "ready"
    """When the restart counts as healed: once the new process runs, or once it answers requests."""


class InjectPause(_InjectProcess):
    """SIGSTOP. Healed by SIGCONT. Links to a paused node can only be cut: stall them before."""

    fault: Literal["pause"] = "pause"


InjectProcesses = InjectKill | InjectPause
