"""The fixtures `fencepost_cluster`, `fencepost_faults` and `fencepost_workload`: a cluster in the hands of a test.

Each call is a step of the run's plan, journalled and judged as the step of a scenario. Nodes are named as in plans:
`node-4`, `leader:t-0`, `followers:t-0`, `brokers`, `controllers`, `active-controller`, `zookeeper`. Times are seconds
here, and milliseconds in keys that end with `_ms`.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from fencepost.harness.catalogue import catalogue, describe
from fencepost.harness.conformance.live_run import LiveRun, StepFailed, in_words
from fencepost.harness.engine.errors import StepError
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.base import Expect, Level, PlanModel
from fencepost.harness.plan.conditions import Await
from fencepost.harness.plan.conditions.workload_acks import WorkloadAcks
from fencepost.harness.plan.injects import STEPS
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.heal_all import HealAll
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.plan.steps.shutdown import Shutdown
from fencepost.harness.plan.steps.start import Start
from fencepost.harness.plan.steps.workload import Workload

_AWAIT: TypeAdapter[Any] = TypeAdapter(Await)
StepOfKind = TypeVar("StepOfKind", bound=PlanModel)
TIMEOUT_S = 30.0
"""Seconds until a condition must hold, far above what any machine needs."""


class LiveCluster:
    """A running cluster. It ends with the test, and then its run is judged."""

    def __init__(self, run: LiveRun) -> None:
        self.run = run
        self._numbers = itertools.count(1)

    @property
    def bootstrap(self) -> str:
        """Return `host:port,…` for a client of your own.

        Let it write to topics of its own: what it writes to the topics of the workload is not in the run's history.
        """
        return self.run.context.cluster.bootstrap()

    @property
    def target(self) -> str:
        """Return name and version of what runs: `apache-kafka:4.4.0`."""
        return self.run.plan.target

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the names of all nodes."""
        return tuple(node.name for node in self.run.plan.topology.nodes)

    @property
    def brokers(self) -> tuple[str, ...]:
        """Return the names of the brokers, without duplicates."""
        nodes = self.run.plan.topology.nodes
        return tuple(node.name for node in nodes if "broker" in node.roles and node.duplicate_of is None)

    @property
    def folder(self) -> Path:
        """Return the run folder: the nodes' logs and directories, the journal, in the end verdict and report."""
        return self.run.folder.path

    def log(self, node: str) -> Path:
        """Return the path of a node's log."""
        return self.run.folder.logs / f"{node}.log"

    def node(self, reference: str) -> str:
        """Return the one node that a reference means now: `leader:t-0`. Raise LookupError if there is none."""
        __tracebackhide__ = True
        try:
            return self.run.context.references.node(reference)
        except StepError as error:
            message = str(error)
        raise LookupError(message)

    def leader(self, partition: str = "t-0") -> str:
        """Return the leader of a partition now. Raise LookupError if it has none."""
        __tracebackhide__ = True
        return self.node(f"leader:{partition}")

    def isr(self, partition: str = "t-0") -> frozenset[str]:
        """Return the nodes that are in sync now, as was decided. Raise LookupError for an unknown partition."""
        __tracebackhide__ = True
        try:
            ids = self.run.context.references.partition_entry(partition).isr
        except StepError as error:
            message = str(error)
        else:
            return frozenset(name for name in self.brokers if self.run.plan.node(name).id in ids)
        raise LookupError(message)

    def wait_until(
        self, condition: str, *, within: float = TIMEOUT_S, must: str | None = None, as_: str | None = None, **keys: Any
    ) -> None:
        """Wait until a condition of plans holds: `wait_until("leader", partition="t-0", is_not="node-4")`.

        `must` is the id of the requirement that says that it has to: then it is a violation if it does not. Raise
        StepFailed if the condition does not hold in time, UsageError if there is no such condition.
        """
        __tracebackhide__ = True
        data = {
            "do": "await",
            "as": as_ or self._name(condition),
            "condition": condition,
            "within_ms": round(within * 1000),
            "expect": _claim(must),
            **keys,
        }
        self.perform(_valid(lambda: _AWAIT.validate_python(data), f"the condition {condition!r}"))

    def start(self, *nodes: str, until: Literal["running", "ready"] = "ready") -> None:
        """Start nodes that were shut down, or wait to be started. Continue once they run, or answer requests."""
        __tracebackhide__ = True
        self.perform(Start(as_=self._name("start"), nodes=nodes, until=until))

    def shut_down(self, *nodes: str, within: float = TIMEOUT_S) -> None:
        """End nodes by SIGTERM, as an operator does, and wait until they have ended."""
        __tracebackhide__ = True
        self.perform(Shutdown(as_=self._name("shutdown"), nodes=nodes, within_ms=round(within * 1000)))

    def perform(self, step: Step) -> Mapping[str, Any]:
        """Perform any step of a plan, and return the data of its end.

        `fencepost.suites.vocabulary` has all steps. Raise StepFailed if it cannot be done.
        """
        __tracebackhide__ = True
        return self.run.perform(step)

    def _name(self, kind: str) -> str:
        return f"{kind}-{next(self._numbers)}"


