"""Inject steps: one class for each fault of the registry, with its parameters, a name, and the moment at which it hits.

`inject` makes one in Python; `Inject` is the union of all that a plan file is read by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, Union

from pydantic import Discriminator, Field, Tag, create_model

from fencepost.faults.fault import Fault
from fencepost.faults.parameters import MOVING, FaultParameters, Milliseconds, Name
from fencepost.faults.registry import FAULTS
from fencepost.harness.plan.base import LogLine
from fencepost.harness.plan.conditions import Await
from fencepost.harness.plan.conditions.condition import AwaitStep


def _kind(value: Any) -> str:
    says = "says" in value if isinstance(value, Mapping) else isinstance(value, LogLine)
    awaits = "condition" in value if isinstance(value, Mapping) else isinstance(value, AwaitStep)
    return "said" if says and not awaits else "awaited"


When = Annotated[Annotated[LogLine, Tag("said")] | Annotated[Await, Tag("awaited")], Discriminator(_kind)]
"""`{says: "step caught-up"}`: a line of a node's log; `{condition: isr-shrunk, partition: t-0, within_ms: 9000}`: any
condition that a step can await."""


class InjectStep(FaultParameters):
    """The base of all inject steps. The step of a fault extends that fault's parameters as well.

    A fault hits when its step begins, or `plus_ms` after `when` has come true: the same state, whatever the second.
    References to roles (`leader:t-0`) are resolved then, not when the step begins. A fault that waits for a line of the
    log of the node that it hits is resolved before, so that it hits within milliseconds.
    """

    harmless: ClassVar[bool] = True  # the fault counts by its own events

    do: Literal["inject"] = "inject"
    as_: Name
    when: When | None = None
    """Inject when this comes true: a line of a node's log, {says: fenced}, or a condition that plans await. The step
    fails if it does not come true in time."""
    plus_ms: Milliseconds | None = None
    """Inject this many milliseconds after `when` has come true."""
    fault: str

    @property
    def parameters(self) -> FaultParameters:
        """The fault's parameters alone."""
        model = FAULTS[self.fault].Parameters
        return model.model_construct(**{key: getattr(self, key) for key in model.model_fields})

    @property
    def heard(self) -> str | None:
        """The reference to the node whose log `when` is about: the node that it names, or the one that the fault hits.
        None: not about a log, or ambiguous (`fencepost.harness.plan.checks` refuses that)."""
        if not isinstance(self.when, LogLine):
            return None
        return self.when.node or (self.aims[0] if len(self.aims) == 1 else None)

    @property
    def aimed_early(self) -> bool:
        """True if references are resolved before the wait: they lead to the same nodes then, or the wait is for a line
        of their own log."""
        if not isinstance(self.when, LogLine):
            return self.when is None
        return self.when.node is None or not any(ref.startswith(MOVING) for ref in self.aims)


def _step_of(fault: type[Fault]) -> type[InjectStep]:
    """Return the class of the inject steps of a fault: `InjectOneWay` for `one-way`."""
    return create_model(
        "Inject" + "".join(part.capitalize() for part in fault.name.split("-")),
        __base__=(fault.Parameters, InjectStep),  # type: ignore[arg-type]  # typed for bases of one type
        __module__=__name__,
        __doc__=fault.Parameters.__doc__,
        fault=(Literal[fault.name], fault.name),  # type: ignore[arg-type]  # a literal made at run time
    )


STEPS: Mapping[str, type[InjectStep]] = {name: _step_of(fault) for name, fault in FAULTS.items()}
_NAMES: Mapping[type[FaultParameters], str] = {fault.Parameters: name for name, fault in FAULTS.items()}

if TYPE_CHECKING:
    Inject: TypeAlias = InjectStep
else:
    Inject = Annotated[Union[tuple(STEPS.values())], Field(discriminator="fault")]  # noqa: UP007  # made at run time


def inject(
    as_: str, parameters: FaultParameters, *, when: LogLine | AwaitStep | None = None, plus_ms: int | None = None
) -> InjectStep:
    """Return the step called `as_` that injects the fault whose parameters these are.

    Raise pydantic's ValidationError if a value is not allowed in a plan.
    """
    given = {key: getattr(parameters, key) for key in type(parameters).model_fields}
    step = STEPS[_NAMES[type(parameters)]]
    return step.model_validate({"as": as_, "when": when, "plus_ms": plus_ms, **given})
