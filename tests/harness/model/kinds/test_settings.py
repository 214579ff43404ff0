from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Question, Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.kinds.settings import ALL_BROKERS, ANY, APPEND, BROKER, DELETE, GROUP, SET, SUBTRACT, TOPIC
from fencepost.harness.model.sent import Checkpoint, Description, Sent
from fencepost.harness.model.worlds import State
from tests.harness.model.histories import Cluster

TOPICS, KEYS, VALUES = ("a", "b"), ("x", "y"), ("1", "2", "3")


def made(seed: int, lost: float = 0.2) -> Cluster:
    rng = random.Random(seed)
    cluster = Cluster(KINDS["topic settings"], show, answer, rng, {name: frozenset() for name in TOPICS})
    cluster.describe()
    for _ in range(rng.randint(2, 7)):
        cluster.ask(*request(rng), lost=rng.random() < lost)
        if rng.random() < 0.4:
            cluster.describe()
    cluster.describe()
    return cluster


def request(rng: random.Random) -> tuple[str, Mapping[str, Any]]:
    name = rng.choice(TOPICS)
    if rng.random() < 0.15:
        return "delete_topics", {"topics": [{"name": name, "topic_id": None}]}
    if rng.random() < 0.2:
        configs = [{"name": rng.choice(KEYS), "value": rng.choice(VALUES)}]
        topic = {"name": name, "num_partitions": 1, "assignments": [], "configs": configs}
        return "create_topics", {"topics": [topic], "validate_only": False}
    changes = [
        change(key, rng.choice((SET, DELETE)), rng.choice(VALUES)) for key in rng.sample(KEYS, rng.randint(1, 2))
    ]
    return "incremental_alter_configs", altered(TOPIC, name, *changes, validate_only=rng.random() < 0.2)


def change(key: str, operation: int, value: str | None = None) -> Mapping[str, Any]:
    return {"name": key, "config_operation": operation, "value": value if operation != DELETE else None}


def altered(type: int, name: str, *changes: Mapping[str, Any], validate_only: bool = False) -> Mapping[str, Any]:
    resource = {"resource_type": type, "resource_name": name, "configs": list(changes)}
    return {"resources": [resource], "validate_only": validate_only}


def answer(sent: Sent, codes: Mapping[str, int]) -> Mapping[str, Any]:
    if sent.api == "incremental_alter_configs":
        return {"responses": [{"resource_type": TOPIC, "resource_name": n, "error_code": c} for n, c in codes.items()]}
    key = "responses" if sent.api == "delete_topics" else "topics"
    return {key: [{"name": name, "error_code": code} for name, code in codes.items()]}


def show(state: State) -> Any:
    assert isinstance(state, frozenset)
    return dict(state)


@pytest.mark.requirement("MDL-03")
@given(st.integers(0, 10_000))
def test_a_cluster_that_does_what_is_asked_for_is_accepted(seed: int) -> None:
    assert made(seed).compare().problems == []


@pytest.mark.requirement("MDL-03")
@given(st.integers(0, 10_000), st.sampled_from(("unset", "other", "more")))
def test_each_single_wrong_description_is_refused(seed: int, how: str) -> None:
    cluster = made(seed, lost=0.0)
    objects = {name: dict(settings) for name, settings in cluster.last.items()}
    if not objects:
        objects["a"] = {}
    name = next((name for name, settings in objects.items() if settings), next(iter(objects)))
    if not objects[name] or how == "more":
        objects[name]["z"] = "1"
    elif how == "unset":
        objects[name].pop(next(iter(objects[name])))
    else:
        objects[name][next(iter(objects[name]))] = "other"
    assert [each.requirement for each in cluster.with_last(objects).problems] == ["MDL-03"]


def done(body: Mapping[str, Any], t: float = 1.0, api: str = "incremental_alter_configs", code: int = 0) -> Sent:
    answers = [
        {"resource_type": each["resource_type"], "resource_name": each["resource_name"], "error_code": code}
        for each in body["resources"]
    ]
    return Sent(api, body, t, t + 0.1, {"responses": answers})


def looks(kind: str, *seen: Mapping[str, Any]) -> list[Checkpoint]:
    return [
        Checkpoint(str(number), [Description(kind, "n", objects, 2.0 * number, 2.0 * number + 0.1, sorted(objects))])
        for number, objects in enumerate(seen)
    ]


