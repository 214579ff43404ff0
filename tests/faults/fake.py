"""A cluster of dictionaries that does what it is told, unless told to do nothing."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field

from faults.capabilities import (
    CUT,
    HEALTHY,
    Broken,
    CapabilityError,
    DirState,
    LinkState,
    ProcessStatus,
    Reach,
    Running,
    Toxic,
)


@dataclass
class FakeCluster:
    """All of its own capabilities. `deaf`: injections have no effect, and nobody says so."""

    running: dict[str, ProcessStatus] = field(default_factory=dict)
    states: dict[tuple[str, str], LinkState] = field(default_factory=dict)
    deaf: bool = False
    never_ready: bool = False
    calls: list[str] = field(default_factory=list)
    broken_dirs: dict[tuple[str, int], Broken] = field(default_factory=dict)
    held: dict[tuple[str, str], int] = field(default_factory=dict)
    """Which log directory of a node holds a partition."""

    @property
    def processes(self) -> FakeCluster:
        return self

    @property
    def links(self) -> FakeCluster:
        return self

    @property
    def duplicates(self) -> FakeCluster:
        return self

    @property
    def log_dirs(self) -> FakeLogDirs:
        return FakeLogDirs(self)

    def _become(self, verb: str, node: str, status: ProcessStatus) -> None:
        self.calls.append(f"{verb} {node}")
        if not self.deaf:
            self.running[node] = status

    def start(self, node: str) -> None:
        self._become("start", node, ProcessStatus(Running.RUNNING, pid=2))

    def await_ready(self, node: str, timeout: float) -> None:
        if self.never_ready:
            raise CapabilityError(f"{node} did not answer in {timeout} s")

    def kill(self, node: str) -> None:
        self._become("kill", node, ProcessStatus(Running.EXITED, exit_code=-signal.SIGKILL))

    def pause(self, node: str) -> None:
        self._become("pause", node, ProcessStatus(Running.PAUSED, pid=1))

    def resume(self, node: str) -> None:
        self._become("resume", node, ProcessStatus(Running.RUNNING, pid=1))

    def status(self, node: str) -> ProcessStatus:
        return self.running.get(node, ProcessStatus(Running.NEVER_STARTED))

    def peers(self, node: str) -> frozenset[str]:
        return frozenset({"node-1"})

    def start_duplicate(self, node: str) -> None:
        self.start(node)

    def stop_duplicate(self, node: str) -> None:
        self.kill(node)

    def _set(self, source: str, destination: str, state: LinkState) -> None:
        if not self.deaf:
            self.states[source, destination] = state

    def harm(self, source: str, destination: str, toxics: frozenset[Toxic]) -> None:
        self._set(source, destination, LinkState(enabled=True, toxics=toxics))

    def cut(self, source: str, destination: str) -> None:
        self._set(source, destination, CUT)

    def restore(self, source: str, destination: str) -> None:
        self._set(source, destination, HEALTHY)

    def state(self, source: str, destination: str) -> LinkState:
        return self.states.get((source, destination), HEALTHY)

    def reach(self, source: str, destination: str, timeout: float) -> Reach:
        state, destination_status = self.state(source, destination), self.status(destination).running
        if not state.enabled:
            return Reach.REFUSED
        if state.toxics or destination_status is Running.PAUSED:
            return Reach.SILENT
        return Reach.ANSWERED if destination_status is Running.RUNNING else Reach.CLOSED


@dataclass
class FakeLogDirs:
    cluster: FakeCluster

    def holding(self, node: str, partition: str) -> int:
        if (node, partition) not in self.cluster.held:
            raise CapabilityError(f"no log directory of {node} holds {partition}")
        return self.cluster.held[node, partition]

    def break_(self, node: str, number: int, how: Broken) -> None:
        if not self.cluster.deaf:
            self.cluster.broken_dirs[node, number] = how

    def restore(self, node: str, number: int) -> None:
        if not self.cluster.deaf:
            self.cluster.broken_dirs.pop((node, number), None)

    def state(self, node: str, number: int) -> DirState:
        errors = {Broken.REPLACED: "ENOTDIR", Broken.REMOVED: "ENOENT"}
        how = self.cluster.broken_dirs.get((node, number))
        return DirState(f"{node}/{number}", None if how is None else errors[how])


def cluster_of(*nodes: str) -> FakeCluster:
    return FakeCluster(running={node: ProcessStatus(Running.RUNNING, pid=1) for node in nodes})
