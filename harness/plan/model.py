"""The plan of a run: cluster, work, steps and claims, with nothing left to chance.

Whatever is random was drawn when the plan was built; whatever depends on the target was resolved for it. The same
plan therefore asks the same questions again, on any machine.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.plan.base import Acks, Instant, Milliseconds, Name, PlanModel
from harness.plan.steps import Step

FORMAT = "fencepost-plan/1"
PREPARED_SECONDS = 0.02
"""For a replica that is there before its broker is."""


class Timing(PlanModel):
    """Protocol timeouts of the cluster, scaled down so that a story takes seconds. Milliseconds."""

    heartbeat_ms: Milliseconds = 300
    lease_ms: Milliseconds = 1500
    """After so long without a heartbeat the controller gives a broker up."""
    session_ms: Milliseconds = 1500
    """Of a session with ZooKeeper."""
    fence_ms: Milliseconds = 2500
    """After so long without an answer a broker fences itself, where it counts by itself (KIP-343); above `lease_ms`."""
    lag_ms: Milliseconds = 1500
    preferred_ms: Milliseconds = 300
    """How long a replica leaves an election to the preferred one, where replicas elect themselves."""
    election_ms: Milliseconds = 500
    fetch_ms: Milliseconds = 1000
    request_ms: Milliseconds = 500


class NodeSpec(PlanModel):
    """One process. `index` is its place in the address plan, `id` what it calls itself in the protocol."""

    name: Name
    id: Annotated[int, Field(ge=0)]
    index: Annotated[int, Field(ge=1, le=99)]
    roles: tuple[Literal["controller", "broker", "zookeeper"], ...]
    start: Literal["now", "later"] = "now"
    duplicate_of: str | None = None
    directory: Literal["empty", "cloned", "same"] = "empty"
    """Of a duplicate: what its log directory holds when it starts; `same`: it is the elder's own."""
    log_dirs: Annotated[int, Field(ge=1, le=9)] = 1
    disk: Literal["plain", "breakable"] = "plain"
    """`breakable`: its log directories are mounted, so that single operations on them can be made to fail."""
    level: Name | None = None
    """The protocol level that it starts at (`levels:` of the target file). None: the plan's."""
    clock: Literal["machine", "own"] = "machine"
    """`own`: its wall clock can be set wrong while it runs, by the faults `clock-…`."""


class Topology(PlanModel):
    nodes: tuple[NodeSpec, ...]
    sites: tuple[Name, ...] = ("main",)
    """Where clients are; each has links of its own to every broker."""
    controller: str | None = None
    """A broker that is started first and alone, so that it is elected; the others follow when it is."""


class TopicSpec(PlanModel):
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+$", max_length=249)]
    assignments: tuple[tuple[int, ...], ...]
    """For each partition the broker ids of its replicas, the preferred leader first."""
    config: dict[str, str] = Field(default_factory=dict)
    prepared: bool = False
    """It is in ZooKeeper before the first broker starts, in place of being created by request; for topics by the
    thousand. No broker is asked for its metadata. Of the design without controllers only."""


class ProducerSpec(PlanModel):
    name: Name
    topic: str
    acks: Acks = "all"
    idempotent: bool = True
    rate: Annotated[float, Field(gt=0)] = 200
    """Records a second."""
    size: Annotated[int, Field(ge=1)] = 100
    """Bytes of a value, as far as its unique part leaves room."""
    site: str = "main"


class ConsumerSpec(PlanModel):
    name: Name
    topic: str
    site: str = "main"


class WorkloadSpec(PlanModel):
    producers: tuple[ProducerSpec, ...] = ()
    consumers: tuple[ConsumerSpec, ...] = ()


class FaultProven(PlanModel):
    """The fault was seen to work."""

    that: Literal["proven"] = "proven"
    fault: str


class FaultMet(PlanModel):
    """A rule of a disk was met by operations of the node, as was told when it was healed: it broke what counts."""

    that: Literal["met"] = "met"
    fault: str


class Acknowledged(PlanModel):
    """At least so many records were acknowledged, of those sent between the two instants."""

    that: Literal["acknowledged"] = "acknowledged"
    at_least: Annotated[int, Field(ge=1)] = 1
    by: str | None = None
    """A producer, or a produce step. None: anybody."""
    acks: Acks | None = None
    after: Instant | None = None
    before: Instant | None = None


class Attempted(PlanModel):
    """At least so many records were sent between the two instants, whatever became of them."""

    that: Literal["attempted"] = "attempted"
    at_least: Annotated[int, Field(ge=1)] = 1
    by: str | None = None
    after: Instant | None = None
    before: Instant | None = None


class OutcomeSeen(PlanModel):
    """A probe step got this outcome at least once."""

    that: Literal["outcome"] = "outcome"
    step: str
    outcome: str


class StepDone(PlanModel):
    """The step ended as it should: nothing before it cut the story short."""

    that: Literal["done"] = "done"
    step: str


Coverage = Annotated[
    FaultProven | FaultMet | Acknowledged | Attempted | OutcomeSeen | StepDone,
    Field(discriminator="that"),
]


class Deviation(PlanModel):
    """A listed difference of the target that shows as a broken guarantee of the whole run, such as a lost record.

    Steps have their own `difference`; this is for the checkers that no step belongs to.
    """

    difference: str
    requirement: str
    level: Literal["must", "may"] = "must"
    """`must`: not seeing it is a violation, the list is out of date. `may`: a consequence that can show."""
    mechanism: Literal["cut-to-high-watermark", "refused-duplicate"] | None = None
    """If given, only what this can have done is put down to the difference (`harness.checkers.mechanisms`)."""


class Plan(PlanModel):
    """A whole plan; `harness.plan.check.problems` finds what no schema can."""

    format: Literal["fencepost-plan/1"] = "fencepost-plan/1"
    story: Name
    title: str
    document: str
    seed: int
    target: Annotated[str, Field(pattern=r"^[a-z0-9-]+(:[A-Za-z0-9._-]+)?$")]
    """`quorum`, or with a version `apache-kafka:4.3.1`."""
    requirements: tuple[str, ...] = ()
    """What this plan can prove."""
    level: Name | None = None
    """The protocol level of every node that names none (`levels:` of the target file). None: the target's own."""
    security: Literal["plaintext", "sasl"] = "plaintext"
    """`sasl`: brokers authenticate to each other as the super user `broker`; `alice` may do nothing."""
    timing: Timing = Timing()
    deadline_ms: Milliseconds = 120_000
    """For the whole run, start of the cluster included; missed: infrastructure."""
    topology: Topology
    topics: tuple[TopicSpec, ...] = ()
    workload: WorkloadSpec = WorkloadSpec()
    steps: tuple[Step, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    """What must be true of the journal for the verdict to mean anything; else inconclusive."""
    deviations: tuple[Deviation, ...] = ()
    """What checkers of the whole run are to find on this target in place of what the document promises."""

    def node(self, name: str) -> NodeSpec:
        """The node of that name; KeyError if there is none."""
        for node in self.topology.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    @property
    def prepared_topics(self) -> frozenset[str]:
        return frozenset(topic.name for topic in self.topics if topic.prepared)

    @property
    def prepared_seconds(self) -> float:
        """How much longer than usual a cluster may take with all that was prepared for it."""
        prepared = (replicas for topic in self.topics if topic.prepared for replicas in topic.assignments)
        return PREPARED_SECONDS * sum(map(len, prepared))

    def step_name(self, index: int) -> str:
        """A step's own name, or `step-07` by its place: what the journal calls it."""
        return self.steps[index].as_ or f"step-{index + 1:02}"
