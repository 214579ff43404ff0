"""Scenarios, the drafts of which their plans are made, and the decorators that declare them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

from fencepost.faults.capabilities import Capability
from fencepost.faults.registry import FAULTS
from fencepost.harness.backends import ELSEWHERE
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import (
    Coverage,
    Deviation,
    NodeSettings,
    Plan,
    StepDone,
    Timing,
    TopicSpec,
    Topology,
    WorkloadSpec,
)
from fencepost.harness.plan.needed_requests import needed_requests
from fencepost.harness.plan.security import SecurityName
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.outside import refusal
from fencepost.harness.targets.securing import impossible, with_security
from fencepost.suites.building import (
    WORKLOAD,
    owed,
    plain,
    proof,
    provable,
    retried,
    setup,
    teardown,
    workload_with_losses,
)
from fencepost.suites.clusters import promised_topic, replica_roles, scaled_timing, smallest_cluster
from fencepost.suites.expectations import expected_losses
from fencepost.suites.target_facts import (
    ALL_DESIGNS,
    ANY,
    LEADER_DRIVEN,
    SHIPPED_QUORUM,
    WITHOUT_ZOOKEEPER,
    ZOOKEEPER_MODE,
    TargetFacts,
)


@dataclass(frozen=True, repr=False)
class Scenario:
    """One requirement of a document, or a few that belong together, and how to build the plan that shows them.

    `needs` are capabilities that it requires of a target beside those of the faults that it injects. `seconds` is about
    how long it runs on the reference cluster: a suite starts with the longest. `levels` are protocol levels: the plan
    takes the first that the target has; without any, the target's own.
    """

    slug: str
    title: str
    seconds: int
    build: Callable[[Draft], Plan]
    requirements: tuple[str, ...] = ()
    """Those that it shows beside the claims of its steps: what a checker judges in every run of a design."""
    needs: frozenset[Capability] = frozenset()
    document: str = "KIP-631"
    dialects: frozenset[Dialect] = WITHOUT_ZOOKEEPER
    levels: tuple[str, ...] = ()
    releases: int = 1
    """The number of releases that the target needs: 2 for an upgrade from one to the other."""
    workloads: frozenset[str] = frozenset()
    """The kinds of clients that a target has to serve (`workloads:` of the target file)."""
    features: frozenset[str] = frozenset()
    """The features that the target's release has to have (`features:` of the target file)."""
    services: bool = False
    """It is about the services beside the brokers (`services:` of the target file)."""
    front_ends: bool = False
    """It is about front ends that share an id (`brokers: front_ends:` of the target file)."""

    def __repr__(self) -> str:
        """Return the slug: Allure tells the histories of tests apart by it, so it must be short and never change."""
        return self.slug

    def applies_to(self, target: TargetFacts) -> bool:
        """Return True if the scenario's document describes the target's design, at a level that the target has.

        The target has to have as many releases, and the features and services, as the scenario is about.
        """
        at_some_level = not (self.levels and target.levels) or self.level(target) is not None
        has_features = not any(map(target.lacks, self.features))
        return (
            target.dialect in self.dialects
            and at_some_level
            and has_features
            and len(target.releases) >= self.releases
            and (bool(target.services) or not self.services)
            and (target.front_ends > 1 or not self.front_ends)
        )

    def level(self, target: TargetFacts) -> str | None:
        """Return the level that nodes are started at, or None for the target's own."""
        return next((level for level in self.levels if level in target.levels), None)

    def plan(self, target: TargetFacts, seed: int) -> Plan:
        """Return the plan. It depends on nothing but the target and the seed."""
        return self.build(Draft(self, target, seed))

    def capabilities(self, target: TargetFacts) -> frozenset[Capability]:
        """Return what the target has to be capable of: what the faults of the plan need, and `needs`."""
        injects = (step for step in self.plan(target, 0).steps if isinstance(step, InjectStep))
        return self.needs | {FAULTS[step.fault].capability for step in injects}

    def unavailable_reason(self, target: TargetFacts, backend: str | None = None) -> str | None:
        """Return why the scenario cannot run on this target, or None.

        With a backend, ask also what that backend lacks on this machine.
        """
        needs = sorted(self.capabilities(target), key=lambda capability: capability.value)
        missing = [capability.value for capability in needs if capability not in target.capabilities]
        if missing:
            return f"{target.reference} is not capable of {', '.join(missing)}"
        plan = self.plan(target, 0)
        injected = (step.fault for step in plan.steps if isinstance(step, InjectStep))
        if unpromised := next(filter(None, map(target.promises.unpromised, injected)), None):
            return f"{target.reference}: {unpromised}"
        if reason := impossible(with_security(plan, target.security)):
            return f"{target.reference}: {reason}"
        if unserved := sorted(self.workloads - target.workloads):
            return f"{target.reference} serves no {', '.join(unserved)} (`workloads` of its target file)"
        if target.running is not None and (reason := refusal(plan, target.running)) is not None:
            return f"{target.reference} runs elsewhere: {reason}"
        needed = needed_requests(plan, topics_by_use=target.topics_by_use)
        if without := next((pair for pair in needed if pair[0] in target.missing_requests), None):
            return f"{target.reference} lacks the request {without[0]}, which {without[1]} needs"
        backend = backend and (backend if target.running is None else ELSEWHERE)
        reasons = (unavailable_reason(backend, capability) for capability in needs) if backend else ()
        return next((reason for reason in reasons if reason is not None), None)


