"""Conditions that a step waits for. Each has a deadline; none waits a fixed time."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from fencepost.harness.plan.base import (
    After,
    Expect,
    Level,
    Milliseconds,
    Name,
    NodeRef,
    NodeRefs,
    Partition,
    Pattern,
    PlanModel,
    Release,
    Value,
    ZnodePath,
)

LIVENESS_TIMEOUT_MS = 30_000
"""The timeout of liveness claims: far above what any machine needs, so that a missed bound does not show its speed."""


class AwaitStep(PlanModel):
    """Wait until a condition holds, at most `within_ms`.

    With `expect: must` a missed deadline is a violation; with `never`, which has to give `within_ms`, it is a violation
    if the condition comes true before the deadline. Without `expect` a missed deadline makes the run inconclusive: the
    scenario did not happen.
    """

    do: Literal["await"] = "await"
    as_: Name | None = None
    within_ms: Milliseconds = LIVENESS_TIMEOUT_MS
    after: After | None = None
    expect: Expect | None = None

    @model_validator(mode="after")
    def _watched_for_a_time(self) -> AwaitStep:
        if self.expect and self.expect.level is Level.NEVER and "within_ms" not in self.model_fields_set:
            raise ValueError("what must never come true is watched for a time: add `within_ms`")
        return self


class BrokerActive(AwaitStep):
    """The broker is registered and unfenced in the metadata log, and answers clients.

    In a design with ZooKeeper: it is registered there, and in the active controller's Metadata response.
    """

    condition: Literal["broker-active"] = "broker-active"
    node: NodeRef


class BrokerFenced(AwaitStep):
    """The broker is fenced. By `controllers`: in the metadata log. By `itself`: it does not serve clients.

    In a design with ZooKeeper, `controllers` means that the active controller's Metadata response lacks the broker.
    """

    condition: Literal["broker-fenced"] = "broker-fenced"
    node: NodeRef
    by: Literal["controllers", "itself"] = "controllers"


class BrokerEpochAbove(AwaitStep):
    """The broker registered again: its epoch in the metadata log is above `value`."""

    condition: Literal["broker-epoch-above"] = "broker-epoch-above"
    node: NodeRef
    value: Value


class LeaderIs(AwaitStep):
    """The partition's leader in the metadata log. Without `is` and `is_not`: any leader; `is: none`: no leader."""

    condition: Literal["leader"] = "leader"
    partition: Partition
    is_: NodeRef | None = None
    is_not: NodeRefs | None = None


class LeaderEpochAbove(AwaitStep):
    """The partition's leader epoch is above `value`."""

    condition: Literal["leader-epoch-above"] = "leader-epoch-above"
    partition: Partition
    value: Value


class IsrIs(AwaitStep):
    """The ISR of the partition. All of `is`, `has` and `lacks` that are given hold at once."""

    condition: Literal["isr"] = "isr"
    partition: Partition
    has: NodeRefs | None = None
    lacks: NodeRefs | None = None
    is_: NodeRefs | None = None


class IsrShrunk(AwaitStep):
    """Fewer replicas are in sync than are assigned, no matter which left the ISR."""

    condition: Literal["isr-shrunk"] = "isr-shrunk"
    partition: Partition


class ActiveController(AwaitStep):
    """The controller that reports itself as the leader, at the highest epoch that any controller reports."""

    condition: Literal["active-controller"] = "active-controller"
    is_: NodeRef | None = None
    is_not: NodeRefs | None = None


class VotersCaughtUp(AwaitStep):
    """Each voter of the metadata quorum fetched since the step began, and has all that the leader had then."""

    condition: Literal["voters-caught-up"] = "voters-caught-up"


class NodeExited(AwaitStep):
    """The process ended; if `code` is given, with this exit code."""

    condition: Literal["node-exited"] = "node-exited"
    node: NodeRef
    code: int | None = None


class RunsRelease(AwaitStep):
    """The log of the node's present process says that it runs the old or the new release of a target with two."""

    condition: Literal["release"] = "release"
    node: NodeRef
    release: Release


class Connected(AwaitStep):
    """The process has an open connection to `to` through its link. Only this shows which brokers it fetches from."""

    condition: Literal["connected"] = "connected"
    node: NodeRef
    to: NodeRef


class TopicCreatedThrough(AwaitStep):
    """A new topic can be created through this broker; the request is repeated until it succeeds."""

    condition: Literal["topic-created-through"] = "topic-created-through"
    node: NodeRef

    @staticmethod
    def topic(step: str) -> str:
        """Return the name of the topic of the step of this name."""
        return f"created-at-{step}"


class AdministratorServed(AwaitStep):
    """Through each running broker a new topic is created, described, written to and deleted, until it is gone there.

    Each request is repeated until it succeeds.
    """

    condition: Literal["administrator-served"] = "administrator-served"


