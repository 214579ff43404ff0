"""The base of the faults of processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

from fencepost.faults.capabilities import (
    CapabilityError,
    Cluster,
    Evidence,
    ProcessStatus,
    Running,
    exit_in_words,
)
from fencepost.faults.fault import Fault
from fencepost.faults.generation import Aim, GeneratedFault, HealOrder
from fencepost.faults.parameters import EndingMethod, FaultParameters

TIMEOUT_S = 10.0
"""Seconds until the process table has to show what was done."""
READY_TIMEOUT_S = 60.0
"""Seconds for a node to answer again: a JVM on a busy machine takes ten."""
END_TIMEOUT_S = 60.0
"""Seconds for a node to hand over what it leads and end."""

Life = tuple[int | None, float | None]
"""One process of a node: its pid and when it was started."""


KEEPS_ITS_PLACE = (
    "a replica that is killed stays in the ISR and may lead by what its directory holds, so that what it lacks is lost "
    "by design (as LF-01)"
)
"""The reason why random plans for the design without controllers take no directory away."""


@dataclass
class ProcessFault(Fault):
    """A fault of whole processes, proven from the process table."""

    cluster: Cluster
    names: tuple[str, ...]
    before: dict[str, Life] = field(default_factory=dict, init=False)
    """The processes that the fault found."""

    def targets(self) -> Mapping[str, object]:
        return {"nodes": list(self.names)}

    def nodes(self) -> frozenset[str]:
        return frozenset(self.names)

    def require_running(self, what: str) -> None:
        """Raise CapabilityError unless each of the nodes runs: one that is gone already proves nothing."""
        if not self.names:
            raise CapabilityError(f"there is no node to {what}: the plan's reference led to no node")
        for name in self.names:
            status = self.cluster.processes.status(name)
            if status.running is not Running.RUNNING:
                raise CapabilityError(f"cannot {what} {name}: it is {status.running.value}, not running")
            self.before[name] = life(status)

    def at_once(self, act: Callable[[str], None]) -> None:
        """Do it to all of them side by side: each call returns only when its effect is there."""
        with ThreadPoolExecutor(max_workers=len(self.names)) as pool:
            list(pool.map(act, self.names))

    def end(self, name: str, how: EndingMethod) -> None:
        """End a node's process, and return when it is gone. CapabilityError if it does not go."""
        if how == "kill":
            self.cluster.processes.kill(name)
            return
        self.cluster.processes.shut_down(name)
        if not self.cluster.processes.await_end(name, END_TIMEOUT_S):
            raise CapabilityError(f"{name} did not end within {END_TIMEOUT_S:g} s of SIGTERM")

    def restart(self, name: str) -> None:
        """Start it, if it is down."""
        if self.cluster.processes.status(name).running is Running.EXITED:
            self.cluster.processes.start(name)

    def down(self, name: str) -> None:
        """End it, if it runs. It may end by itself meanwhile."""
        if self.cluster.processes.status(name).running not in (Running.RUNNING, Running.PAUSED):
            return
        try:
            self.cluster.processes.kill(name)
        except CapabilityError:
            if self.cluster.processes.status(name).running is not Running.EXITED:
                raise

    def await_status(self, wanted: Callable[[ProcessStatus], bool], how: str) -> Evidence:
        """Poll the process table until all nodes are as wanted."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            found = {name: self.cluster.processes.status(name) for name in self.names}
            if (seen := from_outside(found)) is not None:
                return seen
            proven = all(map(wanted, found.values()))
            if proven or time.monotonic() > deadline:
                return Evidence(proven, how, measured(found), "" if proven else in_words(found))
            time.sleep(0.01)


def from_outside(found: Mapping[str, ProcessStatus]) -> Evidence | None:
    """Return how the states of nodes that run elsewhere were measured; None for processes of this machine."""
    seen = {name: status.seen for name, status in found.items() if status.seen is not None}
    if not seen:
        return None
    how = "; ".join(f"{name}, {evidence.how}" for name, evidence in seen.items())
    return Evidence(len(seen) == len(found), how, {name: dict(each.measured) for name, each in seen.items()})


def await_ready(cluster: Cluster, names: Sequence[str]) -> Evidence:
    """Wait until each answers requests, all from now on; the first that does not is the evidence against."""
    since = time.monotonic()
    for name in names:
        try:
            cluster.processes.await_ready(name, READY_TIMEOUT_S, since)
        except CapabilityError as error:
            return Evidence.against(str(error), measured({name: cluster.processes.status(name)}))
    return Evidence(True, "each answered a request", measured({n: cluster.processes.status(n) for n in names}))


class _Traits(TypedDict, total=False):
    stops_nodes: bool
    others_go_on: bool
    fragile: bool
    exclusive: bool
    needs_running_nodes: bool


def generated(
    parameters: FaultParameters,
    aim: Aim,
    title: str,
    *,
    heal_order: HealOrder = HealOrder.PROCESSES,
    **traits: Unpack[_Traits],
) -> GeneratedFault:
    """Return the generated fault of the processes that `aim` leads to."""
    return GeneratedFault(
        parameters=parameters,
        aim=aim,
        heal_order=heal_order,
        resources=aim.processes(),
        brokers=aim.away_brokers,
        quorum=aim.away_quorum,
        title=title,
        **traits,
    )


def in_words(found: Mapping[str, ProcessStatus]) -> str:
    """Describe the process table: `node-4 is running; node-5 is exited (exit code 1)`."""
    return "; ".join(
        f"{name} is {status.running.value}"
        + ("" if status.exit_code is None else f" ({exit_in_words(status.exit_code)})")
        for name, status in found.items()
    )


def life(status: ProcessStatus) -> Life:
    return status.pid, status.started


def measured(found: Mapping[str, ProcessStatus]) -> dict[str, object]:
    """For the journal."""
    return {
        name: {
            "running": status.running.value,
            "pid": status.pid,
            "started": status.started,
            "exit_code": status.exit_code,
        }
        for name, status in found.items()
    }
