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
from fencepost.harness.model.kinds.groups import NOT_FOUND
from fencepost.harness.model.sent import Checkpoint, Description, Sent
from tests.harness.model.histories import Cluster

pytestmark = pytest.mark.requirement("MDL-17")

KIND = KINDS["share group offsets"]
GROUPS = ("g", "of a")
TOPICS = ("a", "b-1")
NON_EMPTY = 68


def made(seed: int, lost: float = 0.2) -> Cluster:
    """Return a history of random requests about the offsets of two groups, some of them without an answer."""
    rng = random.Random(seed)
    cluster = Cluster(KIND, lambda state: state, answer, rng)
    for _ in range(rng.randint(3, 8)):
        cluster.ask(*request(rng), lost=rng.random() < lost)
        if rng.random() < 0.4:
            cluster.describe()
    cluster.ask("alter_share_group_offsets", setting("g", "a", {0: 7}))
    cluster.describe()
    return cluster


def request(rng: random.Random) -> tuple[str, Mapping[str, Any]]:
    group, topic = rng.choice(GROUPS), rng.choice(TOPICS)
    match rng.randrange(5):
        case 0:
            return "delete_groups", {"groups_names": rng.sample(GROUPS, rng.randint(1, 2))}
        case 1:
            return "delete_share_group_offsets", {"group_id": group, "topics": [{"topic_name": topic}]}
    offsets = {number: rng.randint(0, 9) for number in rng.sample((0, 1, 2), rng.randint(1, 3))}
    return "alter_share_group_offsets", setting(group, topic, offsets)


def setting(group: str, topic: str, offsets: Mapping[int, int]) -> dict[str, Any]:
    partitions = [{"partition_index": number, "start_offset": offset} for number, offset in offsets.items()]
    return {"group_id": group, "topics": [{"topic_name": topic, "partitions": partitions}]}


def answer(sent: Sent, codes: Mapping[str, int], code: int = 0) -> Mapping[str, Any]:
    body = sent.body
    match sent.api:
        case "delete_groups":
            return {"results": [{"group_id": group, "error_code": code} for group in body["groups_names"]]}
        case "delete_share_group_offsets":
            topics = [{"topic_name": each["topic_name"], "error_code": code} for each in body["topics"]]
        case _:
            topics = [
                {
                    "topic_name": topic["topic_name"],
                    "partitions": [
                        {"partition_index": each["partition_index"], "error_code": code} for each in topic["partitions"]
                    ],
                }
                for topic in body["topics"]
            ]
    return {"error_code": 0, "responses": topics}


@given(st.integers(0, 10_000))
def test_a_coordinator_that_does_what_is_asked_for_is_accepted(seed: int) -> None:
    assert made(seed).compare().problems == []


@given(st.integers(0, 10_000), st.sampled_from(("gone", "other", "unasked")))
def test_each_single_wrong_description_is_refused(seed: int, how: str) -> None:
    cluster = made(seed, lost=0.0)
    objects = dict(cluster.last)
    match how:
        case "gone":
            del objects["a-0 of g"]
        case "other":
            objects["a-0 of g"] += 1
        case _:
            objects["c-0 of g"] = 0
    assert [each.requirement for each in cluster.with_last(objects).problems] == ["MDL-17"]


def done(api: str, body: Mapping[str, Any], t: float, code: int = 0) -> Sent:
    silent = Sent(api, body, t, t + 0.1)
    return Sent(api, body, t, t + 0.1, answer(silent, {}, code))


def refused(api: str, body: Mapping[str, Any], t: float) -> Sent:
    return Sent(api, body, t, t + 0.1, {"error_code": NON_EMPTY, "responses": []})


def used(api: str, t: float) -> Sent:
    return Sent(api, {"group_id": "g"}, t, t + 0.1, {"error_code": 0})


def wrong(requests: list[Sent], *seen: Mapping[str, int]) -> int:
    """Return the problems if this is described in turn after the requests, of which the last one ended before 5 s."""
    looks = [
        Checkpoint(str(number), [Description(KIND.name, "n", objects, 5.0 + number, 5.1 + number, [*objects, MINE])])
        for number, objects in enumerate(seen)
    ]
    return len(compare(requests, looks).problems)


