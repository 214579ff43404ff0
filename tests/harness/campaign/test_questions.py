"""Questions, mistakes and changed defaults of random plans claim what every release owes, and come at the end."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fencepost.faults.processes.pause import Pause
from fencepost.harness.campaign.cluster_spec import generate_cluster
from fencepost.harness.campaign.operations.coordination import FindCoordinator, OffsetsWithoutMembers
from fencepost.harness.campaign.operations.descriptions import DescribeConfigs, DescribeLogDirs, OffsetsByTime
from fencepost.harness.campaign.operations.fetch_sessions import FetchSession
from fencepost.harness.campaign.operations.log_starts import RecordsDeletedTwice
from fencepost.harness.campaign.operations.mistakes import (
    ABSENT_BROKER,
    METADATA_LOG,
    MistakenReassignment,
    MistakenTopic,
    UnknownSetting,
    UnknownTopicId,
)
from fencepost.harness.campaign.operations.operation import Operation
from fencepost.harness.campaign.operations.requests import SET
from fencepost.harness.campaign.operations.settings import AlterBrokerDefault
from fencepost.harness.campaign.planner import SETTING_VALUES, BrokerSettings, generate
from fencepost.harness.campaign.script import Script
from fencepost.harness.campaign.situations.missed import NewProducersWithoutControllers, RecreatedWhileAway
from fencepost.harness.plan.base import Level
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.requests.produce import ProduceProbe
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.shutdown import Shutdown
from fencepost.harness.targets.registry import load_file

MISTAKES = (MistakenReassignment, MistakenTopic, UnknownSetting, UnknownTopicId)
QUESTIONS = (
    *MISTAKES,
    FetchSession,
    RecordsDeletedTwice,
    DescribeConfigs,
    DescribeLogDirs,
    OffsetsByTime,
    OffsetsWithoutMembers,
)


def script(seed: int = 1, *, settings: dict[str, str] | None = None, target: str = "apache-kafka") -> Script:
    rng, file = random.Random(seed), load_file(target)
    cluster = generate_cluster(rng, file, frozenset(), with_duplicate=False)
    cluster = replace(cluster, settings=settings or {})
    made = Script(rng, cluster, tolerated_only=False)
    made.open()
    return made


def paused(made: Script) -> None:
    """Let a fault hold."""
    fault = Pause.generate(made.rng, made.cluster)
    assert fault is not None
    made.add(fault)


def asked(made: Script, operation: Operation) -> list[ApiProbe]:
    before = len(made.steps)
    assert operation.add(made) is not None
    return [step for step in made.steps[before:] if isinstance(step, ApiProbe)]


@pytest.mark.requirement("ADM-02")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_has_to_be_named_by_a_whole_cluster_and_is_never_a_server_error(mistake: type[Operation]) -> None:
    made = script()
    for step in asked(made, mistake()):
        assert step.expect is not None
        assert (step.expect.level, step.expect.outcome[:7]) == (Level.MUST, "error:[")
    paused(made)
    for step in asked(made, mistake()):
        assert step.expect is not None
        assert (step.expect.level, step.expect.outcome) == (Level.NEVER, "error:-1")


@pytest.mark.requirement("ADM-02")
def test_a_partition_moves_to_no_broker_that_is_not_there() -> None:
    errors = set()
    for seed in range(10):
        for step in asked(script(seed), MistakenReassignment()):
            [partition] = step.body["topics"][0]["partitions"]
            if ABSENT_BROKER in partition["replicas"]:
                assert step.expect is not None
                errors.add(step.expect.outcome)
    assert errors == {"error:[39]"}


@pytest.mark.parametrize(
    ("release", "known"), [("4.0.1", {"KAFKA-20129", "KAFKA-19439"}), ("4.2.1", {"KAFKA-20129"}), ("4.3.1", set())]
)
def test_a_known_bug_is_named_where_its_release_can_show_it_only(release: str, known: set[str]) -> None:
    shown: dict[str, set[str]] = {}
    for seed in range(20):
        made = script(seed, target=f"apache-kafka:{release}")
        for step in (*asked(made, UnknownSetting()), *asked(made, OffsetsWithoutMembers())):
            if step.expect is not None and step.expect.known_bug is not None:
                shown.setdefault(step.expect.known_bug.id, set()).add(f"{step.api} {step.version}")
                operations = [
                    change["config_operation"] for each in step.body.get("resources", ()) for change in each["configs"]
                ]
                assert SET not in operations
    assert set(shown) == known
    assert shown.get("KAFKA-19439", {"offset_fetch 1"}) == {"offset_fetch 1"}


@pytest.mark.requirement("ADM-03")
def test_a_description_is_claimed_to_have_what_was_asked_for_and_nothing_else() -> None:
    made = script()
    for _ in range(20):
        [step] = asked(made, DescribeConfigs())
        keys = step.body["resources"][0]["configuration_keys"]
        assert step.answer == {"results[0].configs[].name": sorted(set(keys))}
        [step] = asked(made, DescribeLogDirs())
        described = step.body["topics"][0]["topic"]
        assert not any(f"name={described}]" in path for path in step.answer)


@pytest.mark.requirement("ADM-02")
def test_a_fetch_session_is_claimed_to_go_on_at_its_due_epoch_alone() -> None:
    begin, early, due, again, unknown = asked(script(), FetchSession())
    [session] = begin.binds
    assert [step.body["session_id"] for step in (begin, early, due, again)] == [0, *[f"${session}"] * 3]
    assert (begin.body["session_epoch"], due.body["session_epoch"], again.body["session_epoch"]) == (0, 1, 1)
    assert early.body["session_epoch"] > 1
    assert [step.expect and step.expect.outcome for step in (early, due, again, unknown)] == [
        *("error:[70,71]", None, "error:[70,71]", "error:[70]")
    ]
    assert all(list(step._request_problems()) == [] for step in (begin, early, due, again, unknown))


@pytest.mark.requirement("DSTO-07")
def test_a_second_deletion_of_fewer_records_is_claimed_to_leave_the_start_after_a_restart_as_well() -> None:
    made = script()
    steps = asked(made, RecordsDeletedTwice())
    first, second = (step for step in steps if step.api == "delete_records")
    high, low = (step.body["topics"][0]["partitions"][0]["offset"] for step in (first, second))
    assert high > low
    [start] = (step for step in steps if step.api == "list_offsets")
    assert [list(step.answer.values()) for step in (first, second, start)] == [[high]] * 3
    kinds = [type(step) for step in made.steps]
    assert made.steps.index(second) < kinds.index(Shutdown) < made.steps.index(start) < kinds.index(DeleteTopicProbe)
    assert all(list(step._request_problems()) == [] for step in steps)


@pytest.mark.requirement("ADM-03")
def test_the_highest_timestamp_is_at_the_offset_of_its_record() -> None:
    write, *questions = asked(script(), OffsetsByTime())
    records = write.body["topic_data"][0]["partition_data"][0]["records"]["records"]
    times = [record["timestamp"] for record in records]
    earliest, latest, newest = (step.answer["topics[0].partitions[0].offset"] for step in questions)
    assert (earliest, latest, times[newest]) == (0, len(times), max(times))


def test_offsets_are_not_looked_up_by_times_that_brokers_replace() -> None:
    made = script(settings={"log.message.timestamp.type": "LogAppendTime"})
    assert OffsetsByTime().add(made) is None


@pytest.mark.requirement("CRD-01")
@pytest.mark.requirement("CRD-02")
def test_a_commit_that_is_refused_in_part_leaves_the_rest_to_be_fetched() -> None:
    refused = set()
    for seed in range(30):
        _, commit, *fetches = asked(script(seed), OffsetsWithoutMembers())
        long = [each["committed_metadata"] != "" for each in commit.body["topics"][0]["partitions"]]
        assert commit.expect is not None
        assert (commit.expect.outcome == "error:12") is any(long)
        refused.add(any(long))
        for step in fetches:
            assert step.expect is not None
            assert [value == -1 for value in step.answer.values()] == long
        assert fetches[-1].body["require_stable"]
        assert {step.expect.level for step in fetches[:-1] if step.expect} == {Level.NEVER}
    assert refused == {True, False}


@pytest.mark.requirement("ADM-04")
def test_a_topic_that_takes_no_record_is_asked_before_and_after_a_default_changes() -> None:
    made = script()
    created, *_ = asked(made, AlterBrokerDefault())
    topic = created.body["topics"][0]
    assert topic["configs"] == [{"name": "max.message.bytes", "value": "10"}]
    produced = [step for step in made.steps if isinstance(step, ProduceProbe)]
    assert [step.expect.level for step in produced if step.expect] == [Level.NEVER, Level.NEVER]


@pytest.mark.parametrize("operation", [OffsetsByTime, OffsetsWithoutMembers, AlterBrokerDefault])
def test_what_only_a_whole_cluster_owes_is_not_asked_of_another(operation: type[Operation]) -> None:
    made = script()
    paused(made)
    assert all(operation().add(made) is None for _ in range(5))


@pytest.mark.parametrize("target", ["quorum", "zk-controller", "leader-driven"])
@pytest.mark.parametrize("operation", QUESTIONS)
def test_every_design_is_asked_what_it_serves(operation: type[Operation], target: str) -> None:
    file = load_file(target)
    assert operation().left_out_reason(file, file.version, frozenset()) is None
    assert any(step.expect for step in asked(script(target=target), operation()))


def test_the_name_of_the_metadata_log_is_a_mistake_where_there_is_one() -> None:
    for target, there in (("quorum", True), ("zk-controller", False), ("leader-driven", False)):
        made = script(target=target)
        mistakes = MistakenTopic().mistakes(made.rng, made)
        assert any(METADATA_LOG in each.title for each in mistakes) is there


def test_plans_end_with_the_questions_that_they_drew() -> None:
    """Most plans of a target that has them do, after everything is claimed to be well again."""
    asking = 0
    for seed in range(30):
        plan = generate("apache-kafka:4.3.1", "process", seed)
        end = next(place for place, step in enumerate(plan.steps) if step.as_ == "administered")
        asking += any(isinstance(step, ApiProbe) for step in plan.steps[end:])
        assert not any(isinstance(step, InjectStep) for step in plan.steps[end:])
    assert asking >= 15


def test_settings_of_brokers_stand_in_some_plans() -> None:
    plans = [generate("apache-kafka:4.3.1", "process", seed) for seed in range(30)]
    settled = [plan.settings.broker for plan in plans if plan.settings is not None and plan.settings.broker]
    assert 5 < len(settled) < 25
    assert all(value in SETTING_VALUES[key] for each in settled for key, value in each.items())
    others = [generate("quorum:1", "process", seed).settings for seed in range(10)]
    assert not any(settings.broker for settings in others if settings is not None)
    assert BrokerSettings().values(random.Random(1)) == BrokerSettings().values(random.Random(1))


def test_a_topic_is_created_again_while_a_replica_of_it_may_be_away() -> None:
    made = script()
    assert RecreatedWhileAway().add(made) is not None
    kinds = [type(step) for step in made.steps if isinstance(step, InjectStep | ProbeStep)]
    assert kinds[0] is CreateTopicProbe
    assert kinds[-2:] == [DeleteTopicProbe, CreateTopicProbe]
    assert made.within is (made.cluster.spare_brokers >= 1)


def test_with_zookeeper_such_a_topic_is_created_once_more_when_the_broker_is_back() -> None:
    """A creation that came before the deletion was done is refused, and a broker that missed the deletion keeps it."""
    made = script(target="apache-kafka-zk")
    assert RecreatedWhileAway().add(made) is not None
    last = [type(step) for step in made.steps if isinstance(step, Heal | ProbeStep)][-3:]
    assert last == [CreateTopicProbe, Heal, CreateTopicProbe]


@pytest.mark.requirement("CRD-05")
def test_new_producers_wait_longer_than_the_broker_that_they_ask() -> None:
    assert NewProducersWithoutControllers().add(script()) is None
    made = script(settings={"request.timeout.ms": "5000"})
    assert NewProducersWithoutControllers().add(made) is not None
    [step] = [step for step in made.steps if isinstance(step, ApiProbe)]
    assert step.timeout_ms > 5000
    assert step.expect is not None
    assert (step.expect.level, step.expect.outcome) == (Level.NEVER, "error:7")


def test_coordinators_of_all_kinds_are_asked_for_by_odd_names() -> None:
    steps = asked(script(), FindCoordinator())
    assert [step.body["key_type"] for step in steps] == [0, 1, 2]


@pytest.mark.parametrize(("version", "asked_for"), [("4.3.1", True), ("4.2.0..4.3.1", True), ("3.9.1..4.3.1", False)])
def test_no_share_coordinator_is_asked_for_where_the_cluster_began_without_them(version: str, asked_for: bool) -> None:
    reason = FindCoordinator().left_out_reason(load_file("apache-kafka"), version, frozenset())
    assert (reason is None) is asked_for
