from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.kinds.offsets import Offset, place
from fencepost.harness.model.sent import Checkpoint, Description, Sent
from fencepost.harness.model.worlds import State
from tests.harness.model.histories import Cluster

pytestmark = pytest.mark.requirement("MDL-10")

KIND = KINDS["committed offsets"]
GROUPS = ("g", "of a")
TOPICS = ("a", "b-1")


def made(seed: int, lost: float = 0.2) -> Cluster:
    """Return a history of random requests about the offsets of two groups, some of them without an answer."""
    rng = random.Random(seed)
    cluster = Cluster(KIND, show, answer, rng)
    for _ in range(rng.randint(3, 8)):
        cluster.ask(*request(rng), lost=rng.random() < lost)
        if rng.random() < 0.4:
            cluster.describe()
    cluster.ask("offset_commit", commit("g", "a", 1, "last"))
    cluster.describe()
    return cluster


def request(rng: random.Random) -> tuple[str, Mapping[str, Any]]:
    group, topic = rng.choice(GROUPS), rng.choice(TOPICS)
    match rng.randrange(5):
        case 0:
            return "delete_groups", {"groups_names": rng.sample(GROUPS, rng.randint(1, 2))}
        case 1:
            return "offset_delete", {
                "group_id": group,
                "topics": [{"name": topic, "partitions": [{"partition_index": 0}]}],
            }
    return "offset_commit", commit(group, topic, rng.randint(0, 9), rng.choice(("", "m")))


def commit(group: str, topic: str, offset: int, metadata: str | None = "", **more: Any) -> dict[str, Any]:
    partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": metadata, **more}
    return {"group_id": group, "topics": [{"name": topic, "partitions": [partition]}]}


def answer(sent: Sent, codes: Mapping[str, int]) -> Mapping[str, Any]:
    if sent.api == "delete_groups":
        return {"results": [{"group_id": group, "error_code": 0} for group in sent.body["groups_names"]]}
    return answered(sent.body)


def answered(body: Mapping[str, Any], code: int = 0) -> Mapping[str, Any]:
    topics = [
        {
            "name": topic["name"],
            "partitions": [
                {"partition_index": each["partition_index"], "error_code": code} for each in topic["partitions"]
            ],
        }
        for topic in body["topics"]
    ]
    return {"error_code": 0, "topics": topics}


def show(state: State) -> Any:
    assert isinstance(state, Offset)
    return list(state)


@given(st.integers(0, 10_000))
def test_a_coordinator_that_does_what_is_asked_for_is_accepted(seed: int) -> None:
    assert made(seed).compare().problems == []


@given(st.integers(0, 10_000), st.sampled_from(("gone", "earlier", "without metadata", "unasked")))
def test_each_single_wrong_offset_is_refused(seed: int, how: str) -> None:
    cluster = made(seed, lost=0.0)
    objects, name = dict(cluster.last), place("g", "a", 0)
    offset, epoch, metadata = objects[name]
    match how:
        case "gone":
            del objects[name]
        case "earlier":
            objects[name] = [offset - 1, epoch, metadata]
        case "without metadata":
            objects[name] = [offset, epoch, ""]
        case _:
            objects[place("g", "a", 7)] = [0, None, ""]
    assert [each.requirement for each in cluster.with_last(objects).problems] == ["MDL-10"]


def sent(api: str, body: Mapping[str, Any], t: float, response: Mapping[str, Any] | None) -> Sent:
    return Sent(api, body, t) if response is None else Sent(api, body, t, t + 0.1, response)


def committed(t: float, offset: int, *, code: int = 0, api: str = "offset_commit", **more: Any) -> Sent:
    body = {**commit("g", "a", offset), **more}
    return sent(api, body, t, answered(body, code))


def described(t: float, seen: Any = None) -> Checkpoint:
    name = place("g", "a", 0)
    objects = {} if seen is None else {name: seen}
    return Checkpoint(f"at {t}", [Description(KIND.name, "n", objects, t, t + 0.1, [name])])


def problems(requests: list[Sent], *looks: Checkpoint) -> int:
    return len(compare(requests, looks).problems)


def test_what_was_committed_before_the_first_description_counts() -> None:
    assert not problems([committed(1, 5)], described(2, [5, None, ""]))
    assert problems([committed(1, 5)], described(2, [4, None, ""]))
    assert problems([committed(1, 5)], described(2))