@dataclass(frozen=True)
class Draft:
    """All that a plan is made from: the scenario, the target, the seed, and the times that the scenario chooses."""

    scenario: Scenario
    target: TargetFacts
    seed: int
    times: Mapping[str, int] = field(default_factory=dict)

    @property
    def roles(self) -> list[str]:
        """The three brokers in the order of the topic's replicas, the leader first: all that the seed decides.

        Unless a topology says otherwise, the last broker is the controller in ZooKeeper mode.
        """
        return replica_roles(self.scenario.slug, self.seed, self.target.brokers)

    @property
    def leader(self) -> str:
        """The broker that leads the topic."""
        return self.roles[0]

    @property
    def timing(self) -> Timing:
        """The timeouts of the cluster."""
        return scaled_timing(self.target, **self.times)

    def timed(self, *, session_ms: int | None = None, **times: int) -> Draft:
        """Return the draft with these timeouts, in milliseconds before the target's factor applies."""
        session = {} if session_ms is None else {"session_ms": session_ms}
        return replace(self, times={**self.times, **session, **times})

    def plan(
        self,
        steps: Sequence[Step],
        *coverage: Coverage | str,
        afterwards: Sequence[Step] = (),
        framed: bool = True,
        topics: Sequence[TopicSpec] | None = None,
        deviations: Sequence[Deviation] = (),
        topology: Topology | None = None,
        workload: WorkloadSpec | None = WORKLOAD,
        may_lose: bool = False,
        security: SecurityName = "plaintext",
        settings: NodeSettings | None = None,
    ) -> Plan:
        """Return the plan. A pass needs the proof of each fault that the steps inject, and then `coverage`.

        A step's name among `coverage` requires that the run got to its end.

        Before the steps the first topic gets its leader, and the workload is started if it produces to that topic;
        after them the cluster is healed and whole, and such a workload stopped. `afterwards` are steps that come last.
        `framed=False`: the steps are all that there are.

        Without topics it has the topic `t` on all three brokers, without a topology the smallest cluster of the
        target's design. `workload=None`: no clients. `may_lose`: a target that lists the loss of acknowledged records
        may show it here.
        """
        target, workload = self.target, workload or WorkloadSpec()
        if may_lose:
            workload, deviations = workload_with_losses(target), expected_losses(target, "may")
        topics = [promised_topic(target, self.roles)] if topics is None else topics
        if framed:
            work = any(producer.topic == topics[0].name for producer in workload.producers)
            steps = [*setup(topics[0], target, work=work), *steps, *teardown(work=work), *afterwards]
        proofs = [proof(step) for step in steps if isinstance(step, InjectStep)]
        steps = [owed(step, target) for step in steps]
        if target.lacks("idempotence"):
            steps, workload = [retried(step) for step in steps], plain(workload)
        return Plan(
            scenario=self.scenario.slug,
            title=self.scenario.title,
            document=self.scenario.document,
            seed=self.seed,
            target=target.reference,
            requirements=provable(self.scenario.requirements, target, steps, deviations, workload),
            level=self.scenario.level(target),
            security=security,
            timing=self.timing,
            settings=settings,
            topology=topology or smallest_cluster(target, self.roles[-1]),
            topics=tuple(topics),
            workload=workload,
            steps=tuple(steps),
            coverage=(*proofs, *(StepDone(step=part) if isinstance(part, str) else part for part in coverage)),
            deviations=tuple(deviations),
        )


