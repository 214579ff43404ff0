"""Settings at the limits of their definitions: what is refused claims so, and no other step uses the topics."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from fencepost.harness.campaign.cluster_spec import generate_cluster
from fencepost.harness.campaign.operations import requests
from fencepost.harness.campaign.operations.impatience import ImpatientRequests
from fencepost.harness.campaign.operations.limits import (
    DELETING,
    HARMLESS,
    KEPT_OUT,
    TOO_HIGH,
    BrokerSettingAtLimits,
    TopicSettingAtLimits,
)
from fencepost.harness.campaign.operations.mistakes import MistakenTopic
from fencepost.harness.campaign.operations.operation import Operation, asked
from fencepost.harness.campaign.operations.partitions import AddPartitions
from fencepost.harness.campaign.operations.requests import BROKER, api
from fencepost.harness.campaign.operations.settings import OF_TOPICS, AlterBrokerDefault, AlterSetting
from fencepost.harness.campaign.operations.topics import CreateTopic, DeleteTopic, RecreateTopic
from fencepost.harness.campaign.script import Script
from fencepost.harness.campaign.second_time import AFTER, again
from fencepost.harness.campaign.topics import Existence, ScriptTopic
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.plan.steps.shutdown import Shutdown
from fencepost.harness.targets.definitions import definitions
from fencepost.harness.targets.registry import load_file

TARGETS = ("apache-kafka", "quorum", "zk-controller", "leader-driven")


def script(target: str, seed: int) -> Script:
    rng = random.Random(seed)
    made = Script(rng, generate_cluster(rng, load_file(target), frozenset(), with_duplicate=False), False)
    made.open()
    return made


def altered(made: Script) -> Iterator[tuple[ApiProbe, Mapping[str, Any], str, str | None]]:
    """Yield each change of one setting: the step, its resource, the name of the setting, and its value."""
    for step in made.steps:
        if isinstance(step, ApiProbe) and step.api == "incremental_alter_configs":
            (resource,) = step.body["resources"]
            (change,) = resource["configs"]
            yield step, resource, change["name"], change["value"]


def with_many(target: str, operation: Operation, times: int = 150) -> Script:
    made = script(target, 1)
    for _ in range(times):
        made.await_whole()
        operation.add(made)
    return made


@pytest.mark.parametrize("target", TARGETS)
def test_every_setting_of_topics_meets_its_limits_and_what_is_beyond(target: str) -> None:
    known, given = definitions(load_file(target)), dict[str, set[str | None]]()
    assert known is not None
    for step, _, name, value in altered(with_many(target, TopicSettingAtLimits(), 400)):
        given.setdefault(name, set()).add(value)
        refused = value in known.topic[name].refused
        assert step.expect is None or (step.expect.requirement == "ADM-02") is refused
    whole = Counter[str]()
    for name, values in given.items():
        setting = known.topic[name]
        assert not any(name.startswith(begin) for begin in KEPT_OUT)
        assert values <= {None, setting.default, *setting.accepted, *setting.refused}
        whole[target] += values >= {None, *setting.refused} | ({*setting.accepted} if name not in TOO_HIGH else set())
    assert whole[target] > 5


@pytest.mark.parametrize("target", TARGETS)
def test_no_record_is_promised_to_a_topic_that_may_lose_it(target: str) -> None:
    made = with_many(target, TopicSettingAtLimits())
    losing = {resource["resource_name"] for _, resource, name, _ in altered(made) if name in DELETING}
    written = {step.topic for step in made.steps if isinstance(step, Produce)}
    assert losing
    assert written
    assert not losing & written


@pytest.mark.parametrize("operation", [TopicSettingAtLimits(), ImpatientRequests()])
def test_no_other_operation_uses_the_topics(operation: Operation) -> None:
    made = script("quorum", 2)
    operation.add(made)
    operation.add(made)
    own = {name for name, topic in made.topics.items() if topic.ours}
    before = len(made.steps)
    for _ in range(40):
        for other in (AddPartitions(), CreateTopic(), DeleteTopic(), RecreateTopic(), AlterSetting()):
            other.add(made)
    assert own
    assert not own & {getattr(step, "topic", None) for step in made.steps[before:]}
    assert not own & {resource["resource_name"] for step, resource, *_ in altered(made) if step in made.steps[before:]}


def test_a_default_of_all_brokers_is_not_claimed_where_one_has_a_value_of_its_own() -> None:
    made = script("apache-kafka", 3)
    first, second = (altered_by(made, key) for key in ("log.retention.ms", "log.flush.interval.messages"))
    made.earlier_steps = (first,)
    made.steps.append(second)
    before = len(made.steps)
    for _ in range(30):
        AlterBrokerDefault().add(made)
    changed = {name for step, *_, name, _ in altered(made) if step in made.steps[before:]}
    assert changed == OF_TOPICS.keys() - {"log.retention.ms", "log.flush.interval.messages"}


def altered_by(made: Script, key: str) -> ApiProbe:
    how = asked(made.rng, made)
    return api(made, "own", how, "incremental_alter_configs", requests.altered(BROKER, "4", key, "3600000"))


def test_the_topics_of_an_earlier_plan_are_not_used_again() -> None:
    made = script("quorum", 2)
    made.taken = frozenset({"limited-1", "emptied-1", "hasty-1"})
    for _ in range(30):
        TopicSettingAtLimits().add(made)
        ImpatientRequests().add(made)
    assert not made.taken & made.topics.keys()


@pytest.mark.parametrize("target", TARGETS)
def test_a_broker_is_asked_itself_and_gets_limits_only_where_they_harm_no_workload(target: str) -> None:
    known, made = definitions(load_file(target)), with_many(target, BrokerSettingAtLimits(), 300)
    assert known is not None
    names, raised = set[str](), 0
    for step, resource, name, value in altered(made):
        names.add(resource["resource_name"])
        assert resource["resource_type"] == BROKER
        if resource["resource_name"]:
            assert str(made.cluster.id_of(step.node)) == resource["resource_name"]
        setting = known.broker[name]
        assert name != "min.insync.replicas"
        if name not in HARMLESS and not step.body["validate_only"] and value not in (None, *setting.refused):
            given = {**made.cluster.target.settings.broker}.get(name, setting.default)
            assert value == given or value in setting.raised(given)
            raised += 1
    assert raised
    assert names == {"", *(str(made.cluster.id_of(broker)) for broker in made.cluster.brokers)}


def test_a_target_without_definitions_has_no_settings_at_limits() -> None:
    file = load_file("apache-kafka")
    for operation in (TopicSettingAtLimits(), BrokerSettingAtLimits()):
        assert operation.left_out_reason(file, file.version, frozenset()) is None
        reason = operation.left_out_reason(file.at("4.4.0-acme-1"), "4.4.0-acme-1", frozenset())
        assert reason == "no file has the settings that apache-kafka 4.4.0-acme-1 documents"


@pytest.mark.parametrize(("target", "refused"), [("apache-kafka", True), ("zk-controller", True), ("quorum", False)])
def test_a_colliding_name_is_a_mistake_where_targets_refuse_it(target: str, refused: bool) -> None:
    made = script(target, 1)
    made.topics["a.b"] = ScriptTopic("a.b", 1, 1, Existence.CERTAIN)
    found = [each for each in MistakenTopic().mistakes(made.rng, made) if each.body["topics"][0]["name"] == "a_b"]
    assert bool(found) is refused
    made.topics["a_b"] = ScriptTopic("a_b", 1, 1, Existence.CERTAIN)
    names = {each.body["topics"][0]["name"] for each in MistakenTopic().mistakes(made.rng, made)}
    assert "a_b" not in names


def test_what_comes_between_two_times_is_a_failover_a_restart_or_the_same_request_once_more() -> None:
    seen = Counter[str]()
    for seed in range(60):
        made = script("quorum", seed)
        before = len(made.steps)
        AlterSetting().add(made)
        first = made.steps[before:]
        before = len(made.steps)
        assert again(made, AlterSetting(), first) is not None
        between = made.steps[before:]
        if isinstance(between[0], ApiProbe):
            (once,) = first
            assert isinstance(once, ApiProbe)
            assert (between[0].body, between[0].expect) == (once.body, None)
            assert between[0].as_ != once.as_
            seen["refusal"] += 1
        else:
            ended, *others = [step.nodes for step in between if isinstance(step, Shutdown)]
            one = "restart" if ended in made.cluster.brokers else "failover"
            seen["all restarted" if others else one] += 1
        assert isinstance(between[-1], ApiProbe)
    assert seen.keys() == AFTER.keys()


def test_a_request_that_runs_on_in_the_background_is_not_sent_once_more() -> None:
    for seed in range(30):
        made = script("quorum", seed)
        first = [CreateTopicProbe(as_="c", node="node-4", topic="x", background=True)]
        before = len(made.steps)
        again(made, AlterSetting(), first)
        assert not any(isinstance(step, ProbeStep) and step.request == "create-topic" for step in made.steps[before:])
