"""A process that crashes again and again, each time soon after it was started."""

from __future__ import annotations

import random
import re
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fencepost.faults.capabilities import Capability, CapabilityError, Cluster, Evidence, ProcessStatus, Running
from fencepost.faults.fault import BundleScript
from fencepost.faults.generation import BreakableCluster, GeneratedFault, one_broker, one_of_quorum
from fencepost.faults.parameters import FaultParameters, Milliseconds, NodeRef, Pattern
from fencepost.faults.processes.process_fault import READY_TIMEOUT_S, ProcessFault, await_ready, generated, life

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


class CrashLoopParameters(FaultParameters):
    """SIGKILL, and for each of `lives_ms` a start, so long a life and SIGKILL again. Healed by one more start."""

    node: NodeRef
    lives_ms: Annotated[tuple[Milliseconds, ...], Field(min_length=1)] = (500, 500, 500)
    until: Literal["running", "ready"] = "running"
    """From when a life is counted: once the process runs, or once it answers requests."""
    says: Pattern | None = None
    """Each life is counted from the first line of its log in which this is found."""


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
    phrase = "{node} are killed and started again and again"
    capability: ClassVar[Capability] = Capability.KILL
    Parameters = CrashLoopParameters
    weight = 2
    bundle_script = BundleScript.PROCESS_EVENTS

    def __init__(self, cluster: Cluster, parameters: CrashLoopParameters) -> None:
        super().__init__(cluster, (parameters.node,))
        self.node = parameters.node
        self.lives_ms = parameters.lives_ms
        self.until = parameters.until
        self.says = None if parameters.says is None else re.compile(parameters.says)
        self.crashes: list[Crash] = []

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        of_quorum = rng.random() >= 0.8 and cluster.quorum
        aim = one_of_quorum(rng, cluster) if of_quorum else one_broker(rng, cluster)
        lives = [round(cluster.lease_ms * rng.choice((0.1, 0.3, 0.7, 1.2)), -1) for _ in range(rng.choice((1, 2, 3)))]
        parameters = CrashLoopParameters(node=aim.text, lives_ms=tuple(map(int, lives)))
        return generated(
            parameters, aim, f"{aim.text} crashes {len(lives) + 1} times", stops_nodes=True, exclusive=True
        )

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
            deadline = time.monotonic() + READY_TIMEOUT_S
            if not self._await(deadline, lambda: any(map(says.search, self.cluster.processes.said(self.node)))):
                raise CapabilityError(f"{self.node} logged nothing with {says.pattern!r} in {READY_TIMEOUT_S:g} s")
        elif self.until == "ready":
            self.cluster.processes.await_ready(self.node, READY_TIMEOUT_S)

    def _await(self, deadline: float, condition: Callable[[], bool]) -> bool:
        """Wait until it holds; return False at the deadline, or when the process has ended by itself."""
        while not condition():
            if time.monotonic() > deadline or self.cluster.processes.status(self.node).running is Running.EXITED:
                return False
            time.sleep(LOOK_EVERY)
        return True
