"""The plan of a run: cluster, work, steps and claims, with nothing left to chance.

Random choices were made when the plan was built, and everything that depends on the target was resolved for it. The
same plan therefore sends the same requests again, on any machine.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fencepost.harness.plan.base import (
    Acks,
    Instant,
    Milliseconds,
    Name,
    PlanModel,
    SettingKey,
    SettingValue,
    release_range,
)
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.sampled import HUGE
from fencepost.harness.plan.security import PlannedSecurity, Security, spelled_out
from fencepost.harness.plan.steps import Step
from fencepost.results.records.formats import PLAN_FORMAT

PREPARED_SECONDS = 0.02
"""Extra time to start a broker, for each replica of a prepared topic."""


class Timing(PlanModel):
    """Protocol timeouts of the cluster, scaled down so that a scenario takes seconds. Milliseconds."""

    heartbeat_ms: Milliseconds = 300
    lease_ms: Milliseconds = 1500
    """Time without a heartbeat after which the controller fences a broker."""
    session_ms: Milliseconds = 1500
    """Timeout of a ZooKeeper session."""
    fence_ms: Milliseconds = 2500
    """Time without a response after which a broker fences itself (KIP-343); longer than `lease_ms`."""
    lag_ms: Milliseconds = 1500
    preferred_ms: Milliseconds = 300
    """Time for which other replicas leave an election to the preferred one, in the leader-driven design."""
    election_ms: Milliseconds = 500
    fetch_ms: Milliseconds = 1000
    request_ms: Milliseconds = 500


class NodeSpec(PlanModel):
    """One process. `index` is its place in the address plan, `id` its id in the protocol."""

    name: Name
    id: Annotated[int, Field(ge=0)]
    index: Annotated[int, Field(ge=1, le=99)]
    roles: tuple[Literal["controller", "broker", "zookeeper", "service"], ...]
    controller_id: Annotated[int, Field(ge=0)] | None = None
    """The id of the controller in a process that is a broker as well; `id` is then that of the broker."""
    start: Literal["now", "later"] = "now"
    duplicate_of: str | None = None
    front_end_of: str | None = None
    """The broker of which it is a further front end: it starts with it and serves as it does, under the same id."""
    directory: Literal["empty", "cloned", "same"] = "empty"
    """The log directory with which a duplicate starts; `same`: the directory of the original itself."""
    log_dirs: Annotated[int, Field(ge=1, le=9)] = 1
    disk: Literal["plain", "breakable"] = "plain"
    """`breakable`: its log directories are FUSE mounts, so that faults can make single operations fail."""
    level: Name | None = None
    """The protocol level at which it starts (`levels:` of the target file). None: the level of the plan."""
    clock: Literal["machine", "own"] = "machine"
    """`own`: the faults `clock-…` can change its wall clock while it runs."""
    rack: Name | None = None
    """The rack of a broker (`broker.rack`)."""
    settings: dict[SettingKey, SettingValue | None] = Field(default_factory=dict)
    """Configuration keys of this node alone, which win over all others; null leaves a key out. `{address}` stands for
    the node's own address."""

    @property
    def is_original(self) -> bool:
        """True for the process that stands for its id: no duplicate, and no further front end."""
        return self.duplicate_of is None and self.front_end_of is None

    @property
    def quorum_id(self) -> int:
        """The id of the node as a controller."""
        return self.id if self.controller_id is None else self.controller_id


class Topology(PlanModel):
    nodes: tuple[NodeSpec, ...]
    sites: tuple[Name, ...] = ("main",)
    """Places of clients; each has its own links to every broker. Brokers advertise their addresses at `main`, so a
    client of another site asks there for its first metadata, and goes on by the links of `main`: only those can break.
    """
    controller: str | None = None
    """A broker that starts first and alone, so that it is elected controller; then the others start."""


class TopicSpec(PlanModel):
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+$", max_length=249)]
    assignments: tuple[tuple[int, ...], ...]
    """For each partition the broker ids of its replicas, the preferred leader first."""
    config: dict[str, str] = Field(default_factory=dict)
    prepared: bool = False
    """Write the topic into ZooKeeper before the first broker starts, instead of creating it by request. Meant for
    thousands of topics: brokers are not asked for its metadata. Only in the leader-driven design."""


class ProducerSpec(PlanModel):
    name: Name
    topic: str
    acks: Acks = "all"
    idempotent: bool = True
    rate: Annotated[float, Field(gt=0)] = 200
    """Records a second."""
    size: Annotated[int, Field(ge=1)] = 100
    """Bytes of a value, unless its unique part is longer."""
    site: str = "main"
    in_flight: Annotated[int, Field(ge=1)] | None = None
    """Records that may be without an answer at a time: 1 waits for each. None: as many as the client takes."""
    transactions: TransactionSpec | None = None
    """Send in transactions. The producer is then idempotent, at acks=all."""
    start: Literal["later"] | None = None
    """`later`: only a workload step that names it starts it. None: it starts with the workload."""

    @property
    def transactional_id(self) -> str | None:
        return None if self.transactions is None else self.transactions.id or self.name


