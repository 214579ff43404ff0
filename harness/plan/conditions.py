"""Conditions: what a step may wait for. Each has a deadline, none has a fixed time."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.plan.base import (
    After,
    Expect,
    Milliseconds,
    Name,
    NodeRef,
    NodeRefs,
    Partition,
    Pattern,
    PlanModel,
    Value,
    ZnodePath,
)


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
    """Registered and unfenced as the controllers' log says, and it answers clients.

    Where ZooKeeper holds the state: registered there, and in the Metadata that the active controller answers.
    """

    condition: Literal["broker-active"] = "broker-active"
    node: NodeRef


class BrokerFenced(AwaitStep):
    """`controllers`: their log says so; `itself`: asked as a client asks, it does not serve.

    Where ZooKeeper holds the state, the controllers say so by a Metadata of the active one that lacks the broker.
    """

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


class IsrShrunk(AwaitStep):
    """Fewer replicas are in sync than are assigned, whoever left."""

    condition: Literal["isr-shrunk"] = "isr-shrunk"
    partition: Partition


class ActiveController(AwaitStep):
    """The controller that itself says it leads, at the highest epoch that any of them names."""

    condition: Literal["active-controller"] = "active-controller"
    is_: NodeRef | None = None
    is_not: NodeRefs | None = None


class NodeExited(AwaitStep):
    """The process ended; with `code`, by this exit code."""

    condition: Literal["node-exited"] = "node-exited"
    node: NodeRef
    code: int | None = None


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


class Registered(AwaitStep):
    """ZooKeeper has, or has not, a registration of the broker's id (`/brokers/ids/ID`), whoever holds it."""

    condition: Literal["registered"] = "registered"
    node: NodeRef
    is_: bool = True


class Znode(AwaitStep):
    """A path of ZooKeeper's tree is there or not; with `has`, its data contains this text."""

    condition: Literal["znode"] = "znode"
    path: ZnodePath
    exists: bool = True
    has: str | None = None

    @model_validator(mode="after")
    def _data_of_what_is_there(self) -> Znode:
        if self.has is not None and not self.exists:
            raise ValueError("what does not exist has no data: drop `has`, or `exists: false`")
        return self


class AssignmentIs(AwaitStep):
    """The partition's replicas in this order, the preferred leader first, and no reassignment under way."""

    condition: Literal["assignment"] = "assignment"
    partition: Partition
    is_: NodeRefs


class ReplicaOffline(AwaitStep):
    """The replica on `node` is listed as offline in the Metadata that `asked` answers (None: the active controller)."""

    condition: Literal["replica-offline"] = "replica-offline"
    node: NodeRef
    partition: Partition
    asked: NodeRef | None = None


class Logged(AwaitStep):
    """The node's own log has a line in which the regular expression `says` is found; looked at every few milliseconds.

    With `after` it has to be written later than that instant, else it may be as old as the run.
    """

    condition: Literal["logged"] = "logged"
    node: NodeRef
    says: Pattern

    @model_validator(mode="after")
    def _from_an_instant(self) -> Logged:
        if self.after is not None and self.after.plus_ms:
            raise ValueError("how long a log was is noted at instants, not between them: drop `plus_ms`")
        return self


class Watches(AwaitStep):
    """So many watches are held at all ZooKeeper servers together; those of the harness do not count.

    `leader`: on partitions' /leader. `other`: on the data, or the coming, of any other znode. `children`: on the
    children of znodes; servers tell their number, not their paths. `any`: all of them.
    """

    condition: Literal["watches"] = "watches"
    kind: Literal["leader", "other", "children", "any"]
    count: Annotated[int, Field(ge=0)]
    topics: Pattern | None = None
    """Of `leader`: only where the whole name of the topic matches; the watches on all others are `other` then."""

    @model_validator(mode="after")
    def _topics_of_leaders(self) -> Watches:
        if self.topics is not None and self.kind != "leader":
            raise ValueError("only watches on leaders are told apart by `topics`")
        return self


class _Bounds(AwaitStep):
    is_: Annotated[int, Field(ge=0)] | None = None
    at_least: Annotated[int, Field(ge=0)] | None = None
    at_most: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _some_bound(self) -> _Bounds:
        if self.is_ is self.at_least is self.at_most is None:
            raise ValueError("one of `is`, `at_least` and `at_most` says what is waited for")
        return self

    def holds(self, number: int) -> bool:
        """All that are given hold at once."""
        return (
            self.is_ in (None, number)
            and (self.at_least is None or number >= self.at_least)
            and (self.at_most is None or number <= self.at_most)
        )


class Backlog(_Bounds):
    """So many requests wait in the node's queue of state changes in ZooKeeper."""

    condition: Literal["backlog"] = "backlog"
    node: NodeRef


class Checkpoint(_Bounds):
    """The high watermark in the node's own checkpoint file, whether it runs or not."""

    condition: Literal["checkpoint"] = "checkpoint"
    node: NodeRef
    partition: Partition


class LogEnd(_Bounds):
    """The offset after the last whole batch in the node's own segment files, whether it runs or not."""

    condition: Literal["log-end"] = "log-end"
    node: NodeRef
    partition: Partition


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
    | IsrShrunk
    | ActiveController
    | NodeExited
    | Connected
    | TopicCreatedThrough
    | WorkloadAcks
    | MetadataFrom
    | Registered
    | Znode
    | AssignmentIs
    | ReplicaOffline
    | Logged
    | Watches
    | Backlog
    | Checkpoint
    | LogEnd
    | Converged,
    Field(discriminator="condition"),
]
