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
    Partition,
    PlanModel,
    Said,
    ZnodePath,
)
from harness.plan.conditions import Await
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


class InjectStep(PlanModel):
    do: Literal["inject"] = "inject"
    as_: Name


class InjectStall(InjectStep):
    """Links from `from` to `to`: bytes wait, and arrive after healing."""

    fault: Literal["stall"] = "stall"
    from_: NodeRefs
    to: NodeRefs
    streams: Literal["both", "requests", "replies"] = "both"


class InjectCut(InjectStep):
    """Links from `from` to `to`: open connections end, new ones are refused."""

    fault: Literal["cut"] = "cut"
    from_: NodeRefs
    to: NodeRefs


class InjectOneWay(InjectStep):
    """Nothing flows from `from` to `to`, whoever opened the connection; the other way all does."""

    fault: Literal["one-way"] = "one-way"
    from_: NodeRefs
    to: NodeRefs


class InjectIsolate(InjectStep):
    """`nodes` and `from` cannot talk, whoever opens the connection. `how`: see `cut` and `stall`."""

    fault: Literal["isolate"] = "isolate"
    nodes: NodeRefs
    from_: NodeRefs
    how: Literal["cut", "stall"] = "cut"


class _InjectProcess(InjectStep):
    nodes: NodeRefs
    when: Said | None = None
    """Hit the one node at the moment that its own log says so; the step fails if it does not."""

    @model_validator(mode="after")
    def _one_log(self) -> _InjectProcess:
        if self.when is not None and isinstance(self.nodes, tuple) and len(self.nodes) != 1:
            raise ValueError("`when` is about the log of one node: name one in `nodes`")
        return self


class InjectKill(_InjectProcess):
    """kill -9. Healed by a restart."""

    fault: Literal["kill"] = "kill"
    back: Literal["running", "ready"] = "ready"
    """When the restart counts as healed: once the new process runs, or once it answers requests."""


class InjectPause(_InjectProcess):
    """SIGSTOP. Healed by SIGCONT. Links to a paused node can only be cut: stall them before."""

    fault: Literal["pause"] = "pause"


class InjectDuplicate(InjectStep):
    """Start the topology's second process for a broker id (`duplicate_of`). Healed by ending it."""

    fault: Literal["duplicate"] = "duplicate"
    node: NodeRef


class InjectLogDir(InjectStep):
    """A log directory of a running node fails for real. Healed by what it held; the node uses it after a restart.

    `partition`: the directory that holds this one on the node, found when the step begins; `dir`: by its place.
    """

    fault: Literal["log-dir"] = "log-dir"
    node: NodeRef
    partition: Partition | None = None
    dir: Annotated[int, Field(ge=0)] | None = None
    how: Literal["replaced", "removed"] = "replaced"
    """`replaced`: a regular file stands in its place; `removed`: nothing does."""

    @model_validator(mode="after")
    def _one_of_two(self) -> InjectLogDir:
        if (self.partition is None) == (self.dir is None):
            raise ValueError("a failing log directory is named by either `partition` or `dir`")
        return self


Inject = Annotated[
    InjectStall | InjectCut | InjectOneWay | InjectIsolate | InjectKill | InjectPause | InjectDuplicate | InjectLogDir,
    Field(discriminator="fault"),
]


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
    Start | Shutdown | Roll | ZnodeStep | Bind | Workload | Produce | Inject | Heal | HealAll | Hold | Await | Probe,
    Field(discriminator="do"),
]
