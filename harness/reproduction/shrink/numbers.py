"""Durations, counts and numbers of partitions in a plan, reduced one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.steps.hold import Hold
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.reproduction.shrink.parts import mended

OF_FAULTS = ("times", "cycles", "rounds", "count")
"""Fields of faults that are counts. All fields in milliseconds are reduced as well."""
WORTH = 50
"""Smallest reduction of a duration, in milliseconds."""


@dataclass(frozen=True)
class Number:
    """A number in a plan. `of`: the name of a step or a topic. `least`: the smallest value that makes sense."""

    of: str
    field: str
    value: int
    least: int

    def smaller(self) -> Iterator[int]:
        """Yield smaller values to try, the smallest first."""
        tried = {self.value}
        for value in (self.least, self.value // 4, self.value // 2, self.value * 3 // 4):
            if value not in tried and self.least <= value < self.value and self._worth(value):
                tried.add(value)
                yield value

    def _worth(self, value: int) -> bool:
        return not self.field.endswith("ms") or self.value - value >= WORTH

    def __str__(self) -> str:
        return f"{self.field} of {self.of}"


def numbers(plan: Plan) -> Iterator[Number]:
    """All that may be made less; the plan's steps are named."""
    for place, step in enumerate(plan.steps):
        name = plan.step_name(place)
        if isinstance(step, Hold):
            yield Number(name, "ms", step.ms, 0)
        elif isinstance(step, Produce):
            yield Number(name, "records", step.records, 1)
        elif isinstance(step, InjectStep):
            for field in type(step).model_fields:
                value = getattr(step, field)
                if isinstance(value, int) and not isinstance(value, bool):
                    if field.endswith("_ms"):
                        yield Number(name, field, value, 0 if field == "plus_ms" else 1)
                    elif field in OF_FAULTS:
                        yield Number(name, field, value, 1)
    for topic in plan.topics:
        yield Number(topic.name, "partitions", len(topic.assignments), 1)


def with_number(plan: Plan, number: Number, value: int) -> Plan | None:
    """The plan with this number changed; None if that is no plan."""
    if number.field == "partitions":
        topics = [
            topic.model_copy(update={"assignments": topic.assignments[:value]}) if topic.name == number.of else topic
            for topic in plan.topics
        ]
        return mended(plan.model_copy(update={"topics": tuple(topics)}))
    steps = [step.model_copy(update={number.field: value}) if step.as_ == number.of else step for step in plan.steps]
    return mended(plan.model_copy(update={"steps": tuple(steps)}))