@pytest.mark.requirement("MDL-03")
@pytest.mark.parametrize(
    ("operation", "value", "after"),
    [(APPEND, "b", "a,b"), (APPEND, "a", "a"), (SUBTRACT, "a", ""), (SUBTRACT, "c", "a"), (SET, " a , c", "a,c")],
)
def test_lists_grow_and_shrink(operation: int, value: str, after: str) -> None:
    sent = [done(altered(TOPIC, "t", change("x", operation, value)))]
    assert not compare(sent, looks("topic settings", {"t": {"x": "a"}}, {"t": {"x": after}})).problems
    assert compare(sent, looks("topic settings", {"t": {"x": "a"}}, {"t": {"x": "other"}})).problems


@pytest.mark.requirement("MDL-03")
def test_a_list_that_is_appended_to_a_default_is_learned_from_its_first_description() -> None:
    sent = [done(altered(TOPIC, "t", change("x", APPEND, "b")))]
    seen: tuple[dict[str, Any], ...] = {"t": {}}, {"t": {"x": "default,b"}}
    assert not compare(sent, looks("topic settings", *seen, {"t": {"x": "default,b"}})).problems
    assert compare(sent, looks("topic settings", *seen, {"t": {"x": "b"}})).problems


@pytest.mark.requirement("MDL-03")
def test_an_operation_that_does_not_exist_changes_nothing_though_it_is_accepted() -> None:
    mistaken = done(altered(TOPIC, "t", change("retention.ms", 9, "5")))
    [begin, same] = looks("topic settings", {"t": {}}, {"t": {}})
    assert compare([mistaken], [begin, same]).problems == []
    [begin, other] = looks("topic settings", {"t": {}}, {"t": {"retention.ms": "5"}})
    assert len(compare([mistaken], [begin, other]).problems) == 1


def test_a_whole_change_unsets_what_it_does_not_name() -> None:
    body = {"resources": [{"resource_type": TOPIC, "resource_name": "t", "configs": [{"name": "x", "value": "1"}]}]}
    sent = [done(body, api="alter_configs")]
    assert not compare(sent, looks("topic settings", {"t": {"y": "2"}}, {"t": {"x": "1"}})).problems
    assert compare(sent, looks("topic settings", {"t": {"y": "2"}}, {"t": {"x": "1", "y": "2"}})).problems


@pytest.mark.requirement("MDL-04")
def test_brokers_keep_their_own_settings_and_those_of_all() -> None:
    sent = [
        done(altered(BROKER, "", change("x", SET, "1")), 1.0),
        done(altered(BROKER, "4", change("y", SET, "2")), 1.2),
    ]
    begin: dict[str, Any] = {ALL_BROKERS: {}, "broker 4": {}}
    assert not compare(
        sent, looks("broker settings", begin, {ALL_BROKERS: {"x": "1"}, "broker 4": {"y": "2"}})
    ).problems
    wrong = compare(sent, looks("broker settings", begin, {ALL_BROKERS: {}, "broker 4": {"y": "2"}})).problems
    assert [(each.requirement, each.object) for each in wrong] == [("MDL-04", ALL_BROKERS)]


@pytest.mark.requirement("MDL-04")
def test_what_is_only_validated_changes_nothing() -> None:
    sent = [done(altered(BROKER, "", change("x", SET, "1"), validate_only=True))]
    assert compare(sent, looks("broker settings", {ALL_BROKERS: {}}, {ALL_BROKERS: {"x": "1"}})).problems


@pytest.mark.requirement("MDL-03")
def test_a_broker_that_does_not_serve_now_says_nothing_and_one_without_the_topic_says_so() -> None:
    kind = KINDS["topic settings"]
    question = Question("describe_configs", {}, ["t", "u"])
    setting = {"name": "x", "value": "1", "config_source": 1, "is_sensitive": False, "synonyms": []}
    there = {"resource_name": "t", "error_code": 0, "configs": [setting]}
    absent: dict[str, Any] = {"resource_name": "u", "error_code": 3, "configs": []}
    refused = {**absent, "error_code": 14}
    assert kind.read(question, {"results": [there, absent]}) == {"t": {"x": "1"}}
    assert kind.read(question, {"results": [there, refused]}) is None


@pytest.mark.requirement("MDL-18")
def test_a_group_has_the_settings_that_it_was_given_whether_it_is_there_or_not() -> None:
    sent = [
        done(altered(GROUP, "g", change("x", SET, "1")), 1.0),
        done(altered(GROUP, "g", change("y", SET, "2")), 1.2),
    ]
    assert not compare(sent, looks("group settings", {}, {"g": {"x": "1", "y": "2"}})).problems
    for seen in ({"x": "1"}, {"x": "1", "y": "3"}, {"x": "1", "y": "2", "z": "0"}):
        problems = compare(sent, looks("group settings", {}, {"g": seen})).problems
        assert [(each.requirement, each.object) for each in problems] == [("MDL-18", "g")]
    unset = done(altered(GROUP, "g", change("y", DELETE, None)), 1.4)
    assert not compare([*sent, unset], looks("group settings", {}, {"g": {"x": "1"}})).problems


