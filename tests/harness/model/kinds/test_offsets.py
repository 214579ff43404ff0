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
from fencepost.harness.model.kinds.offsets import Committed, Offset, Pending, place
from fencepost.harness.model.sent import Checkpoint, Description, Sent
from fencepost.harness.model.worlds import State
from tests.harness.model.histories import Cluster
from tests.harness.model.transactional_requests import begin, commit_offset, end

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
    assert isinstance(state, Committed) and state.offset is not None
    return list(state.offset)


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


class InTransactions:
    """A coordinator of a group, of which two producers commit offsets at one place in their transactions."""

    def __init__(self, seed: int, lost: float = 0.2) -> None:
        self.rng, self.lost = random.Random(seed), lost
        self.t, self.offset, self.pending = 1.0, 1, dict[str, int]()
        self.requests, self.looks = [committed(1, 1)], list[Checkpoint]()
        for number in range(self.rng.randint(1, 8)):
            self.t += 1
            match self.rng.randrange(4):
                case 0 | 1:
                    self.commit(10 + number)
                case 2:
                    self.end()
                case _:
                    self.look()

    def code(self) -> int | None:
        return None if self.rng.random() < self.lost else 0

    def commit(self, offset: int) -> None:
        """Commit while no other transaction has an offset, so that it is clear which one counts."""
        if not self.pending.keys() - {"x"}:
            self.requests.append(commit_offset(self.t, offset, self.code()))
            self.pending["x"] = offset
        elif not self.pending.keys() - {"y"}:
            self.requests.append(commit_offset(self.t, offset, self.code(), id="y"))
            self.pending["y"] = offset

    def end(self) -> None:
        id, commit = self.rng.choice(("x", "y")), self.rng.random() < 0.5
        request = end(self.t, commit=commit, code=self.code(), id=id)
        self.requests.append(self.rng.choice((request, begin(self.t, self.code(), id=id))))
        is_end = self.requests[-1] is request
        offset = self.pending.pop(id, None)
        if offset is not None and commit and is_end:
            self.offset = offset

    def look(self) -> None:
        self.looks.append(described(self.t, [self.offset, None, ""]))


@given(st.integers(0, 10_000))
def test_a_coordinator_that_follows_transactions_is_accepted(seed: int) -> None:
    made = InTransactions(seed)
    assert compare(made.requests, made.looks).problems == []


@given(st.integers(0, 10_000), st.sampled_from(("before its commit", "after an abort", "not after its commit")))
def test_each_single_offset_that_does_not_follow_its_transaction_is_refused(seed: int, how: str) -> None:
    made = InTransactions(seed, lost=0.0)
    t, other = made.t, begin(made.t + 0.5, id="x")
    requests = [*made.requests, other, commit_offset(t + 1, 99)]
    requests += [] if how == "before its commit" else [end(t + 2, commit=how != "after an abort")]
    offset = made.offset if how == "not after its commit" else 99
    right = 99 if how == "not after its commit" else made.offset
    assert not problems(requests, *made.looks, described(t + 3, [right, None, ""]))
    found = compare(requests, [*made.looks, described(t + 3, [offset, None, ""])]).problems
    assert [each.requirement for each in found] == ["MDL-10"]


def test_an_end_without_an_answer_may_come_later_and_a_refused_one_does_not() -> None:
    pending = [committed(1, 5), commit_offset(2, 6)]
    assert not problems([*pending, end(3, code=None)], described(4, [5, None, ""]), described(5, [6, None, ""]))
    assert problems([*pending, end(3, code=None)], described(4, [6, None, ""]), described(5, [5, None, ""]))
    assert problems([*pending, end(3, code=48)], described(4, [6, None, ""]))
    assert problems([committed(1, 5), commit_offset(2, 6, 22), end(3)], described(4, [6, None, ""]))
    for offset in (5, 6):
        assert not problems([committed(1, 5), commit_offset(2, 6, None), end(3)], described(4, [offset, None, ""]))


def test_another_producer_has_the_transaction_aborted() -> None:
    pending = [committed(1, 5), commit_offset(2, 6)]
    assert problems([*pending, begin(3), end(4)], described(5, [6, None, ""]))
    for offset in (5, 6):
        assert not problems([*pending, begin(3, 51), end(4)], described(5, [offset, None, ""]))
    assert problems([*pending, begin(3, 90), end(4)], described(5, [5, None, ""]))


def test_no_document_says_which_commit_counts_of_one_in_a_transaction_and_one_after_it() -> None:
    requests = [commit_offset(1, 6), committed(2, 5), end(3)]
    for offset in (5, 6):
        assert not problems(requests, described(4, [offset, None, ""]))
    assert problems(requests, described(4, [7, None, ""]))


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
    assert KIND.says(Committed(Offset(5, None, "m"))) == "5 with `m`"
    assert KIND.says(Committed(Offset(5, None, "m" * 4096))) == "5 with `4096 characters`"
    pending = frozenset({Pending("x", Offset(6, None, ""))})
    assert KIND.says(Committed(None, pending)) == "absent, and 6 in the transaction of x"
    [problem] = compare([commit_offset(1, 6), end(2)], [described(3)]).problems
    name = place("g", "a", 0)
    first = f"1.000 s: commit 6 at {name} in the transaction of x"
    assert problem.history == [first, "2.000 s: commit the transaction of x"]
