"""The base of all operations."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from fencepost.harness.campaign.cluster_spec import ClusterSpec
from fencepost.harness.campaign.features import FeatureKind, Move
from fencepost.harness.campaign.topics import ScriptTopic
from fencepost.harness.plan.base import ExpectOutcome, Level
from fencepost.harness.plan.needed_requests import requests_of
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.produce import Produce

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

SERVED_WITHIN_MS = 10_000
"""The bound of an answer that a plan claims, on the reference cluster: as `LIVENESS_TIMEOUT_MS`, far above the need."""
ANSWERED_WITHIN_MS = 3_000
"""The time that a request has while something is broken; nothing is claimed then."""
WRITTEN_WITHIN_MS = 2_000
RECORDS = 10
IN_BACKGROUND = 0.4
"""The fraction of unclaimed requests that the next step does not wait for."""


Request = TypeVar("Request", bound=ProbeStep)


@dataclass(frozen=True)
class GeneratedOperation:
    """One operation of a random plan: its steps, and the state of the topics after them."""

    title: str
    steps: tuple[Step, ...]
    topics: tuple[ScriptTopic, ...] = ()
    """The topics that it changed, as they are then. A topic that is new comes into being."""
    unsettles: bool = False
    """Replicas or leaders move: the cluster has to become whole again before anything counts on it."""
    cluster: ClusterSpec | None = None
    """The cluster as it is then, where the operation changes its own topics."""


ON_A_WHOLE_CLUSTER = 0.4
"""The fraction of operations that first await a whole cluster, where no fault holds."""


@dataclass(frozen=True)
class Asked:
    """The way in which a request is sent: to this node, with or without a claim."""

    node: str
    timeout_ms: int
    background: bool = False
    expect: ExpectOutcome | None = None

    def send(self, probe: Request) -> Request:
        """Return the probe as it is sent in this way."""
        return probe.model_copy(update=vars(self))


class Operation(Move):
    """One request of an administrator, or a few that belong together.

    Each request goes to one broker, which forwards it where the design has it forwarded. It is claimed to be served
    (LIVE-04) if nothing is broken, the cluster is whole, and it is certain what the request finds.
    """

    kind = FeatureKind.OPERATION
    at_end: bool = False
    """A plan that has the operation ends with it, too, when all is healed: it asks something, or costs nothing."""
    of_whole_clusters: bool = False
    """Claims are all that it is for, so that it has no place while something is broken."""

    def add(self, script: Script) -> str | None:
        if not (script.held or script.undisturbed) and script.rng.random() < ON_A_WHOLE_CLUSTER:
            script.await_whole()
        operation = self.generate(script.rng, script) if script.undisturbed or not self.of_whole_clusters else None
        if operation is None or script.cluster.target.without_request(_needed(operation)) is not None:
            return None
        script.operate(operation)
        return operation.title

    def prepare(self, script: Script) -> None:
        """Add what the operation needs to find, while nothing is broken."""

    @abstractmethod
    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation | None:
        """Return a random operation of this kind for the script as it is; None if it has nothing to do."""


def _needed(operation: GeneratedOperation) -> Iterator[tuple[str, str]]:
    return ((request, operation.title) for step in operation.steps for request in requests_of(step))


def asked(rng: random.Random, script: Script, *, certain: bool = True, of_any: bool = False) -> Asked:
    """Return how the next request is sent. `certain`: it is known to be legal for what it finds. `of_any`: any broker
    answers it, also where administration is the controller's."""
    factor = script.cluster.target.timeout_factor
    to_controller = script.cluster.only_controller_administers and not of_any
    if script.undisturbed and certain:
        served = ExpectOutcome(level=Level.MUST, requirement="LIVE-04", outcome="served")
        node = "active-controller" if to_controller else rng.choice(script.cluster.brokers)
        return Asked(node, SERVED_WITHIN_MS * factor, expect=served)
    if to_controller:  # there may be none: a request that is not waited for does not end the scenario over that
        return Asked("active-controller", ANSWERED_WITHIN_MS * factor, background=True)
    spared = [broker for broker in script.cluster.brokers if broker not in script.named_by_held]
    node = rng.choice(spared if spared and rng.random() < 0.7 else script.cluster.brokers)
    return Asked(node, ANSWERED_WITHIN_MS * factor, background=rng.random() < IN_BACKGROUND)


def written(script: Script, topic: ScriptTopic, partition: int, size: int = 1) -> Produce:
    """Return a burst of records to a topic. They are promised for as long as the topic lives."""
    return Produce(
        as_=script.name("write"),
        topic=topic.name,
        partition=partition,
        records=RECORDS if size == 1 else 1,
        size=size,
        acks="all",
        timeout_ms=WRITTEN_WITHIN_MS * script.cluster.target.timeout_factor,
    )


def short(name: str) -> str:
    """Return a topic's name as a title has it."""
    return name if len(name) <= 20 else f"{name[:12]}… of {len(name)} characters"