@dataclass(frozen=True)
class InjectedFault:
    """A fault in effect. As a context manager it is healed at the end of the block.

    `how` says how its effect was proven.
    """

    faults: LiveFaults
    name: str
    how: str

    def heal(self) -> None:
        """Heal the fault, and prove that it is gone. Raise StepFailed if it is not."""
        __tracebackhide__ = True
        self.faults.heal(self.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        __tracebackhide__ = True
        if error is None:  # else the end of the run heals it
            self.heal()


class LiveFaults:
    """Injects and heals faults, each with a proof of its effect."""

    def __init__(self, cluster: LiveCluster) -> None:
        self._cluster = cluster
        self._run = cluster.run
        self._numbers = itertools.count(1)

    def inject(self, fault: str, *, as_: str | None = None, **parameters: Any) -> InjectedFault:
        """Inject a fault and prove its effect: `inject("cut", from_="node-4", to="controllers")`.

        `fencepost faults` lists all faults with their parameters. Raise StepFailed if it shows no effect, UsageError
        for an unknown fault or a wrong parameter.
        """
        __tracebackhide__ = True
        if fault not in STEPS:
            near = difflib.get_close_matches(fault, STEPS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the faults are {', '.join(STEPS)}"
            raise UsageError(f"no fault is called {fault!r}: {hint}")
        name = as_ or f"{fault}-{next(self._numbers)}"
        data = {"do": "inject", "as": name, "fault": fault, **parameters}
        done = self._cluster.perform(_valid(lambda: STEPS[fault].model_validate(data), f"the fault {fault!r}"))
        return InjectedFault(self, name, str(done["how"]))

    def heal(self, name: str | None = None) -> None:
        """Heal one fault, or all, and prove that it is gone. Raise StepFailed if it is not."""
        __tracebackhide__ = True
        if name is not None and name not in self.active:
            raise UsageError(f"no fault is called {name!r}: the active faults are {', '.join(self.active) or 'none'}")
        number = next(self._numbers)
        self._cluster.perform(HealAll(as_=f"heal-{number}") if name is None else Heal(as_=f"heal-{number}", fault=name))

    @property
    def active(self) -> tuple[str, ...]:
        """Return the names of the faults that are in effect."""
        return tuple(self._run.context.active_faults.by_name)


class LiveWorkload:
    """A producer at acks=all, `p1`, and a consumer, `c1`, of the topic `t`. Their history is judged with the run."""

    def __init__(self, cluster: LiveCluster) -> None:
        self._cluster = cluster
        self._run = cluster.run
        self._numbers = itertools.count(1)

    def start(self, *, acknowledged: int = 20) -> None:
        """Start the clients, and wait until so many records are acknowledged."""
        __tracebackhide__ = True
        if not self._run.plan.workload.producers:
            raise UsageError("the plan has no producer: give it a workload in the fixture fencepost_plan")
        self._cluster.perform(Workload(as_=self._name("work"), action="start"))
        self.wait_for(acknowledged)

    def stop(self) -> None:
        """Stop the clients, the producer after its last reports."""
        __tracebackhide__ = True
        self._cluster.perform(Workload(as_=self._name("stop-work"), action="stop"))

    def wait_for(self, more: int = 20, *, within: float = TIMEOUT_S, must: str | None = None) -> None:
        """Wait until so many more records are acknowledged.

        `must` is the id of the requirement that says that they have to be. Raise StepFailed if they are not in time.
        """
        __tracebackhide__ = True
        self._cluster.perform(
            WorkloadAcks(as_=self._name("acks"), more=more, within_ms=round(within * 1000), expect=_claim(must))
        )

    @property
    def acknowledged(self) -> int:
        """Return the number of records that were acknowledged so far."""
        return self._run.context.clients.workload.acked()

    def produce(self, records: int = 1, *, partition: int = 0, acks: Literal[0, 1, "all"] = "all") -> int:
        """Send a burst of records, and return how many were acknowledged. They are judged as all others."""
        __tracebackhide__ = True
        if not (topics := self._run.plan.topics):
            raise UsageError("the plan has no topic: give it one in the fixture fencepost_plan")
        step = Produce(as_=self._name("produce"), topic=topics[0].name, partition=partition, records=records, acks=acks)
        return int(self._cluster.perform(step)["acknowledged"])

    def _name(self, kind: str) -> str:
        return f"{kind}-{next(self._numbers)}"


def _claim(requirement: str | None) -> Expect | None:
    """Return the claim of a requirement. Raise UsageError if no installed catalogue has it: nothing would be said."""
    __tracebackhide__ = True
    if requirement is None:
        return None
    if describe(requirement) is None:
        near = difflib.get_close_matches(requirement, catalogue().rows, n=1)
        hint = f"did you mean {near[0]}?" if near else "name the catalogue that has it in the target file"
        raise UsageError(f"no installed catalogue has the requirement {requirement!r}: {hint}")
    return Expect(level=Level.MUST, requirement=requirement)


def _valid(build: Callable[[], StepOfKind], what: str) -> StepOfKind:
    """Return the step, or raise UsageError with a message for each wrong key."""
    __tracebackhide__ = True
    try:
        return build()
    except ValidationError as error:
        message = in_words(error)
    raise UsageError(f"{what} cannot be used so: {message}")


__all__ = ["InjectedFault", "LiveCluster", "LiveFaults", "LiveWorkload", "StepFailed"]
