from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.kinds.assignments import NO_REASSIGNMENT, SETTLED, Assignment
from fencepost.harness.model.sent import Checkpoint, Description, Sent

pytestmark = pytest.mark.requirement("MDL-09")

STRANGER = 3
"""A broker on which no request puts a replica."""
CREATE = {"name": "t", "num_partitions": -1, "assignments": [{"partition_index": 0, "broker_ids": [4, 5]}]}


def looks(*seen: Mapping[str, Sequence[int]]) -> list[Checkpoint]:
    return [
        Checkpoint(str(number), [Description("assignments", "n", objects, 2.0 * number, 2.0 * number + 0.1)])
        for number, objects in enumerate(seen)
    ]


def sent(api: str, body: Mapping[str, Any], response: Mapping[str, Any] | None, t: float = 1.0) -> Sent:
    return Sent(api, body, t) if response is None else Sent(api, body, t, t + 0.1, response)


def moved(to: Sequence[int] | None, code: int = 0, t: float = 1.0) -> Sent:
    topic = {"name": "t", "partitions": [{"partition_index": 0, "replicas": to}]}
    answer = {"name": "t", "partitions": [{"partition_index": 0, "error_code": code}]}
    return sent("alter_partition_reassignments", {"topics": [topic]}, {"error_code": 0, "responses": [answer]}, t)


def wrong(requests: Sequence[Sent], *seen: Mapping[str, Sequence[int]]) -> list[str]:
    return [problem.object for problem in compare(requests, looks(*seen)).problems]


def test_a_topic_is_on_the_brokers_that_its_creation_named() -> None:
    created = [sent("create_topics", {"topics": [CREATE]}, {"topics": [{"name": "t", "error_code": 0}]})]
    assert not wrong(created, {}, {"t-0": [4, 5]})
    assert wrong(created, {}, {"t-0": [5, 4]}) == ["t-0"]


@pytest.mark.parametrize("answer", [{"num_partitions": 2}, {}], ids=["the answer has the number", "it has not"])
def test_a_topic_of_the_default_number_of_partitions_has_those_that_were_answered_or_described(
    answer: Mapping[str, Any],
) -> None:
    topic = {"name": "t", "num_partitions": -1, "assignments": []}
    response = {"topics": [{"name": "t", "error_code": 0, **answer}]}
    create = sent("create_topics", {"topics": [topic]}, response)
    both = {"t-0": [1, 2], "t-1": [2, 3]}
    assert wrong([create], {}, both, both) == []
    assert wrong([create], {}, both, {"t-0": [1, 2]}) == ["t-1"]
    assert wrong([create], {}, {**both, "t-2": [3, 1]}) == (["t-2"] if answer else [])


def test_a_partition_that_is_added_is_where_it_was_asked_for() -> None:
    body = {"topics": [{"name": "t", "count": 3, "assignments": [{"broker_ids": [5]}, {"broker_ids": [6]}]}]}
    grown = [sent("create_partitions", body, {"results": [{"name": "t", "error_code": 0}]})]
    assert not wrong(grown, {"t-0": [4]}, {"t-0": [4], "t-1": [5], "t-2": [6]})
    assert wrong(grown, {"t-0": [4]}, {"t-0": [4], "t-1": [5], "t-2": [4]}) == ["t-2"]


def test_without_an_assignment_the_first_description_tells_it_and_it_stays() -> None:
    body = {"topics": [{"name": "t", "count": 2, "assignments": None}]}
    grown = [sent("create_partitions", body, {"results": [{"name": "t", "error_code": 0}]})]
    assert not wrong(grown, {"t-0": [4]}, {"t-0": [4], "t-1": [6]}, {"t-0": [4], "t-1": [6]})
    assert wrong(grown, {"t-0": [4]}, {"t-0": [4], "t-1": [6]}, {"t-0": [4], "t-1": [5]}) == ["t-1"]