class SettingsAgree(AwaitStep):
    """All running brokers describe the same settings of each topic. A release without DescribeConfigs is not asked."""

    condition: Literal["settings-agree"] = "settings-agree"
    values: dict[str, dict[str, str | None]] = Field(default_factory=dict)
    """Values by topic and key that each of them describes; null: the topic was not given that setting."""


class WorkloadAcks(AwaitStep):
    """At least `more` records were acknowledged to the workload since the step began."""

    condition: Literal["workload-acks"] = "workload-acks"
    more: Annotated[int, Field(ge=1)] = 1
    producer: str | None = None


class WorkloadReads(AwaitStep):
    """Consumers of the workload got at least `more` records since the step began, or since the workload did.

    A consumer at read_committed gets on only if the last stable offset moves, a member of a group only if the group
    has assigned partitions to it.
    """

    condition: Literal["workload-reads"] = "workload-reads"
    more: Annotated[int, Field(ge=1)] = 1
    consumer: str | None = None
    group: str | None = None
    """The members of this group together."""
    since: Literal["step", "start"] = "step"
    """`start`: count from the first record, where few follow, and some may be read before the step begins."""


class MetadataFrom(AwaitStep):
    """The node's own Metadata response: the partition's leader, the live brokers."""

    condition: Literal["metadata-from"] = "metadata-from"
    node: NodeRef
    partition: Partition | None = None
    leader: NodeRef | None = None
    has: NodeRefs | None = None
    lacks: NodeRefs | None = None


class Registered(AwaitStep):
    """ZooKeeper has (or, with `is: false`, lacks) a registration of the broker's id, from whichever process."""

    condition: Literal["registered"] = "registered"
    node: NodeRef
    is_: bool = True


class Znode(AwaitStep):
    """A path of ZooKeeper's tree exists or not; if `has` is given, its data contains this text."""

    condition: Literal["znode"] = "znode"
    path: ZnodePath
    exists: bool = True
    has: str | None = None

    @model_validator(mode="after")
    def _data_of_what_is_there(self) -> Znode:
        if self.has is not None and not self.exists:
            raise ValueError("a znode that does not exist has no data: drop `has`, or `exists: false`")
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
    """The node's own log has a line that matches the regular expression `says`.

    With `after` the line has to be written later than that instant; without, it may be as old as the run.
    """

    condition: Literal["logged"] = "logged"
    node: NodeRef
    says: Pattern

    @model_validator(mode="after")
    def _from_an_instant(self) -> Logged:
        if self.after is not None and self.after.plus_ms:
            raise ValueError("the length of a log is recorded at instants only, not between them: drop `plus_ms`")
        return self


class Watches(AwaitStep):
    """All ZooKeeper servers together hold `count` watches. Watches of the harness do not count.

    `leader`: on the /leader of partitions. `other`: on the data or the creation of any other znode. `children`: on the
    children of znodes, whose number servers report, but not their paths. `any`: all of them.
    """

    condition: Literal["watches"] = "watches"
    kind: Literal["leader", "other", "children", "any"]
    count: Annotated[int, Field(ge=0)]
    topics: Pattern | None = None
    """Count as `leader` only watches on topics whose whole name matches; watches on other topics count as `other`."""

    @model_validator(mode="after")
    def _topics_of_leaders(self) -> Watches:
        if self.topics is not None and self.kind != "leader":
            raise ValueError("`topics` applies to `kind: leader` only: drop it, or change `kind`")
        return self


class _Bounds(AwaitStep):
    is_: Annotated[int, Field(ge=0)] | None = None
    at_least: Annotated[int, Field(ge=0)] | None = None
    at_most: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _some_bound(self) -> _Bounds:
        if self.is_ is self.at_least is self.at_most is None:
            raise ValueError("no bound is given: add `is`, `at_least` or `at_most`")
        return self

    def holds(self, number: int) -> bool:
        """Return whether the number satisfies every bound that is given."""
        return (
            self.is_ in (None, number)
            and (self.at_least is None or number >= self.at_least)
            and (self.at_most is None or number <= self.at_most)
        )


class Backlog(_Bounds):
    """The number of requests in the node's queue of state changes in ZooKeeper."""

    condition: Literal["backlog"] = "backlog"
    node: NodeRef


class Checkpoint(_Bounds):
    """The high watermark in the node's own checkpoint file, whether it runs or not."""

    condition: Literal["checkpoint"] = "checkpoint"
    node: NodeRef
    partition: Partition


class LogEnd(_Bounds):
    """The offset after the last complete batch in the node's own segment files, whether it runs or not."""

    condition: Literal["log-end"] = "log-end"
    node: NodeRef
    partition: Partition


class Converged(AwaitStep):
    """Every running broker is active, one controller is active, and all partitions have a leader and a full ISR.

    The responses of the brokers agree with the metadata log.
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
    | VotersCaughtUp
    | NodeExited
    | RunsRelease
    | Connected
    | TopicCreatedThrough
    | AdministratorServed
    | SettingsAgree
    | WorkloadAcks
    | WorkloadReads
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
