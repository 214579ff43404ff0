from __future__ import annotations

import random
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Question, Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.kinds.topics import Topic
from fencepost.harness.model.sent import Checkpoint, Description, Sent
from fencepost.harness.model.worlds import State
from tests.harness.model.histories import Cluster

pytestmark = pytest.mark.requirement("MDL-02")

NAMES = ("a", "b", "c")
DONE = {"name": "a", "error_code": 0}


def made(seed: int, lost: float = 0.2) -> Cluster:
    """Return a history of random requests about three topics, some of them without an answer."""
    rng = random.Random(seed)
    cluster = Cluster(KINDS["topics"], show, answer, rng)
    cluster.describe()
    for _ in range(rng.randint(2, 8)):
        cluster.ask(*request(rng), lost=rng.random() < lost)
        if rng.random() < 0.4:
            cluster.describe()
    cluster.describe()
    return cluster


def request(rng: random.Random) -> tuple[str, Mapping[str, Any]]:
    names = rng.sample(NAMES, rng.randint(1, 2))
    validates = rng.random() < 0.2
    match rng.randrange(3):
        case 0:
            topics = [{"name": name, "num_partitions": rng.randint(1, 3), "assignments": []} for name in names]
            return "create_topics", {"topics": topics, "validate_only": validates}
        case 1:
            topics = [{"name": name, "count": rng.randint(1, 5)} for name in names]
            return "create_partitions", {"topics": topics, "validate_only": validates}
    return "delete_topics", {"topics": [{"name": name, "topic_id": None} for name in names]}


def answer(sent: Sent, codes: Mapping[str, int]) -> Mapping[str, Any]:
    key = "responses" if sent.api == "delete_topics" else "results" if sent.api == "create_partitions" else "topics"
    return {key: [{"name": name, "error_code": code} for name, code in codes.items()]}


def show(state: State) -> Any:
    assert isinstance(state, Topic)
    return [state.id, state.partitions]


@given(st.integers(0, 10_000))
def test_a_cluster_that_does_what_is_asked_for_is_accepted(seed: int) -> None:
    assert made(seed).compare().problems == []


@given(st.integers(0, 10_000), st.sampled_from(("gone", "more", "fewer", "unasked")))
def test_each_single_wrong_description_is_refused(seed: int, how: str) -> None:
    cluster = made(seed, lost=0.0)
    objects = dict(cluster.last)
    name = next(iter(objects), "unasked")
    match how:
        case "gone" if objects:
            del objects[name]
        case "more" | "fewer" if objects:
            objects[name] = [objects[name][0], objects[name][1] + (1 if how == "more" else -1)]
        case _:
            objects["unasked"] = [None, 1]
    assert [each.requirement for each in cluster.with_last(objects).problems] == ["MDL-02"]


def described(t: float, **objects: Any) -> Checkpoint:
    return Checkpoint(f"at {t}", [Description("topics", "n", objects, t, t + 0.1)])


def created(t: float, code: int | None = 0, id: str | None = None, name: str = "a") -> Sent:
    body = {"topics": [{"name": name, "num_partitions": 2, "assignments": []}], "validate_only": False}
    if code is None:
        return Sent("create_topics", body, t)
    return Sent("create_topics", body, t, t + 0.1, {"topics": [{"name": name, "topic_id": id, "error_code": code}]})


def test_the_id_of_the_creation_has_to_be_described() -> None:
    first, second = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
    right = compare([created(1, id=first)], [described(0), described(2, a=[first, 2])])
    wrong = compare([created(1, id=first)], [described(0), described(2, a=[second, 2])])
    assert not right.problems
    assert [each.object for each in wrong.problems] == ["a"]


def test_without_an_answer_both_worlds_are_possible_until_one_is_seen() -> None:
    id = str(uuid.UUID(int=1))
    assert not compare([created(1, None)], [described(0), described(2)]).problems
    assert not compare([created(1, None)], [described(0), described(2, a=[id, 2])]).problems
    assert not compare([created(1, None)], [described(0), described(2), described(3, a=[id, 2])]).problems
    assert compare([created(1, None)], [described(0), described(2, a=[id, 2]), described(3)]).problems


def test_a_refused_request_has_changed_nothing() -> None:
    assert compare([created(1, 38)], [described(0), described(2, a=[None, 2])]).problems


def test_an_accepted_request_that_has_to_be_refused_is_a_problem_of_its_own() -> None:
    problems = compare([created(1)], [described(0, a=[None, 2]), described(2, a=[None, 2])]).problems
    assert ["accepted" in each.shown for each in problems] == [True]


@pytest.mark.parametrize("body", [{"topic_names": ["a", "a"]}, {"topics": [{"name": "a", "topic_id": None}] * 2}])
def test_a_topic_that_is_named_twice_in_a_deletion_is_deleted_once(body: Mapping[str, Any]) -> None:
    deletion = Sent("delete_topics", body, 1, 1.1, {"responses": [{"name": "a", "error_code": 0}] * 2})
    assert not compare([deletion], [described(0, a=[None, 1]), described(2)]).problems
    assert compare([deletion], [described(0, a=[None, 1]), described(2, a=[None, 1])]).problems