def test_an_accepted_move_is_seen_before_while_and_after_it_goes_on_and_then_stays() -> None:
    before, after = {"t-0": [4, 5]}, {"t-0": [6, 5]}
    assert not wrong([moved([6, 5])], before, before, {"t-0": [6, 5, 4]}, after, after)
    assert wrong([moved([6, 5])], before, after, before) == ["t-0"]
    assert wrong([moved([6, 5])], before, {"t-0": [7]}) == ["t-0"]
    assert wrong([moved([6, 5], code=39)], before, after) == ["t-0"]


def test_a_move_that_was_called_off_leaves_the_replicas_of_before() -> None:
    before = {"t-0": [4, 5]}
    requests = [moved([6, 5]), moved(None, t=1.5)]
    assert not wrong(requests, before, before)
    assert wrong(requests, before, {"t-0": [6, 5, 4]}) == ["t-0"]


@dataclass
class Partition:
    """A partition of a cluster that reassigns it, and describes that."""

    rng: random.Random
    replicas: list[int]
    """The target first, then those that are removed."""
    adding: list[int] = field(default_factory=list)
    removing: list[int] = field(default_factory=list)
    now: float = 0.0
    sent: list[Sent] = field(default_factory=list)
    looks: list[Checkpoint] = field(default_factory=list)

    def ask(self, to: Sequence[int] | None, lost: float) -> None:
        self.now += 1
        request, is_lost = moved(to, t=self.now), self.rng.random() < lost
        code = NO_REASSIGNMENT if to is None and not self.moves else 0
        if not code and not (is_lost and self.rng.random() < 0.5):
            origin = [each for each in self.replicas if each not in self.adding]
            target = origin if to is None else list(to)
            self.adding = [each for each in target if each not in origin]
            self.removing = [each for each in origin if each not in target]
            self.replicas = target + self.removing
        self.sent.append(Sent(request.api, request.body, self.now) if is_lost else moved(to, code, self.now))

    def go_on(self) -> None:
        if self.rng.random() < 0.5:
            self.replicas = self.target
            self.adding, self.removing = [], []

    def look(self) -> None:
        described = []
        for node in ("a", "b"):
            described += [self._described(node, {"t-0": list(self.replicas)}), self._described(node, self.listed, ())]
            self.go_on()
        self.looks.append(Checkpoint(str(len(self.looks)), described))

    def _described(self, node: str, objects: Mapping[str, Any], scope: Sequence[str] | None = None) -> Description:
        self.now += 1
        return Description("assignments", node, objects, self.now, self.now + 0.1, scope)

    @property
    def moves(self) -> bool:
        return bool(self.adding or self.removing)

    @property
    def target(self) -> list[int]:
        return [each for each in self.replicas if each not in self.removing]

    @property
    def listed(self) -> Mapping[str, Any]:
        origin = [each for each in self.replicas if each not in self.adding]
        return {"t-0": {"from": origin, "to": self.target} if self.moves else None}

    def with_last(self, *seen: Mapping[str, Any]) -> list[str]:
        """Compare as if the last look had shown this. What names a move, or none, is of the list of reassignments."""
        described = [
            self._described("a", each, () if isinstance(each["t-0"], Mapping | None) else None) for each in seen
        ]
        problems = compare(self.sent, [*self.looks, Checkpoint("last", described)]).problems
        return [each.requirement for each in problems]


def played(seed: int, lost: float = 0.2) -> Partition:
    rng = random.Random(seed)
    partition = Partition(rng, rng.sample(range(4, 9), 3))
    partition.look()
    for _ in range(rng.randint(1, 6)):
        to = None if rng.random() < 0.3 else rng.sample(range(4, 9), rng.randint(1, 3))
        partition.ask(to, lost)
        if rng.random() < 0.4:
            partition.go_on()
        if rng.random() < 0.4:
            partition.look()
    partition.look()
    return partition


@given(st.integers(0, 10_000))
def test_reassignments_that_are_begun_changed_called_off_and_completed_are_accepted(seed: int) -> None:
    partition = played(seed)
    assert compare(partition.sent, partition.looks).problems == []


