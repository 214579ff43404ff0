"""A process that crashes again and again, each time soon after it was started."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from faults.capabilities import Capability, CapabilityError, Cluster, Evidence, ProcessStatus, Running
from faults.processes.process_fault import READY_PATIENCE, ProcessFault, await_ready, life

LOOK_EVERY = 0.005


@dataclass(frozen=True)
class Crash:
    """How one process of the node ended. `lived_ms`: from its start, or from when the wait for `until` was over."""

    status: ProcessStatus
    lived_ms: float

    @property
    def killed(self) -> bool:
        return self.status.running is Running.EXITED and self.status.exit_code == -signal.SIGKILL

    def as_json(self) -> Mapping[str, object]:
        return {
            "pid": self.status.pid,
            "started": self.status.started,
            "exit_code": self.status.exit_code,
            "lived_ms": round(self.lived_ms, 1),
        }


class CrashLoop(ProcessFault):
    """SIGKILL, and then for each of `lives_ms` a start, so long a life, and SIGKILL again. Healed by a last start.

    `until`: from when a life is counted: from the start of the process, or from when it answers. With `says` each
    life is counted from the first line of its log in which that is found.

    Models a node that a supervisor starts again while the cause of its crash is still there: it registers, fetches,
    is elected, and is gone. Does not model a supervisor's growing pauses: the plan's schedule is all there is, besides
    what a target needs before it can be started. Every crash is measured in the process table: another process each
    time, ended by SIGKILL; one that ended by itself leaves the fault unproven.
    """

    name: ClassVar[str] = "crash-loop"
    capability: ClassVar[Capability] = Capability.KILL

    def __init__(
        self,
        cluster: Cluster,
        *,
        node: str,
        lives_ms: Sequence[int] = (500, 500, 500),
        until: Literal["running", "ready"] = "running",
        says: str | None = None,
    ) -> None:
        super().__init__(cluster, (node,))
        self.node = node
        self.lives_ms = tuple(lives_ms)
        self.until = until
        self.says = None if says is None else re.compile(says)
        self.crashes: list[Crash] = []

    def set_up(self) -> None:
        self.require_running("crash")

    def inject(self) -> None:
        self._crash(time.monotonic())
        for lives_ms in self.lives_ms:
            self.cluster.processes.start(self.node)
            self._await_begin()
            began = time.monotonic()
            self._await(began + lives_ms / 1000, lambda: False)
            self._crash(began)

    def verify(self) -> Evidence:
        lives = {life(crash.status) for crash in self.crashes}
        count = 1 + len(self.lives_ms)
        over = self.cluster.processes.status(self.node).running is Running.EXITED
        proven = over and len(lives) == count and all(crash.killed for crash in self.crashes)
        found = {"crashes": [crash.as_json() for crash in self.crashes]}
        return Evidence(proven, f"the process table: {count} processes one after the other, ended by SIGKILL", found)

    def recover(self) -> None:
        self.restart(self.node)

    def verify_healed(self) -> Evidence:
        return await_ready(self.cluster, self.names)

    def _crash(self, began: float) -> None:
        lived_ms = 1000 * (time.monotonic() - began)
        self.down(self.node)
        self.crashes.append(Crash(self.cluster.processes.status(self.node), lived_ms))

    def _await_begin(self) -> None:
        """CapabilityError if a life does not begin: a loop that was cut short is not what was asked for."""
        says = self.says
        if says is not None:
            deadline = time.monotonic() + READY_PATIENCE
            if not self._await(deadline, lambda: any(map(says.search, self.cluster.processes.said(self.node)))):
                raise CapabilityError(f"{self.node} logged nothing with {says.pattern!r} in {READY_PATIENCE:g} s")
        elif self.until == "ready":
            self.cluster.processes.await_ready(self.node, READY_PATIENCE)

    def _await(self, deadline: float, condition: Callable[[], bool]) -> bool:
        """Until it holds; False at the deadline, or when the process has ended by itself."""
        while not condition():
            if time.monotonic() > deadline or self.cluster.processes.status(self.node).running is Running.EXITED:
                return False
            time.sleep(LOOK_EVERY)
        return True