MINE = "a-0 of g"
SET = done("alter_share_group_offsets", setting("g", "a", {0: 7}), 1)


def test_only_what_was_accepted_counts() -> None:
    other = setting("g", "a", {0: 9})
    assert not wrong([SET, refused("alter_share_group_offsets", other, 2)], {MINE: 7})
    assert wrong([SET, refused("alter_share_group_offsets", other, 2)], {MINE: 9})
    assert not wrong([SET, done("alter_share_group_offsets", other, 2, NON_EMPTY)], {MINE: 7})
    assert not wrong([SET, done("alter_share_group_offsets", other, 2)], {MINE: 9})
    deletion = {"group_id": "g", "topics": [{"topic_name": "a"}]}
    assert not wrong([SET, refused("delete_share_group_offsets", deletion, 2)], {MINE: 7})
    assert wrong([SET, refused("delete_share_group_offsets", deletion, 2)], {})
    assert not wrong([SET, done("delete_share_group_offsets", deletion, 2)], {MINE: -1}, {})
    assert wrong([SET, done("delete_share_group_offsets", deletion, 2)], {MINE: 7})


@pytest.mark.parametrize("topic", [{"name": "a"}, {"name": None, "topic_id": "x"}, {"name": "__share_group_state"}])
def test_offsets_go_with_their_topic_in_their_own_time(topic: Mapping[str, Any]) -> None:
    deleted = Sent("delete_topics", {"topics": [topic]}, 2, 2.1, {"responses": []})
    assert not wrong([SET, deleted], {MINE: 7}, {})
    assert wrong([SET, deleted], {MINE: 7}, {}, {MINE: 7})
    kept = Sent("delete_topics", {"topic_names": ["b"]}, 2, 2.1, {"responses": []})
    assert wrong([SET, kept], {})


def test_members_begin_what_has_no_offset_and_move_only_what_they_use() -> None:
    joined = used("share_group_heartbeat", 2)
    assert not wrong([SET, joined], {MINE: 7})
    assert wrong([SET, joined], {MINE: 8})
    assert not wrong([SET, joined], {MINE: 7, "a-1 of g": 3}, {MINE: 7, "a-1 of g": 4})
    assert wrong([SET, joined], {MINE: 7, "a-1 of other": 3})
    for api in ("share_fetch", "share_acknowledge", "write_share_group_state"):
        assert not wrong([SET, used(api, 2)], {MINE: 8}, {MINE: 9})
        again = done("alter_share_group_offsets", setting("g", "a", {0: 1}), 3)
        assert wrong([SET, used(api, 2), again], {MINE: 9})


def test_each_group_is_asked_for_once_and_only_its_coordinator_is_believed() -> None:
    first, second = KIND.questions(Scope(objects=["a-0 of g", "a-1 of g", "a-0 of h"]))
    assert (first.scope, second.scope) == (["a-0 of g", "a-1 of g"], ["a-0 of h"])
    partition = {"partition_index": 1, "start_offset": 5, "error_code": 0}
    group = {"group_id": "g", "error_code": 0, "topics": [{"topic_name": "a", "partitions": [partition]}]}
    assert KIND.read(first, {"groups": [group]}) == {"a-1 of g": 5}
    assert KIND.read(first, {"groups": [{**group, "error_code": 16}]}) is None
    assert KIND.read(first, {"groups": [{**group, "error_code": NOT_FOUND, "topics": []}]}) == {}
    loading = {**group, "topics": [{"topic_name": "a", "partitions": [{**partition, "error_code": 14}]}]}
    assert KIND.read(first, {"groups": [loading]}) is None


def test_a_problem_names_what_was_asked_for() -> None:
    deletion = done("delete_groups", {"groups_names": ["g"]}, 2)
    looks = [Checkpoint("end", [Description(KIND.name, "n", {MINE: 8}, 5.0, 5.1, [MINE])])]
    [problem] = compare([SET, used("share_group_heartbeat", 1.5), used("share_fetch", 1.7), deletion], looks).problems
    assert (problem.shown, problem.possible) == (f"n describes {MINE} as 8", "absent")
    assert [each.partition(": ")[2] for each in problem.history] == [
        f"set {MINE} to 7",
        f"subscribe to {MINE}",
        f"move {MINE}",
        f"delete {MINE}",
    ]