@given(st.integers(0, 10_000), st.sampled_from(("elsewhere", "unasked", "other target", "other origin", "ended")))
def test_each_single_wrong_description_of_a_reassignment_is_refused(seed: int, how: str) -> None:
    partition = played(seed, lost=0.0)
    replicas, target = partition.replicas, partition.target
    origin = [each for each in replicas if each not in partition.adding]
    wrong: Mapping[str, Sequence[Any]] = {
        "elsewhere": [[*replicas[:-1], STRANGER]],
        "unasked": [{"from": target, "to": [*target[:-1], STRANGER]}],
        "other target": [{"from": origin, "to": [*target, STRANGER]}],
        "other origin": [{"from": [*origin, STRANGER], "to": target}],
        "ended": [None, replicas if partition.removing else [STRANGER]],
    }
    assert partition.with_last(*({"t-0": each} for each in wrong[how])) == ["MDL-09"]


def listed(*seen: Mapping[str, Any]) -> list[Checkpoint]:
    """Return looks at lists of reassignments, each after one at the replicas."""
    return [
        Checkpoint(str(number), [Description("assignments", "n", objects, 2.0 * number, 2.0 * number + 0.1, scope)])
        for number, (objects, scope) in enumerate(zip(seen, (None, *[()] * len(seen)), strict=False))
    ]


def test_what_no_request_moved_is_not_listed_as_moving() -> None:
    before, moving = {"t-0": [4, 5]}, {"t-0": {"from": [4, 5], "to": [6, 5]}}
    assert compare([], listed(before, moving)).problems
    assert not compare([moved([6, 5])], listed(before, moving)).problems
    assert compare([moved([6, 5], code=39)], listed(before, moving)).problems
    assert not compare([], listed(before, {"t-0": None})).problems


def test_a_move_that_is_listed_no_more_is_at_its_target_and_was_not_there_to_be_called_off() -> None:
    ended, replicas = {"t-0": None}, {"t-0": [4, 5]}
    look = listed(replicas, ended)
    after = [Checkpoint("after", [Description("assignments", "n", replicas, 6.0, 6.1)])]
    assert [each.object for each in compare([moved([6, 5])], [*look, *after]).problems] == ["t-0"]
    assert not compare([moved([6, 5]), moved(None, t=1.5)], [*look, *after]).problems
    assert compare([moved([6, 5]), moved(None, NO_REASSIGNMENT, 1.5), moved(None, t=4.0)], look).problems
    assert not compare([moved([6, 5]), moved(None, NO_REASSIGNMENT, 1.5)], [*look, *after]).problems


def test_a_second_move_begins_where_the_first_one_began_or_at_its_target() -> None:
    requests = [moved([6, 5]), moved([7, 5], t=1.5)]
    for origin, fits in (([4, 5], True), ([6, 5], True), ([4, 5, 6], False)):
        seen = {"t-0": {"from": origin, "to": [7, 5]}}
        assert bool(compare(requests, listed({"t-0": [4, 5]}, seen)).problems) is not fits


def test_a_move_that_was_called_off_may_leave_the_replicas_in_another_order_once() -> None:
    requests, before = [moved([6, 5]), moved(None, t=1.5)], {"t-0": [4, 5]}
    assert not wrong(requests, before, {"t-0": [5, 4]}, {"t-0": [5, 4]})
    assert wrong(requests, before, {"t-0": [5, 4]}, {"t-0": [4, 5]}) == ["t-0"]


def test_a_partition_that_moves_at_the_first_look_goes_on_to_where_it_is_listed_to_go() -> None:
    moving = {"t-0": {"from": [4, 5], "to": [6, 5]}}
    first = Checkpoint(
        "first",
        [
            Description("assignments", "n", {"t-0": [6, 5, 4]}, 0.0, 0.1),
            Description("assignments", "n", moving, 0.2, 0.3, ()),
        ],
    )

    def then(*replicas: int) -> list[str]:
        second = Checkpoint("second", [Description("assignments", "n", {"t-0": replicas}, 1.0, 1.1)])
        return [each.object for each in compare([], [first, second]).problems]

    assert not then(6, 5)
    assert then(4, 7) == ["t-0"]