class TransactionSpec(PlanModel):
    """The transactions of a producer, one after the other. Each sends to all partitions of the topic in turn."""

    id: Name | None = None
    """The transactional id. Of two producers with one id, the one that starts later fences the other. None: the
    producer's name."""
    records: Annotated[int, Field(ge=1)] = 20
    """Records of one transaction."""
    abort_every: Annotated[int, Field(ge=2)] | None = None
    """Abort each transaction of this number in place of a commit: of 3, the third, the sixth and so on. None: none."""
    timeout_ms: Milliseconds = 10_000
    """Time after which the coordinator aborts a transaction whose producer is silent."""
    group: Name | None = None
    """A group of which each transaction commits an offset of the topic's first partition: its number, counted from 1.
    The offset counts if the transaction is committed (sendOffsetsToTransaction)."""
    sleeps: bool = False
    """Sleep once before the end of a transaction, when a second producer of the id was started, until that one has
    begun, and ask for the commit then: as a process in a long pause, which does not know that it is fenced."""


class MembershipSpec(PlanModel):
    """The membership of a consumer in a group, which assigns partitions to it and keeps its committed offsets."""

    group: Name
    commit: Literal["sync", "async"] = "sync"
    """`sync`: wait for the answer to each commit before more is read."""
    static: bool = False
    """Take part as a static member (KIP-345), whose instance id is the consumer's name."""
    strategy: Literal["range", "roundrobin", "cooperative-sticky", "uniform"] = "range"
    """`uniform` is an assignor of brokers, `roundrobin` and `cooperative-sticky` are of members; `range` is of both."""
    session_ms: Milliseconds = 6000
    """Time after which the coordinator removes a silent member. With the protocol `consumer` brokers have it."""
    protocol: Literal["classic", "consumer"] = "classic"
    """`consumer`: the coordinator assigns the partitions (KIP-848)."""

    @property
    def incremental(self) -> bool:
        """Return whether a rebalance leaves a member those partitions that it keeps."""
        return self.protocol == "consumer" or self.strategy == "cooperative-sticky"


class ConsumerSpec(PlanModel):
    name: Name
    topic: str
    site: str = "main"
    membership: MembershipSpec | None = None
    """None: it reads all partitions from their beginning, and commits nothing."""
    isolation: Literal["read_uncommitted"] | None = None
    """`read_uncommitted`: records of open and aborted transactions, too. None: read_committed."""
    start: Literal["later"] | None = None
    """`later`: only a workload step that names it starts it. None: it starts with the workload."""
    rack: Name | None = None
    """It reads from replicas in this rack where brokers let it (`client.rack`). None: from leaders."""


class WorkloadSpec(PlanModel):
    producers: tuple[ProducerSpec, ...] = ()
    consumers: tuple[ConsumerSpec, ...] = ()


class FaultProven(PlanModel):
    """The fault was proven to take effect."""

    that: Literal["proven"] = "proven"
    fault: str


class FaultMet(PlanModel):
    """Operations of the node met the rule of a disk fault, as its healing reported: the fault did break something."""

    that: Literal["met"] = "met"
    fault: str


class Acknowledged(PlanModel):
    """At least this many records sent between the two instants were acknowledged."""

    that: Literal["acknowledged"] = "acknowledged"
    at_least: Annotated[int, Field(ge=1)] = 1
    by: str | None = None
    """A producer, or a produce step. None: all of them."""
    acks: Acks | None = None
    after: Instant | None = None
    before: Instant | None = None


class Attempted(PlanModel):
    """At least this many records were sent between the two instants, acknowledged or not."""

    that: Literal["attempted"] = "attempted"
    at_least: Annotated[int, Field(ge=1)] = 1
    by: str | None = None
    after: Instant | None = None
    before: Instant | None = None


class Committed(PlanModel):
    """At least so many commits, invoked between the two instants, were acknowledged."""

    that: Literal["committed"] = "committed"
    what: Literal["transactions", "offsets"]
    """Commits of transactions, or of the offsets of groups."""
    at_least: Annotated[int, Field(ge=1)] = 1
    by: str | None = None
    """A producer or a member. None: all of them."""
    after: Instant | None = None
    before: Instant | None = None


class OutcomeSeen(PlanModel):
    """A probe step got this outcome at least once."""

    that: Literal["outcome"] = "outcome"
    step: str
    outcome: str


class StepDone(PlanModel):
    """The step ended as planned: no earlier step cut the scenario short."""

    that: Literal["done"] = "done"
    step: str


