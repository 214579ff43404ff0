"""Steps: what the engine does, in order, while the workload runs beside it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.plan.base import (
    Acks,
    After,
    ExpectOutcome,
    Instant,
    Milliseconds,
    Name,
    NodeRef,
    NodeRefs,
    PlanModel,
    ZnodePath,
)
from harness.plan.conditions import Await
from harness.plan.injects import Inject
from harness.plan.probes import Probe


class Start(PlanModel):
    """Start nodes that the topology holds back (`start: later`), that were shut down, or that ended by themselves."""

    do: Literal["start"] = "start"
    as_: Name | None = None
    nodes: NodeRefs
    until: Literal["running", "ready"] = "ready"
    """`running`: go on when the process runs, for one that cannot answer yet; `ready`: when it answers requests."""


class Shutdown(PlanModel):
    """SIGTERM, as an operator ends a node; `start` starts it again."""

    do: Literal["shutdown"] = "shutdown"
    as_: Name | None = None
    nodes: NodeRefs
    within_ms: Milliseconds = 30_000
    until: Literal["asked", "ended"] = "ended"
    """`asked`: go on at once, and await `node-exited` where the end itself is a claim; `ended`: when the process is
    gone, which has to be within `within_ms`."""


class Roll(PlanModel):
    """Restart a node at another protocol level, and wait until it serves: one move of a rolling upgrade."""

    do: Literal["roll"] = "roll"
    as_: Name | None = None
    node: NodeRef
    level: Name
    """Of the target's `levels:`."""
    how: Literal["shutdown", "kill"] = "shutdown"


class Backup(PlanModel):
    """Copy a node's log directories while its process is stopped (SIGSTOP, for as long as it takes); `restored` puts
    the copy back."""

    do: Literal["backup"] = "backup"
    as_: Name
    node: NodeRef


class ZnodeStep(PlanModel):
    """Change ZooKeeper's tree past every node, as an administrator's tool does."""

    do: Literal["znode"] = "znode"
    as_: Name | None = None
    action: Literal["create", "set", "delete"]
    path: ZnodePath
    data: str = ""
    sequence: bool = False
    """Of `create`: ZooKeeper appends a number to the path."""


class Bind(PlanModel):
    """Resolve a role or read a value once; later `$name` means what it was then.

    Values: `leader-epoch:t-0`, `isr-version:t-0`, `broker-epoch:node-4`, `controller-epoch`.
    """

    do: Literal["bind"] = "bind"
    as_: Name
    node: NodeRef | None = None
    value: Annotated[str, Field(pattern=r"^((leader-epoch|isr-version|broker-epoch):.+|controller-epoch)$")] | None = (
        None
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Bind:
        if (self.node is None) == (self.value is None):
            raise ValueError("a bind has either `node` or `value`")
        return self


class Workload(PlanModel):
    do: Literal["workload"] = "workload"
    as_: Name | None = None
    action: Literal["start", "stop"]
    only: tuple[str, ...] = ()
    """Producers and consumers by name; none named: all."""


class Produce(PlanModel):
    """A burst: so many records, each waited for. With `node` they go there whoever leads; else to the leader."""

    do: Literal["produce"] = "produce"
    as_: Name | None = None
    topic: str
    partition: Annotated[int, Field(ge=0)] = 0
    records: Annotated[int, Field(ge=1)] = 1
    acks: Acks = "all"
    idempotent: bool = False
    node: NodeRef | None = None
    timeout_ms: Milliseconds = 5000
    after: After | None = None
    expect: ExpectOutcome | None = None
    """Judged for each record."""


class Heal(PlanModel):
    do: Literal["heal"] = "heal"
    as_: Name | None = None
    fault: str
    """The name that its inject step gave it."""


class HealAll(PlanModel):
    do: Literal["heal-all"] = "heal-all"
    as_: Name | None = None


class Hold(PlanModel):
    """Go on no earlier than `ms` after an instant: for deadlines that the document states as a time."""

    do: Literal["hold"] = "hold"
    as_: Name | None = None
    after: Instant
    ms: Milliseconds


Step = Annotated[
    Start
    | Shutdown
    | Roll
    | Backup
    | ZnodeStep
    | Bind
    | Workload
    | Produce
    | Inject
    | Heal
    | HealAll
    | Hold
    | Await
    | Probe,
    Field(discriminator="do"),
]