def test_a_refused_commit_has_changed_nothing() -> None:
    assert not problems([committed(1, 5), committed(2, 6, code=12)], described(3, [5, None, ""]))
    assert problems([committed(1, 5), committed(2, 6, code=12)], described(3, [6, None, ""]))


def test_the_leader_epoch_stays_where_it_was_given() -> None:
    body = commit("g", "a", 5, committed_leader_epoch=3)
    requests = [sent("offset_commit", body, 1, answered(body))]
    assert not problems(requests, described(2, [5, 3, ""]), described(3, [5, None, ""]))
    assert problems(requests, described(2, [5, 2, ""]))


def test_an_offset_of_minus_one_is_the_same_as_none() -> None:
    assert not problems([committed(1, -1)], described(2), described(3, [-1, None, ""]))
    assert not problems([committed(1, 5, code=16)], described(2, [-1, None, ""]))


def test_an_offset_in_a_transaction_counts_later_or_never() -> None:
    requests = [committed(1, 5), committed(2, 6, api="txn_offset_commit")]
    assert not problems(requests, described(3, [5, None, ""]), described(4, [6, None, ""]))
    assert problems(requests, described(3, [6, None, ""]), described(4, [5, None, ""]))
    refused = [committed(1, 5), committed(2, 6, api="txn_offset_commit", code=22)]
    assert problems(refused, described(3, [6, None, ""]))


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("delete_topics", {"topics": [{"name": "a", "topic_id": None}]}),
        ("delete_topics", {"topics": [{"name": None, "topic_id": "id"}]}),
        ("delete_topics", {"topic_names": ["__consumer_offsets"]}),
    ],
)
def test_an_offset_may_go_with_its_topic_and_with_that_of_the_offsets(api: str, body: Mapping[str, Any]) -> None:
    requests = [committed(1, 5), sent(api, body, 2, {"responses": []})]
    assert not problems(requests, described(3, [5, None, ""]), described(4))
    assert problems(requests, described(3), described(4, [5, None, ""]))
    other = sent("delete_topics", {"topic_names": ["b"]}, 2, {"responses": []})
    assert problems([committed(1, 5), other], described(3))


def test_an_offset_with_a_retention_of_its_own_expires() -> None:
    assert not problems([committed(1, 5, retention_time=1000)], described(2, [5, None, ""]), described(3))
    assert problems([committed(1, 5, retention_time=-1)], described(2))


def test_an_offset_that_was_not_deleted_for_an_error_stays() -> None:
    body = {"group_id": "g", "topics": [{"name": "a", "partitions": [{"partition_index": 0}]}]}
    refused = sent("offset_delete", body, 2, answered(body, 86))
    whole = sent("offset_delete", body, 2, {"error_code": 68, "topics": []})
    for request in (refused, whole):
        assert problems([committed(1, 5), request], described(3))
        assert not problems([committed(1, 5), request], described(3, [5, None, ""]))


def test_groups_of_clients_are_not_asked_for() -> None:
    objects = [place(group, "a", 0) for group in ("of a", "mine")]
    [question] = KIND.questions(Scope(objects=objects, of_clients=frozenset({"mine"})))
    assert (question.body["group_id"], question.scope) == ("of a", [place("of a", "a", 0)])


def test_only_the_coordinator_is_believed() -> None:
    [question] = KIND.questions(Scope(objects=[place("g", "a", 0)]))
    partition = {"partition_index": 0, "committed_offset": 5, "committed_leader_epoch": 1, "metadata": None}

    def read(group_code: int = 0, code: int = 0) -> Any:
        topics = [{"name": "a", "partitions": [{**partition, "error_code": code}]}]
        new = KIND.read(question, {"groups": [{"group_id": "g", "error_code": group_code, "topics": topics}]})
        old = KIND.read(question, {"error_code": group_code, "topics": topics})
        assert new == old
        return new

    assert read() == {place("g", "a", 0): [5, 1, ""]}
    assert read(group_code=16) is None
    assert read(code=16) is None


def test_a_state_is_put_into_words() -> None:
    assert KIND.says(Offset(5, None, "m")) == "5 with `m`"
    assert KIND.says(Offset(5, None, "m" * 4096)) == "5 with `4096 characters`"
    assert KIND.says(None) == "absent"
