"""Steps, which the engine performs in order while the workload runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from fencepost.harness.plan.base import (
    Acks,
    After,
    ExpectOutcome,
    Instant,
    Milliseconds,
    Name,
    NodeRef,
    NodeRefs,
    PlanModel,
    Release,
    ZnodePath,
)
from fencepost.harness.plan.conditions import Await
from fencepost.harness.plan.injects import Inject
from fencepost.harness.plan.requests import Probe
from fencepost.harness.plan.upgraded import release_problems

if TYPE_CHECKING:
    from fencepost.harness.plan.model import Plan


class Start(PlanModel):
    """Start nodes that have `start: later`, were shut down, or exited by themselves."""

    do: Literal["start"] = "start"
    as_: Name | None = None
    nodes: NodeRefs
    until: Literal["running", "ready"] = "ready"
    """`running`: continue once the process runs, also if it cannot answer; `ready`: once it answers requests."""


class Shutdown(PlanModel):
    """End nodes by SIGTERM, as an operator does. A `start` step starts them again."""

    do: Literal["shutdown"] = "shutdown"
    as_: Name | None = None
    nodes: NodeRefs
    within_ms: Milliseconds = 30_000
    until: Literal["asked", "ended"] = "ended"
    """`asked`: continue at once, and await `node-exited` if the exit itself is a claim; `ended`: continue once the
    process is gone, which has to be within `within_ms`."""


class Roll(PlanModel):
    """Restart a node with another release or at another protocol level, and wait until it serves.

    It is one move of a rolling upgrade, or of a downgrade.
    """

    do: Literal["roll"] = "roll"
    as_: Name | None = None
    node: NodeRef
    release: Release | None = None
    """The release with which it starts: the `old` or the `new` one of a target such as `apache-kafka:3.9.2..4.4.0`. Its
    log has to say that it runs it. None: the present one."""
    level: Name | None = None
    """A name in `levels:` of the target file. A target with ZooKeeper that is upgraded also has `old` and `new`: the
    protocol versions of its two releases. None: the present level."""
    how: Literal["shutdown", "kill"] = "shutdown"

    @model_validator(mode="after")
    def _changes_something(self) -> Roll:
        if self.release is None and self.level is None:
            raise ValueError("a roll step has `release`, `level`, or both")
        return self

    def problems(self, plan: Plan) -> Iterator[tuple[str, str]]:
        """Yield (key, message) for what is wrong with this step in a plan, beside its references."""
        return release_problems(self.release, self.node, plan) if self.release is not None else iter(())


class Backup(PlanModel):
    """Copy a node's log directories while SIGSTOP stops its process. The fault `restored` puts the copy back."""

    do: Literal["backup"] = "backup"
    as_: Name
    node: NodeRef


class ZnodeStep(PlanModel):
    """Change ZooKeeper's tree directly, without a node, as an administrator's tool does."""

    do: Literal["znode"] = "znode"
    as_: Name | None = None
    action: Literal["create", "set", "delete"]
    path: ZnodePath
    data: str = ""
    sequence: bool = False
    """Let ZooKeeper append a number to the path (`create` only)."""
    may_fail: bool = False
    """Go on if no server takes the change in time, or if ZooKeeper refuses it, for example an existing path."""


class Bind(PlanModel):
    """Resolve a role or read a value once. In later steps `$name` stands for the result.

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
            raise ValueError("a bind step has either `node` or `value`, and not both")
        return self


class Workload(PlanModel):
    """Start or stop producers and consumers of the workload."""

    do: Literal["workload"] = "workload"
    as_: Name | None = None
    action: Literal["start", "stop"]
    only: tuple[str, ...] = ()
    """Names of producers and consumers. Empty: all."""


class Produce(PlanModel):
    """A burst of records, each sent after the response to the one before: to `node`, or to the leader."""

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
    """A claim about each record."""


class Heal(PlanModel):
    """Undo one fault and prove that it is gone."""

    do: Literal["heal"] = "heal"
    as_: Name | None = None
    fault: str
    """The name of its inject step."""


class HealAll(PlanModel):
    """Undo all active faults and prove that they are gone."""

    do: Literal["heal-all"] = "heal-all"
    as_: Name | None = None


class Hold(PlanModel):
    """Wait until `ms` after an instant, for a deadline that the document states as a duration."""

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
