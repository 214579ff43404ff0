"""Probes: single raw requests to one node, chosen to show whether it keeps a rule."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.plan.base import (
    Acks,
    After,
    ExpectOutcome,
    Milliseconds,
    Name,
    NodeRef,
    NodeRefs,
    Partition,
    PlanModel,
    Value,
)


class ProbeStep(PlanModel):
    """What each probe has: whom it asks, how often, what it claims, and what must not change by it."""

    do: Literal["probe"] = "probe"
    as_: Name | None = None
    node: NodeRef
    timeout_ms: Milliseconds = 1000
    repeat: Annotated[int, Field(ge=1)] = 1
    every_ms: Milliseconds = 100
    background: bool = False
    """Go on with the next step at once; the answers are judged when they are there, or the time is over."""
    after: After | None = None
    expect: ExpectOutcome | None = None
    unchanged: tuple[str, ...] = ()
    """Partitions (`t-0`: leader, epoch, ISR) and `brokers` (registrations): the same before and after."""


class _OfPartition(ProbeStep):
    topic: str
    partition: Annotated[int, Field(ge=0)] = 0


class ProduceProbe(_OfPartition):
    """One record, straight to this node. With acks 0 silence is all there is: `unanswered`."""

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
    request: Literal["metadata"] = "metadata"
    topic: str | None = None


class ListOffsetsProbe(_OfPartition):
    """Asks for the end that a consumer may see (the high watermark)."""

    request: Literal["list-offsets"] = "list-offsets"


class HeartbeatProbe(ProbeStep):
    """A broker's heartbeat in the name of `broker`, in the target's dialect.

    `state` is the draft's TargetState; shipped Kafka has flags: `active` wants neither fence nor shutdown.
    """

    request: Literal["heartbeat"] = "heartbeat"
    broker: NodeRef
    broker_epoch: Value = "current"
    state: Literal["initial", "fenced", "active", "shutdown"] = "active"
    metadata_offset: Value = "current"


class AlterIsrProbe(_OfPartition):
    """AlterIsr (draft) or AlterPartition (shipped) in the name of `broker`.

    `version` is what the change is compared with: the draft's CurrentIsrVersion, shipped Kafka's partition epoch.
    """

    request: Literal["alter-isr"] = "alter-isr"
    broker: NodeRef
    broker_epoch: Value = "current"
    leader_epoch: Value = "current"
    version: Value = "current"
    isr: NodeRefs | None = None
    """None: the present one."""


class CreateTopicProbe(ProbeStep):
    request: Literal["create-topic"] = "create-topic"
    topic: str
    partitions: Annotated[int, Field(ge=1)] = 1
    replicas: Annotated[int, Field(ge=1)] = 3


class DescribeQuorumProbe(ProbeStep):
    request: Literal["describe-quorum"] = "describe-quorum"


class VoteProbe(ProbeStep):
    """A candidate's request for a vote. At a higher epoch it deposes the leader: for clusters of its own."""

    request: Literal["vote"] = "vote"
    candidate: NodeRef
    epoch: Value = "stale"
    cluster: str | None = None
    """None: the cluster's own id."""


class _OfController(ProbeStep):
    """In the name of the controller `controller`, to a broker's INTERNAL listener."""

    controller: NodeRef = "active-controller"
    controller_epoch: Value = "current"
    broker_epoch: Value = "current"
    """The registration of the broker that is asked."""


class LeaderAndIsrProbe(_OfController):
    """The role of one replica, told to the node that is asked."""

    request: Literal["leader-and-isr"] = "leader-and-isr"
    topic: str
    partition: Annotated[int, Field(ge=0)] = 0
    leader: NodeRef | None = None
    """None: the present one; `none`: nobody leads."""
    leader_epoch: Value = "current"
    isr: NodeRefs | None = None
    """None: the present one."""
    version: Value = "current"
    """Of the partition's state in ZooKeeper."""


class UpdateMetadataProbe(_OfController):
    """The state that ZooKeeper has now: what counts is the epochs that it is sent with."""

    request: Literal["update-metadata"] = "update-metadata"


class StopReplicaProbe(_OfController):
    request: Literal["stop-replica"] = "stop-replica"
    topic: str
    partition: Annotated[int, Field(ge=0)] = 0
    leader_epoch: Value = "current"
    delete: bool = False


class ControlledShutdownProbe(ProbeStep):
    """The wish of `broker` to go, sent in its name."""

    request: Literal["controlled-shutdown"] = "controlled-shutdown"
    broker: NodeRef
    broker_epoch: Value = "current"


class MetadataHeartbeatProbe(ProbeStep):
    """KIP-343's heartbeat in the name of `broker`."""

    request: Literal["metadata-heartbeat"] = "metadata-heartbeat"
    broker: NodeRef
    incarnation: Value = "current"
    state: Literal["initial", "inactive", "active", "stopping"] = "active"


class IsrChangeProbe(_OfPartition):
    """KIP-343's ISR change in the name of `broker`."""

    request: Literal["isr-change"] = "isr-change"
    broker: NodeRef
    incarnation: Value = "current"
    leader_epoch: Value = "current"
    isr: NodeRefs | None = None
    """None: the present one; `none`: an empty one."""


class EventTopic(PlanModel):
    topic: str
    partitions: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """None named: all of the topic."""


class ReplicaStateEventProbe(ProbeStep):
    """Replicas that are offline, reported in the name of `broker`."""

    request: Literal["replica-state-event"] = "replica-state-event"
    broker: NodeRef
    broker_epoch: Value = "current"
    event_type: int = 1
    """1 is offline, the only one there is."""
    reason: str = "probe"
    topics: tuple[EventTopic, ...] = ()
    """None named: every replica of the broker."""
    user: str | None = None
    """Who asks, where the plan has `security: sasl`. None: the brokers' own user."""


class DeleteTopicProbe(ProbeStep):
    request: Literal["delete-topic"] = "delete-topic"
    topic: str


class CreatePartitionsProbe(ProbeStep):
    """More partitions for a topic: `count` is how many it is to have; their replicas are left to the cluster."""

    request: Literal["create-partitions"] = "create-partitions"
    topic: str
    count: Annotated[int, Field(ge=1)]


class ReassignProbe(ProbeStep):
    """AlterPartitionReassignments: other replicas, the preferred leader first. Served when the wish is taken."""

    request: Literal["reassign"] = "reassign"
    partition: Partition
    to: NodeRefs | None = None
    """None: the reassignment that is under way shall be given up."""


class ListReassignmentsProbe(ProbeStep):
    """What is being reassigned: the body has the replicas, those that are added, and those that are removed."""

    request: Literal["list-reassignments"] = "list-reassignments"


Probe = Annotated[
    ProduceProbe
    | FetchProbe
    | ReplicaFetchProbe
    | MetadataProbe
    | ListOffsetsProbe
    | HeartbeatProbe
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
    | ListReassignmentsProbe,
    Field(discriminator="request"),
]
