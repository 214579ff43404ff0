"""Probes: single raw requests to one node, chosen to show whether it keeps a rule."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from fencepost.harness.plan.base import (
    Acks,
    After,
    ExpectOutcome,
    Milliseconds,
    Name,
    NodeRef,
    NodeRefOrNone,
    NodeRefs,
    NodeRefsOrNone,
    Partition,
    PlanModel,
    Value,
)


class ProbeStep(PlanModel):
    """A request to `node`, repeated `repeat` times, with a claim about the responses and about the state after it."""

    do: Literal["probe"] = "probe"
    as_: Name | None = None
    node: NodeRef
    timeout_ms: Milliseconds = 1000
    repeat: Annotated[int, Field(ge=1)] = 1
    every_ms: Milliseconds = 100
    background: bool = False
    """Begin the next step at once; the responses are judged when they arrive, or at the timeout."""
    after: After | None = None
    expect: ExpectOutcome | None = None
    unchanged: tuple[str, ...] = ()
    """Partitions (`t-0`: leader, epoch, ISR) and `brokers` (registrations) that the probe must not change."""


class _OfPartition(ProbeStep):
    topic: str
    partition: Annotated[int, Field(ge=0)] = 0


class ProduceProbe(_OfPartition):
    """One record, sent directly to this node. With acks 0 there is no response: the outcome is `unanswered`."""

    request: Literal["produce"] = "produce"
    acks: Acks = 1


class FetchProbe(_OfPartition):
    """A consumer's fetch. The offset counts from the start of the log."""

    request: Literal["fetch"] = "fetch"
    offset: Annotated[int, Field(ge=0)] = 0


class ReplicaFetchProbe(_OfPartition):
    """A follower's fetch, from `offset`, in the name of `broker`."""

    request: Literal["replica-fetch"] = "replica-fetch"
    broker: NodeRef
    broker_epoch: Value = "current"
    leader_epoch: Value = "current"
    offset: Annotated[int, Field(ge=0)] = 0


class MetadataProbe(ProbeStep):
    """Metadata of one topic, or of all."""

    request: Literal["metadata"] = "metadata"
    topic: str | None = None


class ListOffsetsProbe(_OfPartition):
    """ListOffsets for the end that a consumer may read to (the high watermark)."""

    request: Literal["list-offsets"] = "list-offsets"


class HeartbeatProbe(ProbeStep):
    """A broker's heartbeat in the name of `broker`, in the target's dialect.

    `state` is the draft's TargetState, or its number. Shipped Kafka has flags instead: `active` requests neither fence
    nor shutdown. The keys below `metadata_offset` are for the draft only.
    """

    request: Literal["heartbeat"] = "heartbeat"
    broker: NodeRef
    broker_epoch: Value = "current"
    state: Literal["initial", "fenced", "active", "shutdown"] | Annotated[int, Field(ge=0, le=127)] = "active"
    metadata_offset: Value = "current"
    client_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """The port that the draft's heartbeat names for clients. None: that of the real broker."""
    lease_start_ms: Annotated[int, Field(ge=0)] | None = None
    """The start of the lease that the request names. None: now."""
    levels: Literal["all", "none"] = "all"
    """The levels of features that the request reports: all of them, or nothing, as software before features does."""
    unknown_tag: bool = False
    """Send a tagged field that no draft has."""
    user: str | None = None
    """The user of the request, in a plan with `security: sasl`. None: the user of the brokers."""
    answer: dict[Literal["active_controller", "next_state", "broker_epoch", "lease_ms"], str | int] = Field(
        default_factory=dict
    )
    """Values of the response; `lease_ms` is the end of the lease less its start. With another value the outcome is
    `different`."""


class ControllerHeartbeatProbe(ProbeStep):
    """A controller's heartbeat of the draft, in the name of `controller`."""

    request: Literal["controller-heartbeat"] = "controller-heartbeat"
    controller: NodeRef
    snapshot_offset: Annotated[int, Field(ge=0)] = 0
    """The end of the newest snapshot that the request reports; 0: there is none."""


class MetricsProbe(ProbeStep):
    """The metrics of a node, which has `metrics.listener: "{address}:9404"` among its settings."""

    request: Literal["metrics"] = "metrics"
    equal: dict[str, float] = Field(default_factory=dict)
    """Values by the name of the metric. With another value, or without the metric, the outcome is `different`."""
    above: dict[str, float] = Field(default_factory=dict)
    """Values below those of the metrics, by name."""
    within_ms: Milliseconds = 0
    """Ask again for so long until the outcome is the one that is expected. Only the last answer is judged."""


