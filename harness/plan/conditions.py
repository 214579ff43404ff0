"""Conditions: what a step may wait for. Each has a deadline, none has a fixed time."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.plan.base import After, Expect, Milliseconds, Name, NodeRef, NodeRefs, Partition, PlanModel, Value


class AwaitStep(PlanModel):
    """`must`: a missed deadline is a violation; `never`: that it comes true before it is one.

    Without `expect` a missed deadline leaves the run inconclusive: the story could not be told.
    """

    do: Literal["await"] = "await"
    as_: Name | None = None
    within_ms: Milliseconds
    after: After | None = None
    expect: Expect | None = None


class BrokerActive(AwaitStep):
    """Registered and unfenced as the controllers' log says, and it answers clients."""

    condition: Literal["broker-active"] = "broker-active"
    node: NodeRef


class BrokerFenced(AwaitStep):
    """`controllers`: their log says so; `itself`: asked as a client asks, it does not serve."""

    condition: Literal["broker-fenced"] = "broker-fenced"
    node: NodeRef
    by: Literal["controllers", "itself"] = "controllers"


class BrokerEpochAbove(AwaitStep):
    """The broker was registered anew: its epoch in the controllers' log is above `value`."""

    condition: Literal["broker-epoch-above"] = "broker-epoch-above"
    node: NodeRef
    value: Value


class LeaderIs(AwaitStep):
    """The partition's leader in the controllers' log. With neither `is` nor `is_not`: any; `none`: leaderless."""

    condition: Literal["leader"] = "leader"
    partition: Partition
    is_: NodeRef | None = None
    is_not: NodeRefs | None = None


class LeaderEpochAbove(AwaitStep):
    condition: Literal["leader-epoch-above"] = "leader-epoch-above"
    partition: Partition
    value: Value


class IsrIs(AwaitStep):
    """All that are named hold at once."""

    condition: Literal["isr"] = "isr"
    partition: Partition
    has: NodeRefs | None = None
    lacks: NodeRefs | None = None
    is_: NodeRefs | None = None


class ActiveController(AwaitStep):
    """The controller that itself says it leads, at the highest epoch that any of them names."""

    condition: Literal["active-controller"] = "active-controller"
    is_: NodeRef | None = None
    is_not: NodeRefs | None = None


class NodeExited(AwaitStep):
    condition: Literal["node-exited"] = "node-exited"
    node: NodeRef


class Connected(AwaitStep):
    """The process has an open connection to `to` through its link; which replicas it fetches shows in this alone."""

    condition: Literal["connected"] = "connected"
    node: NodeRef
    to: NodeRef


class TopicCreatedThrough(AwaitStep):
    """A new topic can be created by asking this broker; asked again until it works."""

    condition: Literal["topic-created-through"] = "topic-created-through"
    node: NodeRef


class WorkloadAcks(AwaitStep):
    """So many more records were acknowledged to the workload since the step began."""

    condition: Literal["workload-acks"] = "workload-acks"
    more: Annotated[int, Field(ge=1)] = 1
    producer: str | None = None


class MetadataFrom(AwaitStep):
    """What this node itself answers to Metadata: who leads, which brokers are alive."""

    condition: Literal["metadata-from"] = "metadata-from"
    node: NodeRef
    partition: Partition | None = None
    leader: NodeRef | None = None
    has: NodeRefs | None = None
    lacks: NodeRefs | None = None


class Converged(AwaitStep):
    """Every running broker is active, one controller is, and all partitions have a leader and a full ISR.

    The brokers' own answers agree with the controllers' log.
    """

    condition: Literal["converged"] = "converged"


Await = Annotated[
    BrokerActive
    | BrokerFenced
    | BrokerEpochAbove
    | LeaderIs
    | LeaderEpochAbove
    | IsrIs
    | ActiveController
    | NodeExited
    | Connected
    | TopicCreatedThrough
    | WorkloadAcks
    | MetadataFrom
    | Converged,
    Field(discriminator="condition"),
]