def test_a_partition_that_moves_before_its_replicas_were_seen_shows_its_origin_in_the_list() -> None:
    created = sent(
        "create_topics",
        {"topics": [{"name": "t", "num_partitions": 1, "assignments": []}]},
        {"topics": [{"name": "t", "error_code": 0}]},
        0.5,
    )
    moving = {"t-0": {"from": [4, 5], "to": [6, 5]}}
    looks = listed({}, moving)
    looks[1:1] = [Checkpoint("between", [Description("assignments", "n", {"t-0": [6, 5, 4]}, 1.6, 1.7)])]
    assert not compare([created, moved([6, 5])], looks).problems
    assert compare([created, moved([6, 5])], [*looks, *listed({"t-0": [7]})]).problems


def test_the_list_says_nothing_of_partitions_that_are_gone() -> None:
    deleted = sent("delete_topics", {"topic_names": ["t"]}, {"responses": [{"name": "t", "error_code": 0}]})
    assert not compare([deleted], listed({"t-0": [4]}, {"t-0": None})).problems
    moving = {"t-0": {"from": [4], "to": [5]}}
    assert compare([deleted], listed({"t-0": [4]}, moving)).problems
    assert not compare([], listed({"u-0": [4]}, {"t-0": None}, {"t-0": None})).problems


def test_the_list_names_origin_and_target_and_the_partitions_that_do_not_move() -> None:
    kind = KINDS["assignments"]
    question = [*kind.questions(Scope(objects=["t-0", "t-1"]))][-1]
    moving = {"partition_index": 1, "replicas": [6, 5, 4], "adding_replicas": [6], "removing_replicas": [4]}
    answer = {"error_code": 0, "topics": [{"name": "t", "partitions": [moving]}]}
    assert kind.read(question, answer) == {"t-0": None, "t-1": {"from": [5, 4], "to": [6, 5]}}
    assert kind.read(question, {"error_code": 41, "topics": []}) is None
    assert kind.state(None) == SETTLED
    assert kind.says(Assignment((4,), (5,))) == "4, on its way to 5"


def test_a_partition_that_is_not_there_is_not_moved() -> None:
    assert [each.object for each in compare([moved([6, 5])], looks({}, {})).problems] == ["t-0"]
    assert not compare([moved([6, 5], code=3)], looks({}, {})).problems


def test_the_last_step_of_a_move_may_still_be_listed_though_it_moves_nothing() -> None:
    after, ends = {"t-0": [6, 5]}, {"t-0": {"from": [5, 6], "to": [6, 5]}}
    assert not compare([moved([6, 5])], [*listed({"t-0": [4, 5]}), *later(after), *later(ends, 3.0, ())]).problems
    elsewhere = {"t-0": {"from": [5, 7], "to": [7, 5]}}
    assert compare([moved([6, 5])], [*listed({"t-0": [4, 5]}), *later(after), *later(elsewhere, 3.0, ())]).problems


def later(seen: Mapping[str, Any], t: float = 2.0, scope: Sequence[str] | None = None) -> list[Checkpoint]:
    return [Checkpoint(f"at {t}", [Description("assignments", "n", seen, t, t + 0.1, scope)])]


def test_the_deletion_of_a_topic_leaves_the_partitions_of_others_where_they_are() -> None:
    deleted = sent("delete_topics", {"topic_names": ["t"]}, {"responses": [{"name": "t", "error_code": 0}]})
    assert not wrong([deleted], {"t-0": [4], "u-0": [5]}, {"u-0": [5]})
    assert wrong([deleted], {"t-0": [4], "u-0": [5]}, {}) == ["u-0"]