class AlterIsrProbe(_OfPartition):
    """AlterIsr (draft) or AlterPartition (shipped) in the name of `broker`.

    The controller compares `version`: the draft's CurrentIsrVersion, shipped Kafka's partition epoch.
    """

    request: Literal["alter-isr"] = "alter-isr"
    broker: NodeRef
    broker_epoch: Value = "current"
    leader_epoch: Value = "current"
    version: Value = "current"
    isr: NodeRefs | None = None
    """None: the present value."""


class CreateTopicProbe(ProbeStep):
    request: Literal["create-topic"] = "create-topic"
    topic: str
    partitions: Annotated[int, Field(ge=1)] = 1
    replicas: Annotated[int, Field(ge=1)] = 3


class DescribeQuorumProbe(ProbeStep):
    request: Literal["describe-quorum"] = "describe-quorum"


class VoteProbe(ProbeStep):
    """A candidate's request for a vote. At a higher epoch it deposes the leader, so use it on a separate cluster."""

    request: Literal["vote"] = "vote"
    candidate: NodeRef
    epoch: Value = "stale"
    cluster: str | None = None
    """None: the cluster's own id."""


class _OfController(ProbeStep):
    """A request in the name of the controller `controller`, to a broker's INTERNAL listener."""

    controller: NodeRef = "active-controller"
    controller_epoch: Value = "current"
    broker_epoch: Value = "current"
    """The epoch of the registration of the broker that receives the request."""


class LeaderAndIsrProbe(_OfController):
    """LeaderAndIsr: the role of one replica, sent to the node that holds it."""

    request: Literal["leader-and-isr"] = "leader-and-isr"
    topic: str
    partition: Annotated[int, Field(ge=0)] = 0
    leader: NodeRefOrNone | None = None
    """None: the present leader; `none`: no leader."""
    leader_epoch: Value = "current"
    isr: NodeRefsOrNone | None = None
    """None: the present value."""
    version: Value = "current"
    """Version of the partition's state in ZooKeeper."""


class UpdateMetadataProbe(_OfController):
    """UpdateMetadata with the state that ZooKeeper has now. The epochs in it are what a broker checks."""

    request: Literal["update-metadata"] = "update-metadata"


class StopReplicaProbe(_OfController):
    request: Literal["stop-replica"] = "stop-replica"
    topic: str
    partition: Annotated[int, Field(ge=0)] = 0
    leader_epoch: Value = "current"
    delete: bool = False


class ControlledShutdownProbe(ProbeStep):
    """ControlledShutdown of `broker`, sent in its name."""

    request: Literal["controlled-shutdown"] = "controlled-shutdown"
    broker: NodeRef
    broker_epoch: Value = "current"


class MetadataHeartbeatProbe(ProbeStep):
    """KIP-343's heartbeat in the name of `broker`."""

    request: Literal["metadata-heartbeat"] = "metadata-heartbeat"
    broker: NodeRef
    incarnation: Value = "current"
    state: Literal["initial", "inactive", "active", "stopping"] = "active"
    answer: dict[Literal["broker", "incarnation", "state"], str | int] = Field(default_factory=dict)
    """Values of the response. With another value the outcome is `different`."""


class IsrChangeProbe(_OfPartition):
    """KIP-343's ISR change in the name of `broker`."""

    request: Literal["isr-change"] = "isr-change"
    broker: NodeRef
    incarnation: Value = "current"
    leader_epoch: Value = "current"
    isr: NodeRefsOrNone | None = None
    """None: the present ISR; `none`: an empty ISR."""


class EventTopic(PlanModel):
    topic: str
    partitions: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """Partition indexes. Empty: all partitions of the topic."""


class ReplicaStateEventProbe(ProbeStep):
    """Replicas that are offline, reported in the name of `broker`."""

    request: Literal["replica-state-event"] = "replica-state-event"
    broker: NodeRef
    broker_epoch: Value = "current"
    event_type: int = 1
    """1 means offline, the only defined type."""
    reason: str = "probe"
    topics: tuple[EventTopic, ...] = ()
    """Empty: every replica of the broker."""
    user: str | None = None
    """The user of the request, in a plan with `security: sasl`. None: the user of the brokers."""


class DeleteTopicProbe(ProbeStep):
    request: Literal["delete-topic"] = "delete-topic"
    topic: str


class CreatePartitionsProbe(ProbeStep):
    """CreatePartitions: raise the partitions of a topic to `count`. The cluster chooses the replicas."""

    request: Literal["create-partitions"] = "create-partitions"
    topic: str
    count: Annotated[int, Field(ge=1)]