_Build = TypeVar("_Build", bound=Callable[..., Plan])
_DECLARED: defaultdict[str, dict[str, Scenario]] = defaultdict(dict)
"""The scenarios that each module declares, by their slugs."""


def scenario(
    slug: str,
    title: str,
    *given: object,
    seconds: int,
    requirements: tuple[str, ...] = (),
    document: str = "KIP-631",
    needs: Iterable[Capability] = (),
    dialects: frozenset[Dialect] = WITHOUT_ZOOKEEPER,
    levels: tuple[str, ...] = (),
    releases: int = 1,
    workloads: Iterable[str] = (),
    features: Iterable[str] = (),
    services: bool = False,
    front_ends: bool = False,
) -> Callable[[_Build], _Build]:
    """Declare the decorated function, which makes a plan of a draft, as a scenario.

    Before the draft the function gets `given`: a function that several scenarios share is decorated for each. All else
    is as in `Scenario`.
    """

    def declared(build: _Build) -> _Build:
        _DECLARED[build.__module__][slug] = Scenario(
            slug=slug,
            title=title,
            seconds=seconds,
            build=partial(build, *given),
            requirements=requirements,
            document=document,
            needs=frozenset(needs),
            dialects=dialects,
            levels=levels,
            releases=releases,
            workloads=frozenset(workloads),
            features=frozenset(features),
            services=services,
            front_ends=front_ends,
        )
        return build

    return declared


def declared_in(name: str) -> tuple[Scenario, ...]:
    """Return the scenarios of a module or, of a package, those of all its modules, which are imported."""
    module = import_module(name)
    modules = iter_modules(getattr(module, "__path__", ()), f"{name}.")
    return (*_DECLARED[name].values(), *(declared for part in modules for declared in declared_in(part.name)))


HEARTBEATS = ("heartbeats",)
"""The level of KIP-343."""
HEARTBEATS_OR_SHIPPED = ("heartbeats", "shipped")
"""The level of KIP-343; for a target that does not have it, the one that it ships instead."""
REPLICA_EVENTS = ("replica-events",)
"""The level of ReplicaStateEvent."""
REPLICA_EVENTS_OR_SHIPPED = ("replica-events", "shipped")
"""The level of ReplicaStateEvent; for a target that does not have it, the one that it ships instead."""
PLAIN = ("plain",)
"""The level of Replication design V2 at which leadership does not return to the preferred replica."""
DYNAMIC = "dynamic"
"""The level of Apache Kafka at which the metadata log holds the voters, and requests add and remove them."""
REPLICATION_V2 = "Replication design V2"

internals_scenario = partial(scenario, document="Kafka Internals (2017)", dialects=ZOOKEEPER_MODE)
kip_343_scenario = partial(scenario, document="KIP-343", dialects=ZOOKEEPER_MODE, levels=HEARTBEATS)
replica_state_event_scenario = partial(
    scenario, document="ReplicaStateEvent", dialects=ZOOKEEPER_MODE, levels=REPLICA_EVENTS
)
kraft_scenario = partial(scenario, dialects=SHIPPED_QUORUM)
"""A scenario of Apache Kafka without ZooKeeper, for the KIP that `document` names."""
replication_v2_scenario = partial(scenario, document=REPLICATION_V2, dialects=LEADER_DRIVEN, levels=PLAIN)
fault_scenario = partial(scenario, document="Faults", dialects=ALL_DESIGNS)
"""One fault, or a few together, on every design that can be broken so."""
any_scenario = partial(scenario, document="Faults", dialects=ANY)
"""A duty of every broker to its clients, whatever is behind it."""
