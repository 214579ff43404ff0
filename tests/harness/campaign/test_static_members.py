"""Operations on static members claim which process has a place, and which one is refused or fenced."""

from __future__ import annotations

import pytest

from fencepost.harness.campaign.operations.static_members import StaticMemberReplaced, StaticMembersReturn
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps.shutdown import Shutdown
from tests.harness.campaign.test_questions import asked, script


def outcome(step: ApiProbe) -> str:
    return step.expect.outcome if step.expect else ""


@pytest.mark.requirement("CRD-01")
def test_two_members_of_a_full_group_come_back_and_one_of_them_is_fenced() -> None:
    for seed in range(10):
        _, *beats = asked(script(seed), StaticMembersReturn())
        size = int(StaticMembersReturn.settings["group.consumer.max.size"])
        joined, (too_many, taken, *rest) = beats[:size], beats[size:]
        assert len({step.body["instance_id"] for step in joined}) == size
        assert [outcome(too_many), outcome(taken)] == ["error:81", "error:[81,111]"]
        assert too_many.body["instance_id"] not in {step.body["instance_id"] for step in joined}
        assert taken.body["instance_id"] in {step.body["instance_id"] for step in joined}
        left, back, (fenced, again, anew) = rest[:2], rest[2:4], rest[4:]
        assert [step.body["instance_id"] for step in left] == [step.body["instance_id"] for step in back]
        assert {outcome(step) for step in (*back, anew)} == {"served"}
        assert fenced.body["member_id"] == anew.body["member_id"] == left[0].body["member_id"]
        assert (outcome(fenced), again.body["member_epoch"]) == ("error:[25,82,110]", -2)


@pytest.mark.requirement("CRD-01")
def test_each_process_that_lost_its_place_is_fenced() -> None:
    for seed in range(10):
        steps = asked(script(seed), StaticMemberReplaced())
        joined = [next(iter(step.binds)) for step in steps if step.api == "join_group"]
        fenced = [step.body["member_id"] for step in steps if outcome(step) == "error:82"]
        assert fenced == [f"${each}" for each in joined[:2]]
        assert len(joined) == 3


@pytest.mark.parametrize("target", ["quorum", "zk-controller", "leader-driven"])
def test_no_member_stays_and_no_coordinator_restarts_where_it_would_forget_its_members(target: str) -> None:
    for seed in range(10):
        made = script(seed, target=target)
        steps = asked(made, StaticMemberReplaced())
        assert (steps[-1].api, made.whole) == ("leave_group", True)


@pytest.mark.parametrize("operation", [StaticMembersReturn, StaticMemberReplaced])
def test_the_coordinator_restarts_in_some_plans_while_members_are_away(
    operation: type[StaticMembersReturn] | type[StaticMemberReplaced],
) -> None:
    restarted = set()
    for seed in range(20):
        made = script(seed)
        asked(made, operation())
        restarted.add((any(isinstance(step, Shutdown) for step in made.steps), made.whole))
    assert restarted == {(True, False), (False, True)}