@pytest.mark.parametrize(("second", "problems"), [(1.05, 0), (1.2, 1)])
def test_a_deletion_is_accepted_twice_only_where_both_are_under_way(second: float, problems: int) -> None:
    first = Sent("delete_topics", {"topic_names": ["a"]}, 1, 1.1, {"responses": [DONE]})
    other = replace(first, begun=second, ended=1.3)
    assert len(compare([first, other], [described(0, a=[None, 1]), described(2)]).problems) == problems
    assert compare([first, other], [described(0, a=[None, 1]), described(2, a=[None, 1])]).problems


@pytest.mark.parametrize(("begun", "may_be_there"), [(1.5, True), (2.5, False)])
def test_a_creation_that_was_forwarded_twice_is_seen_around_a_deletion(begun: float, may_be_there: bool) -> None:
    """The topic is created, deleted, and created once more when the answer to the first attempt is lost."""
    deletion = Sent("delete_topics", {"topic_names": ["a"]}, begun, begun + 0.2, {"responses": [DONE]})
    requests, there = [replace(created(2), begun=1, ended=2), deletion], described(3, a=[None, 2])
    assert not compare(requests, [described(0), described(3)]).problems
    assert bool(compare(requests, [described(0), there]).problems) is not may_be_there


def test_a_topic_that_is_deleted_by_its_id_is_gone_and_another_one_is_not() -> None:
    mine, other = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
    body = {"topics": [{"name": None, "topic_id": mine}]}
    response = {"responses": [{"name": "a", "topic_id": mine, "error_code": 0}]}
    deletion = Sent("delete_topics", body, 1, 1.1, response)
    begin = described(0, a=[mine, 1], b=[other, 1])
    assert not compare([deletion], [begin, described(2, b=[other, 1])]).problems
    assert [each.object for each in compare([deletion], [begin, described(2, a=[mine, 1])]).problems] == ["a", "b"]
    assert not compare([Sent("delete_topics", body, 1)], [begin, described(2, b=[other, 1])]).problems
    assert compare([Sent("delete_topics", body, 1)], [begin, described(2, a=[mine, 1])]).problems


def test_a_broker_that_knows_no_broker_does_not_serve_and_says_nothing() -> None:
    question = Question("metadata", {})
    topic = {
        "name": "a",
        "topic_id": None,
        "error_code": 0,
        "partitions": [{"partition_index": 0, "replica_nodes": [4]}],
    }
    broker = {"node_id": 4}
    for kind, seen in (("topics", {"a": [None, 1]}), ("assignments", {"a-0": [4]})):
        assert KINDS[kind].read(question, {"brokers": [broker], "topics": [topic]}) == seen
        assert KINDS[kind].read(question, {"brokers": [], "topics": []}) is None
        assert KINDS[kind].read(question, {"brokers": [broker], "topics": [{**topic, "error_code": 5}]}) is None


def test_a_broker_that_does_not_serve_now_says_nothing_and_internal_topics_do_not_count() -> None:
    kind = KINDS["topics"]
    question = next(kind.questions(Scope()))
    parts: list[dict[str, Any]] = [
        {"name": name, "error_code": 0, "partitions": [{}, {}]} for name in ("t", "__consumer_offsets")
    ]
    assert kind.read(question, {"brokers": [{}], "topics": parts}) == {"t": [None, 2]}
    assert kind.read(question, {"brokers": [], "topics": parts}) is None
    assert kind.read(question, {"brokers": [{}], "topics": [{**parts[0], "error_code": 5}]}) is None
    assert kind.says(Topic(None, None)) == "partitions of unknown number"


def test_a_description_without_an_id_keeps_the_one_that_is_known() -> None:
    looks = [
        Checkpoint(str(t), [Description("topics", "n", {"t": [id, 2]}, t, t)]) for t, id in enumerate(("a", None, "b"))
    ]
    assert compare([], looks[:2]).problems == []
    assert [each.object for each in compare([], looks).problems] == ["t"]


def test_topics_that_brokers_create_by_themselves_are_not_followed() -> None:
    topics: list[dict[str, Any]] = [
        {"name": name, "num_partitions": 1, "assignments": []} for name in ("__consumer_offsets", "t")
    ]
    answers = [{"name": each["name"], "error_code": 0} for each in topics]
    created = Sent("create_topics", {"topics": topics}, 0.2, 0.3, {"topics": answers})
    looks = [
        Checkpoint(str(t), [Description("topics", "n", seen, t, t)]) for t, seen in enumerate(({}, {"t": [None, 1]}))
    ]
    assert compare([created], looks).problems == []
