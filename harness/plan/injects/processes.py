"""Steps that break processes, and what they find on disk when they start again: `faults.processes`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.plan.base import Milliseconds, Name, NodeRef, NodeRefs, Pattern
from harness.plan.injects.base import InjectStep

How = Literal["kill", "shutdown"]
"""How a node is ended: kill -9, or SIGTERM."""


class _InjectProcess(InjectStep):
    nodes: NodeRefs


class InjectKill(_InjectProcess):
    """kill -9. Healed by a restart."""

    fault: Literal["kill"] = "kill"
    back: Literal["running", "ready"] = "ready"
    """When the restart counts as healed: once the new process runs, or once it answers requests."""


class InjectTerminate(_InjectProcess):
    """SIGTERM, and each has to end by itself within `within_ms`. Healed by a restart."""

    fault: Literal["terminate"] = "terminate"
    within_ms: Milliseconds = 60_000


class InjectPause(_InjectProcess):
    """SIGSTOP. Healed by SIGCONT. Links to a paused node can only be cut: stall them before."""

    fault: Literal["pause"] = "pause"


class InjectCrashLoop(InjectStep):
    """kill -9, and for each of `lives_ms` a start, so long a life and kill -9 again. Healed by one more start."""

    fault: Literal["crash-loop"] = "crash-loop"
    node: NodeRef
    lives_ms: Annotated[tuple[Milliseconds, ...], Field(min_length=1)] = (500, 500, 500)
    until: Literal["running", "ready"] = "running"
    """From when a life is counted: once the process runs, or once it answers requests."""
    says: Pattern | None = None
    """Each life is counted from the first line of its log in which this is found."""


class InjectRollingRestart(_InjectProcess):
    """One node after the other is ended and started again; each answers before the next one is ended."""

    fault: Literal["rolling-restart"] = "rolling-restart"
    how: How = "shutdown"


class InjectEmptied(_InjectProcess):
    """Ended, and nothing is left in its log directories. Healed by a restart, which brings nothing back."""

    fault: Literal["emptied"] = "emptied"
    how: How = "kill"


class InjectRestored(InjectStep):
    """Ended, and an old copy of its log directories is put back. Healed by a restart on it."""

    fault: Literal["restored"] = "restored"
    node: NodeRef
    backup: Name | None = None
    """The name of an earlier `backup` step of this node. Without it a copy is made first, `age_ms` before the end."""
    age_ms: Milliseconds = 2000
    how: How = "kill"


class InjectLateBytes(InjectStep):
    """Links from `node` to `to` hold its requests for `queued_ms`, then kill -9. Healed by a restart, and then by
    letting go what the dead process had sent."""

    fault: Literal["late-bytes"] = "late-bytes"
    node: NodeRef
    to: NodeRefs
    queued_ms: Milliseconds = 1000
    back: Literal["running", "ready"] = "running"
    """What the bytes wait for: that the new process runs, or that it answers requests."""


InjectProcesses = (
    InjectKill
    | InjectTerminate
    | InjectPause
    | InjectCrashLoop
    | InjectRollingRestart
    | InjectEmptied
    | InjectRestored
    | InjectLateBytes
)