@pytest.mark.requirement("MDL-18")
def test_groups_are_asked_for_once_a_request_named_them() -> None:
    kind = KINDS["group settings"]
    assert list(kind.questions(Scope())) == []
    [question] = kind.questions(Scope(objects=["g"]))
    given = {"name": "x", "value": "1", "config_source": 8, "is_sensitive": False, "synonyms": []}
    default = {"name": "y", "value": "2", "config_source": 5, "is_sensitive": False, "synonyms": []}
    group = {"resource_name": "g", "error_code": 0, "configs": [given, default]}
    assert kind.read(question, {"results": [group]}) == {"g": {"x": "1"}}


def setting(name: str, value: str | None, source: int, *synonyms: tuple[str, str, int]) -> dict[str, Any]:
    return {
        "name": name,
        "value": value,
        "config_source": source,
        "is_sensitive": value is None,
        "synonyms": [{"name": each, "value": of_it, "source": from_} for each, of_it, from_ in synonyms],
    }


@pytest.mark.requirement("MDL-04")
def test_a_broker_describes_its_own_settings_and_below_them_those_of_all() -> None:
    kind = KINDS["broker settings"]
    of_all, own = kind.questions(Scope(node_id=4))
    assert (of_all.scope, own.scope) == ([ALL_BROKERS], ["broker 4", ALL_BROKERS])
    both = setting("x", "1", 2, ("x", "1", 2), ("x", "2", 3), ("x", "3", 5))
    broker = {"resource_name": "4", "error_code": 0, "configs": [both, setting("y", "9", 5, ("y", "9", 5))]}
    assert kind.read(own, {"results": [broker]}) == {"broker 4": {"x": "1"}, ALL_BROKERS: {"x": "2"}}
    every = {"resource_name": "", "error_code": 0, "configs": [setting("x", "2", 3, ("x", "2", 3))]}
    assert kind.read(of_all, {"results": [every]}) == {ALL_BROKERS: {"x": "2"}}


@pytest.mark.requirement("MDL-04")
def test_a_setting_with_another_value_in_effect_is_described_with_it_and_a_hidden_one_with_any() -> None:
    kind = KINDS["broker settings"]
    [*_, own] = kind.questions(Scope(node_id=4))
    configs = [setting("x", "5", 2, ("x", "1", 2)), setting("secret", None, 2, ("secret", "", 2))]
    answer = {"results": [{"resource_name": "4", "error_code": 0, "configs": configs}]}
    seen = kind.read(own, answer)
    assert seen is not None
    assert seen["broker 4"].pop("secret") == ANY
    assert seen["broker 4"] == {"x": "1", "x in effect": "5"}
    sent = [done(altered(BROKER, "4", change("secret", SET, "word")))]
    begin: dict[str, Any] = {"broker 4": {}}
    assert not compare(sent, looks("broker settings", begin, {"broker 4": {"secret": ANY}})).problems
    assert compare(sent, looks("broker settings", begin, begin)).problems


@pytest.mark.requirement("MDL-03")
def test_topics_but_internal_ones_are_asked_for_and_one_deleted_by_its_id_has_no_settings() -> None:
    kind = KINDS["topic settings"]
    [question] = kind.questions(Scope(topics=["__consumer_offsets", "t"]))
    assert question.scope == ["t"]
    assert list(kind.questions(Scope(topics=["__consumer_offsets"]))) == []
    seen: tuple[dict[str, Any], ...] = {"t": {"x": "1"}, "u": {"x": "1"}}, {"u": {"x": "1"}}
    body = {"topics": [{"name": None, "topic_id": "of t"}]}

    def deleted(*answers: tuple[str, str | None]) -> Sent:
        parts = [{"topic_id": id, "name": name, "error_code": 0} for id, name in answers]
        return Sent("delete_topics", body, 1.0, 1.1, {"responses": parts})

    assert not compare([deleted(("of t", "t"))], looks("topic settings", *seen)).problems
    assert compare([deleted(("of t", "u"))], looks("topic settings", *seen)).problems
    assert not compare([deleted(("of t", None))], looks("topic settings", *seen)).problems
    assert compare([deleted(("of t", "t"))], looks("topic settings", seen[0], seen[0])).problems
