"""What every inject step has: a name, and the moment at which it hits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Tag

from harness.plan.base import Milliseconds, Name, NodeRefs, PlanModel, Said
from harness.plan.conditions import Await, AwaitStep

MOVING = ("leader:", "followers:", "active-controller", "zookeeper-leader")
"""How references begin that lead to other nodes at other times."""


def _kind(value: Any) -> str:
    says = "says" in value if isinstance(value, Mapping) else isinstance(value, Said)
    awaits = "condition" in value if isinstance(value, Mapping) else isinstance(value, AwaitStep)
    return "said" if says and not awaits else "awaited"


When = Annotated[Annotated[Said, Tag("said")] | Annotated[Await, Tag("awaited")], Discriminator(_kind)]
"""`{says: "step caught-up"}`: a line of a node's log; `{condition: isr-shrunk, partition: t-0, within_ms: 9000}`: any
condition that a step can await."""


class InjectStep(PlanModel):
    """A fault hits when its step begins, or `plus_ms` after `when` has come true: the same state, whatever the second.

    What roles (`leader:t-0`) lead to is found then, not when the step begins; but a fault that waits for a line of the
    log of the node that it hits is aimed before, and hits within milliseconds.
    """

    do: Literal["inject"] = "inject"
    as_: Name
    when: When | None = None
    """The step fails if this does not come true in time: the story could not be told."""
    plus_ms: Milliseconds | None = None

    one_node: ClassVar[tuple[str, ...]] = ("node",)
    many_nodes: ClassVar[tuple[str, ...]] = ("nodes", "from_", "to")
    """The fields that refer to nodes."""

    @property
    def aims(self) -> tuple[str, ...]:
        """All references to nodes, as the plan has them."""
        given: list[NodeRefs | None] = [getattr(self, key, None) for key in (*self.one_node, *self.many_nodes)]
        return tuple(ref for refs in given if refs for ref in ((refs,) if isinstance(refs, str) else refs))

    @property
    def heard(self) -> str | None:
        """Whose log `when` is about: the node that it names, or the one that the fault hits. None: not about a log, or
        not clear (`harness.plan.check` refuses that)."""
        if not isinstance(self.when, Said):
            return None
        return self.when.node or (self.aims[0] if len(self.aims) == 1 else None)

    @property
    def aimed_early(self) -> bool:
        """Aimed and set up before what it waits for: it leads to the same nodes then, or is about their own log."""
        if not isinstance(self.when, Said):
            return self.when is None
        return self.when.node is None or not any(ref.startswith(MOVING) for ref in self.aims)
