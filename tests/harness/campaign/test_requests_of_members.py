"""Operations on groups, transactions and cordons claim what a user is promised, and end where they began."""

from __future__ import annotations

import pytest

from fencepost.harness.campaign.operations.cordons import CORDONED, CordonedBroker
from fencepost.harness.campaign.operations.members import FullGroup, ShareGroupGrows, StaleShareState
from fencepost.harness.campaign.operations.operation import Operation
from fencepost.harness.campaign.operations.transactions import LateEnd
from fencepost.harness.plan.base import Level
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.targets.registry import load_file
from tests.harness.campaign.test_questions import asked, paused, script

OPERATIONS = (FullGroup, ShareGroupGrows, StaleShareState, LateEnd, CordonedBroker)


def claims(steps: list[ApiProbe], requirement: str) -> list[tuple[str, str]]:
    """Return level and outcome of each claim on a requirement."""
    return [
        (str(step.expect.level.value), step.expect.outcome)
        for step in steps
        if step.expect is not None and step.expect.requirement == requirement
    ]


@pytest.mark.requirement("CRD-04")
def test_a_group_is_as_large_as_it_may_be_when_a_member_of_it_comes_back() -> None:
    for seed in range(10):
        _, *beats = asked(script(seed), FullGroup())
        joined, [left, back] = beats[:-2], beats[-2:]
        assert {step.body["member_epoch"] for step in joined} == {0}
        assert str(len({step.body["instance_id"] for step in joined})) == FullGroup.settings["group.consumer.max.size"]
        assert (left.body["member_epoch"], back.body["member_epoch"]) == (-2, 0)
        assert left.body["instance_id"] == back.body["instance_id"]
        assert left.body["member_id"] in {step.body["member_id"] for step in joined} - {back.body["member_id"]}
        assert claims(beats, "CRD-04") == [("must", "served")]


@pytest.mark.requirement("CRD-03")
def test_a_share_group_is_claimed_to_begin_a_new_partition_at_its_begin() -> None:
    made = script()
    steps = asked(made, ShareGroupGrows())
    [topic] = [each for each in made.topics.values() if each.ours]
    assert claims(steps, "CRD-03") == [("must", "served")]
    assert steps[-1].body["groups"][0]["topics"] == [{"topic_name": topic.name, "partitions": [topic.partitions - 1]}]
    assert [*steps[-1].answer.values()] == [0]


@pytest.mark.requirement("CRD-02")
def test_a_share_group_joins_until_all_partitions_are_assigned() -> None:
    """A coordinator that did not know the topic yet assigned nothing, and no later heartbeat asked it again."""
    made = script()
    joins = [step for step in asked(made, ShareGroupGrows()) if step.api == "share_group_heartbeat"]
    assigned = [len(step.answer["assignment.topic_partitions[].partitions[]"]) for step in joins]
    assert assigned[1] == assigned[0] + 1
    assert all(step.within_ms > 0 and step.body["member_epoch"] == 0 for step in joins)


def test_the_state_of_a_share_group_is_refused_to_every_earlier_leader() -> None:
    for seed in range(10):
        steps = asked(script(seed), StaleShareState())
        [begun] = [step for step in steps if step.api == "initialize_share_group_state"]
        state = begun.body["topics"][0]["partitions"][0]["state_epoch"]
        now, *stale = [step.body["topics"][0]["partitions"][0] for step in steps if step.api.startswith("write")]
        assert now["state_epoch"] == state
        for each in stale:
            assert each["state_epoch"] < state or each["leader_epoch"] < now["leader_epoch"]
        assert claims(steps, "CRD-02") == [("must", "served"), *[("must", "refused")] * len(stale)]


@pytest.mark.requirement("TXN-01")
def test_the_late_end_has_the_epoch_of_the_first_transaction() -> None:
    steps = asked(script(), LateEnd())
    [bound] = [step.binds for step in steps if step.api == "init_producer_id"]
    first, late, last = [step for step in steps if step.api == "end_txn"]
    assert first.body == late.body != last.body
    assert late.body["producer_epoch"][1:] in bound
    assert claims(steps, "TXN-01") == [("never", "served")]


@pytest.mark.requirement("ADM-04")
def test_what_was_cordoned_is_open_in_the_end_and_takes_no_replica_until_then() -> None:
    for seed in range(10):
        cordon, placed, named, opened, again = asked(script(seed), CordonedBroker())
        change, undo = (step.body["resources"][0]["configs"][0] for step in (cordon, opened))
        assert (change["name"], change["value"]) == (CORDONED, "*")
        assert undo == {"name": CORDONED, "config_operation": 1, "value": None}
        broker = cordon.body["resources"][0]["resource_name"]
        assert cordon.node == opened.node == f"node-{broker}", "a broker takes changes of its own settings only"
        assert named.body["topics"][0]["assignments"][0]["broker_ids"] == [int(broker)]
        assert {step.body["validate_only"] for step in (placed, named, again)} == {True}
        assert claims([placed, named, again], "ADM-04") == [
            ("must", "error:38"),
            ("must", "error:39"),
            ("must", "served"),
        ]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_single_requests_of_clients_are_sent_to_whole_clusters_that_have_them(operation: type[Operation]) -> None:
    made = script()
    paused(made)
    assert all(operation().add(made) is None for _ in range(5))
    file = load_file("apache-kafka")
    assert operation().left_out_reason(file, file.version, frozenset()) is None
    for target in ("quorum", "zk-controller", "leader-driven"):
        file = load_file(target)
        assert operation().left_out_reason(file, file.version, frozenset()) is not None


@pytest.mark.parametrize("operation", [FullGroup, ShareGroupGrows, StaleShareState, CordonedBroker])
def test_a_cluster_that_began_without_a_feature_is_not_asked_for_it(operation: type[Operation]) -> None:
    for version in ("3.9.2", "3.9.2..4.4.0"):
        file = load_file(f"apache-kafka:{version}")
        assert operation().left_out_reason(file, version, frozenset()) is not None


@pytest.mark.parametrize(
    ("operation", "release", "bug"),
    [
        (FullGroup, "4.3.1", "KAFKA-20601"),
        (ShareGroupGrows, "4.3.1", "KAFKA-20742"),
        (StaleShareState, "4.3.1", "KAFKA-20743"),
        (CordonedBroker, "4.3.1", "KAFKA-20832"),
        (LateEnd, "3.9.2", "KAFKA-17754"),
    ],
)
def test_a_bug_of_a_release_is_excused_there_only(operation: type[Operation], release: str, bug: str) -> None:
    for target, known in ((f"apache-kafka:{release}", {bug}), ("apache-kafka:4.4.0", set())):
        steps = asked(script(target=target), operation())
        assert {step.expect.known_bug.id for step in steps if step.expect and step.expect.known_bug} == known
        assert all(step.expect.level in (Level.MUST, Level.NEVER) for step in steps if step.expect)
