"""Operations are legal for what the steps before them left, and say what they change."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fencepost.cluster_impl.designs.shared.topic_settings import problem_with, problem_with_broker_setting
from fencepost.faults.processes.kill import Kill
from fencepost.harness.campaign.cluster_spec import MIN_ISR, generate_cluster
from fencepost.harness.campaign.features import FaultMove
from fencepost.harness.campaign.operations.administrator import Administrator
from fencepost.harness.campaign.operations.configurations import ABSENT, ChangeSeveralSettings
from fencepost.harness.campaign.operations.operation import Operation
from fencepost.harness.campaign.operations.partitions import (
    AddPartitions,
    CancelReassignment,
    ElectPreferred,
    Reassign,
)
from fencepost.harness.campaign.operations.requests import BROKER, SET, TOPIC
from fencepost.harness.campaign.operations.settings import AlterBrokerDefault, AlterMinIsr, AlterSetting
from fencepost.harness.campaign.operations.topics import CreateHugeTopic, CreateTopic, DeleteTopic, RecreateTopic
from fencepost.harness.campaign.operations.voters import ChangeVoters
from fencepost.harness.campaign.planner import generate
from fencepost.harness.campaign.script import Script
from fencepost.harness.campaign.topics import LONGEST, ODD_NAMES, Existence, new_name
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.conditions.voters_caught_up import VotersCaughtUp
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.requests.reassign import ReassignProbe
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps.znode import ZnodeStep
from fencepost.harness.targets.registry import load_file


def script(target: str, seed: int = 1, *, brokers: int = 4) -> Script:
    rng, file = random.Random(seed), load_file(target)
    while len((cluster := generate_cluster(rng, file, frozenset(), with_duplicate=False)).brokers) != brokers:
        pass
    made = Script(rng, cluster, tolerated_only=False)
    made.open()
    return made


def asked(made: Script) -> list[ProbeStep]:
    return [step for step in made.steps if isinstance(step, ProbeStep)]


def test_names_are_legal_and_never_collide() -> None:
    for seed in range(50):
        rng, taken = random.Random(seed), ["t"]
        for _ in range(20):
            taken.append(new_name(rng, taken))
        flat = [name.replace(".", "_") for name in taken]
        assert len(set(flat)) == len(flat)
        assert all(0 < len(name) <= LONGEST and name not in (".", "..") for name in taken)
    assert {len(name) for name in ODD_NAMES} >= {1, LONGEST}


def test_a_topic_that_is_to_last_is_never_deleted() -> None:
    made = script("quorum")
    for _ in range(40):
        CreateTopic().add(made)
        DeleteTopic().add(made)
        RecreateTopic().add(made)
    lasting = {name for name, topic in made.topics.items() if topic.lasting}
    assert lasting > {"t"}
    assert not any(isinstance(step, DeleteTopicProbe) and step.topic in lasting for step in asked(made))


def test_a_topic_with_settings_is_created_again_without_them() -> None:
    left = 0
    for seed in range(10):
        made = script("quorum", seed)
        for _ in range(5):
            RecreateTopic().add(made)
        configs: dict[str, list[dict[str, str]]] = {}
        for step in asked(made):
            if isinstance(step, CreateTopicProbe):
                configs.setdefault(step.topic, []).append(step.config)
        for first, *again in configs.values():
            assert not any(again)
            left += bool(first and again)
    assert left >= 5


def test_a_part_is_refused_beside_changes_that_change_something() -> None:
    refused = 0
    for seed in range(60):
        made = script("quorum", seed)
        ChangeSeveralSettings().add(made)
        [step, *_] = [each for each in asked(made) if isinstance(each, ApiProbe) and each.api.startswith("incremental")]
        resources = step.body["resources"]
        if any(each["resource_name"] == ABSENT for each in resources):
            assert all(change["config_operation"] == SET for each in resources for change in each["configs"])
            refused += 1
    assert refused >= 5


def test_what_was_deleted_for_certain_is_not_deleted_again() -> None:
    made = script("quorum")
    there: set[str] = set()
    for _ in range(30):
        DeleteTopic().add(made)
    for step in asked(made):
        if isinstance(step, CreateTopicProbe):
            assert step.topic not in there
            there.add(step.topic)
        elif isinstance(step, DeleteTopicProbe):
            assert step.topic in there
            there.discard(step.topic)


def test_a_controller_that_deletes_after_its_answer_is_not_claimed_to_create_again_at_once() -> None:
    for target, claimed in (("quorum", True), ("zk-controller", False)):
        made = script(target)
        RecreateTopic().prepare(made)
        RecreateTopic().add(made)
        again = asked(made)[-1]
        assert isinstance(again, CreateTopicProbe)
        assert (again.expect is not None) is claimed


def test_a_huge_topic_is_created_once_and_gives_all_that_follows_more_time() -> None:
    made = script("apache-kafka")
    before = made.cluster.liveness_timeout_ms
    assert CreateHugeTopic().add(made) is not None
    assert CreateHugeTopic().add(made) is None
    created, whole = made.steps[-2:]
    assert isinstance(created, CreateTopicProbe)
    assert created.partitions >= 1000
    assert isinstance(whole, Converged)
    assert whole.expect is not None
    assert whole.within_ms == made.cluster.liveness_timeout_ms > before


def test_no_huge_topic_is_created_while_something_is_broken() -> None:
    made = script("apache-kafka")
    FaultMove(Kill).add(made)
    assert made.held
    assert CreateHugeTopic().add(made) is None


def at_level(target: str, level: str | None) -> Script:
    made = script(target)
    made.cluster = replace(made.cluster, level=level)
    return made


@pytest.mark.parametrize(("target", "level"), [("apache-kafka", "dynamic"), ("quorum", None)])
def test_one_controller_keeps_its_vote_and_fewer_may_be_away_while_others_have_none(
    target: str, level: str | None
) -> None:
    made, voters = at_level(target, level), {"node-1", "node-2", "node-3"}
    for _ in range(30):
        made.await_whole()
        ChangeVoters().add(made)
        change = asked(made)[-1]
        assert isinstance(change, ApiProbe)
        node = f"node-{change.body['voter_id']}"
        assert (node in voters) is (change.api == "remove_raft_voter")
        voters ^= {node}
        assert made.cluster.without_vote == {"node-1", "node-2", "node-3"} - voters
        assert made.cluster.spare_quorum == (len(voters) - 1) // 2
    assert voters


@pytest.mark.parametrize(("target", "level"), [("apache-kafka", "dynamic"), ("quorum", None)])
def test_a_removal_is_claimed_only_after_all_voters_have_caught_up(target: str, level: str | None) -> None:
    made = at_level(target, level)
    for _ in range(30):
        made.await_whole()
        ChangeVoters().add(made)
    removals = [place for place, step in enumerate(made.steps) if getattr(step, "api", "") == "remove_raft_voter"]
    assert removals
    assert all(isinstance(made.steps[place - 1], VotersCaughtUp) for place in removals)


def test_a_vote_is_not_claimed_to_be_given_back_to_a_controller_that_may_have_it() -> None:
    made = at_level("quorum", None)
    made.cluster = replace(made.cluster, without_vote=frozenset({"node-1"}), vote_unknown=frozenset({"node-1"}))
    made.await_whole()
    given: list[ApiProbe] = []
    while not given:
        ChangeVoters().add(made)
        made.await_whole()
        given = [step for step in asked(made) if isinstance(step, ApiProbe) and _gives_to_the_first(step)]
    assert given[0].expect is None
    assert "node-1" in made.cluster.without_vote


def _gives_to_the_first(step: ApiProbe) -> bool:
    return step.api == "add_raft_voter" and step.body["voter_id"] == 1


def test_a_vote_counts_as_lost_until_it_was_claimed_to_be_given_back() -> None:
    made = at_level("apache-kafka", "dynamic")
    FaultMove(Kill).add(made)
    for _ in range(20):
        ChangeVoters().add(made)
    changes = [step for step in asked(made) if isinstance(step, ApiProbe) and "voter" in step.api]
    assert {step.api for step in changes} == {"add_raft_voter", "remove_raft_voter"}
    assert not any(step.expect for step in changes)
    assert all(step.background for step in changes)
    assert len(made.cluster.without_vote) == 2
    assert made.cluster.spare_quorum == 0


def test_the_directories_of_voters_are_asked_for_once_and_before_anything_is_broken() -> None:
    made = at_level("apache-kafka", "dynamic")
    FaultMove(Kill).add(made)
    for _ in range(5):
        ChangeVoters().add(made)
    first = made.steps[:3]
    assert {name for step in first if isinstance(step, ApiProbe) for name in step.binds} == {
        "directory-node-1",
        "directory-node-2",
        "directory-node-3",
    }
    assert sum(isinstance(step, ApiProbe) and step.api == "describe_quorum" for step in made.steps) == 3


def test_voters_of_files_do_not_change() -> None:
    assert at_level("apache-kafka", "static").cluster.target.levels
    assert ChangeVoters().add(at_level("apache-kafka", "static")) is None
    plans = [generate("apache-kafka", "process", seed) for seed in range(80)]
    changing = [plan for plan in plans if any("voter" in getattr(step, "api", "") for step in plan.steps)]
    assert changing
    assert {plan.level for plan in changing} == {"dynamic"}


def test_the_preferred_leader_of_one_partition_is_elected_and_of_all() -> None:
    made = script("quorum")
    for _ in range(20):
        ElectPreferred().add(made)
    named = [step.body["topic_partitions"] for step in asked(made) if isinstance(step, ApiProbe)]
    assert {each and sum(len(topic["partitions"]) for topic in each) for each in named} == {None, 1}
    ones = [step for step in asked(made) if isinstance(step, ApiProbe) and step.body["topic_partitions"]]
    assert not any(step.expect for step in ones)


def test_partitions_are_only_ever_added() -> None:
    made, counts = script("apache-kafka"), dict[str, int]()
    for topic in made.cluster.topics:
        counts[topic.name] = len(topic.assignments)
    for _ in range(30):
        AddPartitions().add(made)
    for step in asked(made):
        if isinstance(step, CreatePartitionsProbe):
            assert step.count > counts[step.topic]
            counts[step.topic] = step.count


def test_a_broker_that_may_have_lost_its_replicas_is_no_holder_any_more() -> None:
    """Faults of disks are aimed at holders, and prove nothing on a broker without a partition."""
    made = script("apache-kafka")
    for _ in range(20):
        if Reassign().add(made) is None:
            continue
        step = asked(made)[-1]
        assert isinstance(step, ReassignProbe)
        assert step.to is not None
        assert len(set(step.to)) == len(step.to)
    assert made.cluster.moving
    assert not made.cluster.moving & set(made.cluster.holders)


def test_a_raised_minimum_lowers_what_may_be_away() -> None:
    made = script("apache-kafka")
    before = made.cluster.spare_brokers
    for _ in range(30):
        AlterMinIsr().add(made)
    values = {step.body["resources"][0]["configs"][0]["value"] for step in asked(made) if isinstance(step, ApiProbe)}
    assert len(values) > 1
    for topic in made.cluster.topics:
        assert int(topic.config[MIN_ISR]) <= min(map(len, topic.assignments))
    assert made.cluster.spare_brokers <= before


def test_a_plan_that_tolerates_what_it_breaks_raises_no_minimum_beyond_that() -> None:
    made = script("apache-kafka")
    made.tolerated_only = True
    before = made.cluster.spare_brokers
    for _ in range(30):
        AlterMinIsr().add(made)
    assert made.cluster.spare_brokers == before


def test_requests_that_are_not_forwarded_go_to_the_controller() -> None:
    """Shipped Kafka with ZooKeeper answers 41 (not controller) from any other broker."""
    made = script("apache-kafka-zk")
    for operation in (CreateTopic(), AddPartitions(), ElectPreferred()):
        operation.add(made)
        assert asked(made)[-1].node == "active-controller"
    made = script("zk-controller")
    CreateTopic().add(made)
    assert asked(made)[-1].node in made.cluster.brokers


@pytest.mark.parametrize("operation", [Reassign(), ElectPreferred()])
def test_the_reference_controller_in_zookeeper_is_administered_by_znodes_and_by_requests(
    operation: Reassign | ElectPreferred,
) -> None:
    made = script("zk-controller")
    for _ in range(30):
        operation.add(made)
    written = [step for step in made.steps if isinstance(step, ZnodeStep)]
    assert written
    assert all(step.may_fail for step in written)
    assert any(step.node in made.cluster.brokers for step in asked(made))


@pytest.mark.parametrize(
    "operation", [AddPartitions(), Reassign(), CancelReassignment(), ElectPreferred(), Administrator()]
)
@pytest.mark.parametrize("target", ["quorum", "zk-controller", "leader-driven"])
def test_every_design_is_asked_for_what_it_serves(target: str, operation: Operation) -> None:
    file = script(target).cluster.target
    reason = operation.left_out_reason(file, file.version, frozenset())
    refused = target == "leader-driven" and isinstance(operation, CancelReassignment | Administrator)
    assert (reason is None) is not refused


@pytest.mark.parametrize("target", ["quorum", "zk-controller", "leader-driven"])
def test_every_design_is_given_only_settings_and_defaults_that_it_takes(target: str) -> None:
    made, altered = script(target), dict[int, set[str]]()
    for _ in range(40):
        for operation in AlterMinIsr(), AlterSetting(), AlterBrokerDefault():
            operation.add(made)
    for step in asked(made):
        if not isinstance(step, ApiProbe) or step.api != "incremental_alter_configs":
            continue
        (resource,) = step.body["resources"]
        (change,) = resource["configs"]
        problem = problem_with_broker_setting if resource["resource_type"] == BROKER else problem_with
        assert problem(change["name"], change["value"]) is None
        altered.setdefault(resource["resource_type"], set()).add(change["name"])
    assert altered[BROKER] == {"log.retention.ms"}
    assert altered[TOPIC] == set(made.cluster.target.topic_settings)


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ((), [AlterMinIsr, AlterSetting, AlterBrokerDefault]),
        (("min.insync.replicas",), [AlterMinIsr]),
        (("retention.ms",), [AlterSetting]),
        (("retention.ms", "max.message.bytes"), [AlterSetting, AlterBrokerDefault]),
        (("cleanup.policy",), []),
    ],
)
def test_settings_that_topics_lack_are_not_changed(settings: tuple[str, ...], left: list[type[Operation]]) -> None:
    file = load_file("quorum").model_copy(update={"topic_settings": settings})
    operations = AlterMinIsr(), AlterSetting(), AlterBrokerDefault()
    assert [type(each) for each in operations if each.left_out_reason(file, file.version, frozenset()) is None] == left


def test_the_administrator_claims_nothing_and_keeps_its_topic_to_itself() -> None:
    made = script("quorum")
    Administrator().add(made)
    first, second = asked(made)
    assert isinstance(first, CreateTopicProbe)
    assert isinstance(second, DeleteTopicProbe)
    assert first.topic == second.topic
    assert made.topics[first.topic].existence is Existence.DELETED
    for step in (first, second):
        assert step.background
        assert step.repeat > 1
        assert step.expect is None
    for _ in range(10):
        DeleteTopic().add(made)
    assert sum(getattr(step, "topic", "") == first.topic for step in asked(made)) == 2


@pytest.mark.parametrize("within", [True, False])
def test_a_whole_cluster_in_the_middle_of_a_plan_is_claimed_as_at_its_end(within: bool) -> None:
    """Without a claim a replica that never returned made the run inconclusive."""
    made = script("quorum")
    made.within = within
    made.await_whole()
    awaited = made.steps[-1]
    assert isinstance(awaited, Converged)
    assert (awaited.expect is not None) is within