Coverage = Annotated[
    FaultProven | FaultMet | Acknowledged | Attempted | Committed | OutcomeSeen | StepDone,
    Field(discriminator="that"),
]


class Deviation(PlanModel):
    """A listed difference of the target that shows as a broken guarantee of the whole run, such as a lost record.

    Steps have their own `difference`; this is for the checkers that no step belongs to.
    """

    difference: str
    requirement: str
    level: Literal["must", "may"] = "must"
    """`must`: a run that does not show it is a violation, because the list is out of date. `may`: it can show."""
    mechanism: Literal["cut-to-high-watermark", "refused-duplicate"] | None = None
    """If given, only findings that this mechanism can explain count as the difference (checkers/mechanisms.py)."""
    says: str | None = None
    """If given, only findings whose message has this text count as the difference."""


class NodeSettings(PlanModel):
    """Configuration keys of nodes by role. They win over those of the target file; the values are texts."""

    all: dict[SettingKey, SettingValue] = Field(default_factory=dict)
    controller: dict[SettingKey, SettingValue] = Field(default_factory=dict)
    broker: dict[SettingKey, SettingValue] = Field(default_factory=dict)

    def of(self, *, controller: bool, broker: bool) -> dict[str, str]:
        """Return the settings of a node with these roles; a ZooKeeper server, which has neither, gets none."""
        if not (controller or broker):
            return {}
        return self.all | (self.controller if controller else {}) | (self.broker if broker else {})


class Plan(PlanModel):
    """A complete plan. `fencepost.harness.plan.checks.problems` finds the mistakes that a schema cannot."""

    format: Literal["fencepost-plan/2"] = PLAN_FORMAT
    scenario: Name
    title: str
    document: str
    seed: int
    target: Annotated[str, Field(pattern=r"^[a-z0-9-]+(:[A-Za-z0-9._-]+)?$")]
    """`quorum`, or with a version `apache-kafka:4.4.0`, or with two for an upgrade `apache-kafka:3.9.2..4.4.0`."""
    requirements: tuple[str, ...] = ()
    """The ids of the requirements that this plan can prove."""
    level: Name | None = None
    """The protocol level of nodes without one (`levels:` of the target file). None: the default of the target."""
    security: PlannedSecurity = "plaintext"
    """How the listeners are secured: the name of one of `SECURITIES`, or what it stands for."""
    timing: Timing = Timing()
    settings: NodeSettings | None = None
    deadline_ms: Milliseconds = 120_000
    """Deadline of the whole run, with the start of the cluster. A run that misses it is infrastructure."""
    shared: Literal[True] | None = None
    """True: clients that the plan does not know use the cluster, too, such as those of a test. What they may have sent,
    moved or deleted is not held against the target."""
    topology: Topology
    topics: tuple[TopicSpec, ...] = ()
    workload: WorkloadSpec = WorkloadSpec()
    steps: tuple[Step, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    """Conditions on the journal; without them the verdict means nothing, and the run is inconclusive."""
    deviations: tuple[Deviation, ...] = ()
    """Broken guarantees that the checkers of the whole run are expected to find on this target."""

    @property
    def secured(self) -> Security:
        return spelled_out(self.security)

    @property
    def releases(self) -> tuple[str, str] | None:
        """Return the old and the new release of a target that is upgraded; None for a target of one release."""
        return release_range(self.target.partition(":")[2])

    def node(self, name: str) -> NodeSpec:
        """Return the node of that name. KeyError if there is none."""
        for node in self.topology.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of the workload, in the order of their first members, then those of transactions."""
        memberships = (each.membership for each in self.workload.consumers)
        transactions = (each.transactions for each in self.workload.producers)
        groups = (each.group for each in (*memberships, *transactions) if each is not None)
        return tuple(dict.fromkeys(group for group in groups if group is not None))

    @property
    def transactional_ids(self) -> tuple[str, ...]:
        """The transactional ids of the workload, each once."""
        return tuple(dict.fromkeys(id for each in self.workload.producers if (id := each.transactional_id) is not None))

    @property
    def prepared_topics(self) -> frozenset[str]:
        return frozenset(topic.name for topic in self.topics if topic.prepared)

    @property
    def huge_topics(self) -> frozenset[str]:
        """The topics that steps create with so many partitions that no broker is asked about them all the time."""
        created = (step for step in self.steps if isinstance(step, CreateTopicProbe))
        return frozenset(step.topic for step in created if step.partitions > HUGE)

    @property
    def prepared_seconds(self) -> float:
        """Extra seconds for the start of a cluster with prepared topics."""
        prepared = (replicas for topic in self.topics if topic.prepared for replicas in topic.assignments)
        return PREPARED_SECONDS * sum(map(len, prepared))

    def step_name(self, index: int) -> str:
        """Return the name of a step in the journal: its own name, or `step-07` by its place."""
        return self.steps[index].as_ or f"step-{index + 1:02}"
