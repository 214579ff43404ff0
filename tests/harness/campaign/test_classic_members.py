"""Operations on members of the classic protocol claim which of them a group waits for, and for how long."""

from __future__ import annotations

import pytest

from fencepost.harness.campaign.operations.classic_members import IdNeverUsed, LateRejoin
from fencepost.harness.campaign.operations.operation import SERVED_WITHIN_MS, Operation
from fencepost.harness.campaign.operations.static_members import StaticMemberReplaced
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps.hold import Hold
from fencepost.harness.targets.registry import load_file
from tests.harness.campaign.test_questions import asked, paused, script

OPERATIONS = (IdNeverUsed, LateRejoin, StaticMemberReplaced)
TARGETS = ("quorum", "zk-controller", "leader-driven", "apache-kafka", "apache-kafka-zk")


def claims(steps: list[ApiProbe]) -> list[tuple[str, str, str]]:
    """Return request, rule and outcome of each claim."""
    return [(step.api, step.expect.requirement, step.expect.outcome) for step in steps if step.expect is not None]


@pytest.mark.requirement("CRD-04")
def test_a_rebalance_waits_for_an_id_without_a_client_no_longer_than_for_its_session() -> None:
    made = script()
    steps = asked(made, IdNeverUsed())
    silent, again = (step for step in steps if step.api == "join_group" and step.expect is not None)
    assert [each for each in claims(steps) if each[0] == "join_group"] == [
        ("join_group", "CRD-01", "error:79"),
        ("join_group", "CRD-04", "served"),
    ]
    assert (silent.body["member_id"], silent.body["group_instance_id"], silent.within_ms) == ("", None, 0)
    within = SERVED_WITHIN_MS * made.cluster.target.timeout_factor
    assert silent.body["session_timeout"] * 3 < again.timeout_ms == within < again.body["rebalance_timeout"]
    [first] = [step for step in steps if step.binds and step.body["member_id"] == ""]
    assert again.body["protocols"] != first.body["protocols"], "a leader that changes nothing may start no rebalance"
    assert again.body["member_id"][1:] in first.binds
    assert steps[-1].api == "leave_group"


@pytest.mark.requirement("CRD-07")
@pytest.mark.parametrize("operation", [IdNeverUsed, StaticMemberReplaced])
def test_a_member_gets_its_assignment_once_more(operation: type[Operation]) -> None:
    syncs = [step for step in asked(script(), operation()) if step.api == "sync_group"]
    first, again = syncs[:2]
    assert claims([first, again]) == [("sync_group", "CRD-07", "served")]
    assert again.body == {**first.body, "assignments": []}
    assert [*again.answer.values()] == [each["assignment"] for each in first.body["assignments"]]


@pytest.mark.requirement("CRD-08")
def test_a_member_waits_for_a_late_one_longer_than_for_its_session() -> None:
    for seed in range(10):
        made = script(seed)
        steps = asked(made, LateRejoin())
        assert claims(steps[1:]) == [("join_group", "CRD-08", "served")]
        first, waits, late = (step for step in steps if step.api == "join_group")
        [hold] = [step for step in made.steps if isinstance(step, Hold)]
        [beats] = [step for step in steps if step.api == "heartbeat"]
        assert (waits.background, hold.after, made.steps[-1]) == (True, f"{waits.as_}.begun", late)
        for each in (first, waits, late):
            assert each.body["session_timeout"] < hold.ms < each.body["rebalance_timeout"]
        assert late.body == {**first.body, "member_id": f"${next(iter(first.binds))}"}
        assert beats.background
        assert first.body["session_timeout"] < beats.repeat * beats.every_ms <= hold.ms


@pytest.mark.parametrize("operation", OPERATIONS)
def test_members_are_sent_to_every_whole_cluster(operation: type[Operation]) -> None:
    for target in TARGETS:
        file = load_file(target)
        assert operation().left_out_reason(file, file.version, frozenset()) is None
    made = script()
    paused(made)
    assert all(operation().add(made) is None for _ in range(5))


def test_sessions_are_as_short_as_coordinators_of_apache_kafka_let_them_be() -> None:
    for target in ("apache-kafka", "apache-kafka-zk"):
        shortest = int(load_file(target).settings.broker["group.min.session.timeout.ms"])
        joins = [step.body for step in asked(script(target=target), LateRejoin()) if step.api == "join_group"]
        assert all(body["session_timeout"] >= shortest for body in joins)