class ReassignProbe(ProbeStep):
    """AlterPartitionReassignments: new replicas, the preferred leader first. Served once the request is accepted."""

    request: Literal["reassign"] = "reassign"
    partition: Partition
    to: NodeRefs | None = None
    """None: cancel the reassignment that is under way."""


class ListReassignmentsProbe(ProbeStep):
    """ListPartitionReassignments: the response has the replicas, those being added and those being removed."""

    request: Literal["list-reassignments"] = "list-reassignments"


class ApiProbe(ProbeStep):
    """A request of any API of Kafka's protocol, written out, and claims about the fields of its response.

    It is sent to the client listener of a broker, or to a controller.
    """

    request: Literal["api"] = "api"
    api: str
    """Its name in snake case: `create_partitions`."""
    version: Annotated[int, Field(ge=0)] | None = None
    """The newest version to send. The node may have only older ones. None: the newest that both sides know."""
    login: bool = True
    """False: do not log in, in a plan with `security: sasl`."""
    body: dict[str, Any] = Field(default_factory=dict)
    """The fields of the request in snake case, as the message definition has them; durations in milliseconds. One that
    is missing has its default. `$name` stands for a bound value."""
    answer: dict[str, Any] = Field(default_factory=dict)
    """Values of the response, by path: `results[0].configs[name=retention.ms].value`; `topics[].name` is the list of
    all; null: there is nothing; `$name`: a bound value. With another value the outcome is `different`. Where it names
    an `error_code`, it alone says which errors there may be; else any error in the response is the outcome."""
    binds: dict[Name, str] = Field(default_factory=dict)
    """Names for values of the response, by path: later steps use them as `$name`."""
    within_ms: Milliseconds = 0
    """Ask again for so long until the outcome is the one that is expected (without `expect`: `served`). Only the last
    answer is judged; an outcome that must never be is judged in each."""


class MetadataLogProbe(ProbeStep):
    """The committed metadata log of the KIP-631 draft, read from a controller as an observer reads it.

    The answer has `log` and, if the log does not begin at offset 0, `snapshot` and `snapshot_end`: their records in
    order, each with its name (`record`), `version`, `offset` and fields. `versions` are those of all records, and
    `broken` the rules of the log that do not hold. A record that is malformed, unknown or has a key makes the outcome
    `different`.
    """

    request: Literal["metadata-log"] = "metadata-log"
    where: dict[str, Any] = Field(default_factory=dict)
    """Values of the records that `log` and `snapshot` have: `{record: TopicRecord, name: t}`. Empty: all records."""
    answer: dict[str, Any] = Field(default_factory=dict)
    """Values of the answer, by path: `log[0].leader`, `broken[].rule`; as in `api`."""
    binds: dict[Name, str] = Field(default_factory=dict)
    """Names for values of the answer, by path: later steps use them as `$name`."""
    within_ms: Milliseconds = 0
    """Ask again for so long until the outcome is the one that is expected, as in `api`."""


class UpdateFeaturesProbe(ProbeStep):
    """UpdateFeatures: finalize a feature at `level`, as `kafka-features` does at the end of an upgrade.

    The response is served once the new level is in the metadata log.
    """

    request: Literal["update-features"] = "update-features"
    feature: str = "metadata.version"
    level: Annotated[int, Field(ge=0)] | Literal["highest"] = "highest"
    """`highest`: the highest level that the node supports, by its ApiVersions response."""
    how: Literal["upgrade", "safe-downgrade", "unsafe-downgrade"] = "upgrade"


Probe = Annotated[
    ProduceProbe
    | FetchProbe
    | ReplicaFetchProbe
    | MetadataProbe
    | ListOffsetsProbe
    | HeartbeatProbe
    | ControllerHeartbeatProbe
    | MetricsProbe
    | AlterIsrProbe
    | CreateTopicProbe
    | DescribeQuorumProbe
    | VoteProbe
    | LeaderAndIsrProbe
    | UpdateMetadataProbe
    | StopReplicaProbe
    | ControlledShutdownProbe
    | MetadataHeartbeatProbe
    | IsrChangeProbe
    | ReplicaStateEventProbe
    | DeleteTopicProbe
    | CreatePartitionsProbe
    | ReassignProbe
    | ListReassignmentsProbe
    | ApiProbe
    | MetadataLogProbe
    | UpdateFeaturesProbe,
    Field(discriminator="request"),
]
