"""A condition is one file: it does not load without a phrase, and what its fields refer to is checked by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

from fencepost.harness.plan.base import GroupRef, NodeRefOrNone, NodeRefs, Partition, PlanModel, Value
from fencepost.harness.plan.checks.references import step_references
from fencepost.harness.plan.conditions import CONDITIONS
from fencepost.harness.plan.conditions.bounds import Bounds
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed
from fencepost.harness.plan.refs import node_keys
from tests.harness.checkers.plans import plan


class Referring(AwaitStep):
    phrase = "{sources} feed {partition}"
    condition: Literal["referring"] = "referring"
    sources: NodeRefs = ()
    heir: NodeRefOrNone | None = None
    partition: Partition = "t-0"
    above: Value = 1
    readers: GroupRef | None = None

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        return Evaluation(lambda: True, str)


def messages(step: PlanModel) -> list[str]:
    return [f"{problem.at[-1]}: {problem.message}" for problem in step_references((), step, plan(), {"noted"})]


def without_a_phrase() -> object:
    class Silent(AwaitStep):
        condition: Literal["silent"] = "silent"

    return Silent


def with_another_field_in_its_phrase() -> object:
    class Misspelt(AwaitStep):
        phrase = "{nod} is there"
        condition: Literal["misspelt"] = "misspelt"
        node: str = "node-4"

    return Misspelt


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (without_a_phrase, "the condition Silent has no phrase"),
        (with_another_field_in_its_phrase, "the phrase of the condition Misspelt names nod, which it does not have"),
    ],
)
def test_a_condition_without_words_does_not_load(definition: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        definition()


def test_a_condition_that_is_not_decided_cannot_be_made() -> None:
    class Undecided(AwaitStep):
        phrase = "it is so"
        condition: Literal["undecided"] = "undecided"

    with pytest.raises(TypeError, match="evaluation"):
        Undecided()  # type: ignore[abstract]


def test_what_a_field_refers_to_is_checked_by_its_type_whatever_its_name() -> None:
    assert node_keys(Referring) == {"sources", "heir"}
    assert messages(Referring(sources=("node-4", "leader:t-0"), heir="none", above="$noted")) == []
    found = messages(
        Referring(sources=("node-4", "node-99"), heir="node-98", partition="u-0", above="$unheard", readers="g")
    )
    assert [message.partition(":")[0] for message in found] == ["sources", "heir", "partition", "above", "readers"]
    assert "node-99" in found[0]


def test_none_is_a_node_only_where_a_field_allows_it() -> None:
    assert len(messages(Referring(sources="none"))) == 1


def test_every_condition_is_found_by_the_name_that_plans_use() -> None:
    assert CONDITIONS["log-end"].__name__ == "LogEnd"
    assert all(each.model_fields["condition"].default == name for name, each in CONDITIONS.items())
    assert Bounds not in CONDITIONS.values()
