from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.kinds.transactions import NOT_FOUND
from fencepost.harness.model.sent import Checkpoint, Description, Sent
from tests.harness.model.transactional_requests import add, add_offsets, begin, commit_offset, end, write

pytestmark = pytest.mark.requirement("MDL-19")

KIND = KINDS["transactions"]
OFFSETS = "__consumer_offsets-0"
TIMED_OUT, REFUSED, CONCURRENT = 7, 48, 51


def look(t: float, state: str | None, *partitions: str, timeout: int = 60_000) -> Checkpoint:
    seen = {"state": state, "timeout": timeout, "partitions": list(partitions)}
    return Checkpoint(f"at {t}", [Description(KIND.name, "n", {} if state is None else {"x": seen}, t, t + 0.1, ["x"])])


def problems(requests: list[Sent], *looks: Checkpoint) -> int:
    return len(compare(requests, looks).problems)


class Coordinator:
    """It does what a producer asks for, and describes its transaction at random."""

    def __init__(self, seed: int, lost: float = 0.2) -> None:
        self.rng, self.lost = random.Random(seed), lost
        self.t, self.state, self.partitions = 1.0, "Empty", set[str]()
        self.requests, self.looks = [begin(1)], list[Checkpoint]()
        for _ in range(self.rng.randint(1, 8)):
            self.t += 1
            self.rng.choice((self.add, self.add, self.offsets, self.end, self.begin, self.look))()
        self.t += 1
        self.look()

    def done(self, code: int = 0) -> int | None:
        """Return the error of an answer; it may be lost."""
        return None if self.rng.random() < self.lost else code

    def open(self, *partitions: str) -> None:
        self.partitions = {*(self.partitions if self.state == "Ongoing" else ()), *partitions}
        self.state = "Ongoing"

    def add(self) -> None:
        chosen = self.rng.sample((0, 1, 2), self.rng.randint(1, 2))
        self.requests.append(add(self.t, chosen, self.done()))
        self.open(*(f"a-{each}" for each in chosen))

    def offsets(self) -> None:
        self.requests.append(self.rng.choice((add_offsets(self.t, self.done()), commit_offset(self.t, 5, self.done()))))
        self.open(OFFSETS)

    def end(self) -> None:
        commit = self.rng.random() < 0.5
        if commit and self.state != "Ongoing":
            self.requests.append(end(self.t, code=self.done(REFUSED)))
            return
        self.requests.append(end(self.t, commit=commit, code=self.done()))
        self.state, self.partitions = "CompleteCommit" if commit else "CompleteAbort", set()

    def begin(self) -> None:
        if self.state == "Ongoing":
            self.requests.append(begin(self.t, self.done(CONCURRENT)))
            self.state = "CompleteAbort"
        else:
            self.requests.append(begin(self.t, self.done()))
            self.state = "Empty"
        self.partitions = set()

    def look(self) -> None:
        self.looks.append(look(self.t, self.state, *sorted(self.partitions)))


@given(st.integers(0, 10_000))
def test_a_coordinator_that_does_what_it_is_asked_for_is_accepted(seed: int) -> None:
    made = Coordinator(seed)
    assert compare(made.requests, made.looks).problems == []


@given(st.integers(0, 10_000), st.sampled_from(("state", "partition", "timeout", "gone")))
def test_each_single_wrong_description_is_refused(seed: int, how: str) -> None:
    made = Coordinator(seed, lost=0.0)
    others = {"Empty": "Ongoing", "Ongoing": "CompleteCommit", "CompleteCommit": "CompleteAbort"}
    wrong = {
        "state": look(made.t, others.get(made.state, "CompleteCommit"), *made.partitions),
        "partition": look(made.t, made.state, *made.partitions, "b-0"),
        "timeout": look(made.t, made.state, *made.partitions, timeout=60_001),
        "gone": look(made.t, None),
    }
    found = compare(made.requests, [*made.looks[:-1], wrong[how]]).problems
    assert [each.requirement for each in found] == ["MDL-19"]


def test_an_end_has_to_come_to_its_end() -> None:
    ended = [begin(1), add(2), end(3)]
    assert not problems(ended, look(4, "CompleteCommit"))
    assert problems(ended, look(4, "PrepareCommit", "a-0"))
    under_way = [begin(1), add(2), end(3, code=None)]
    assert not problems(under_way, look(4, "PrepareCommit", "a-0"), look(5, "CompleteCommit"))
    assert problems(under_way, look(4, "PrepareCommit", "a-0"), look(5, "Ongoing", "a-0"))
    assert problems(under_way, look(4, "PrepareAbort", "a-0"))


def test_it_is_open_for_half_of_its_timeout_and_aborted_after_that() -> None:
    opened = [begin(1, timeout=10_000), add(2)]
    for state in ("PrepareAbort", "PrepareEpochFence", "CompleteAbort"):
        assert problems(opened, look(6, state, timeout=10_000))
        assert not problems(opened, look(8, state, timeout=10_000), look(9, "CompleteAbort", timeout=10_000))
    assert not problems(opened, look(20, "Ongoing", "a-0", timeout=10_000))
    assert problems(opened, look(20, "CompleteCommit", timeout=10_000))


def test_another_producer_has_it_aborted() -> None:
    taken = [begin(1), add(2), begin(3, CONCURRENT)]
    assert not problems(taken, look(4, "Ongoing", "a-0"), look(5, "PrepareAbort"), look(6, "CompleteAbort"))
    assert not problems([*taken, begin(4)], look(5, "Empty"))
    assert problems([*taken, begin(4)], look(5, "Ongoing", "a-0"))
    assert problems([begin(1), add(2), begin(3, 90)], look(4, "CompleteAbort"))


def test_only_an_open_transaction_can_be_committed() -> None:
    assert problems([begin(1), end(2)], look(3, "CompleteCommit"))
    aborted = [begin(1), add(2), end(3, commit=False)]
    assert problems([*aborted, end(4)], look(5, "CompleteAbort"))
    assert not problems([*aborted, end(4, code=REFUSED), end(5, commit=False)], look(6, "CompleteAbort"))
    assert not problems([begin(1), add(2), end(3), end(4)], look(5, "CompleteCommit"))
    assert not problems([begin(1), end(2, commit=False)], look(3, "CompleteAbort"))


def test_later_versions_add_partitions_by_themselves() -> None:
    assert not problems([begin(1), write(2, 5)], look(3, "Ongoing", "a-0"))
    assert not problems([begin(1), commit_offset(2, 5)], look(3, "Ongoing", OFFSETS))
    assert not problems([begin(1), write(2, 5, REFUSED), commit_offset(2.5, 5, REFUSED)], look(3, "Empty"))


def test_a_request_with_a_doubtful_answer_may_have_been_done() -> None:
    for state in (look(4, "Ongoing", "a-0"), look(4, "Empty")):
        assert not problems([begin(1), add(2, code=TIMED_OUT)], state)
    assert problems([begin(1), add(2, code=REFUSED)], look(4, "Ongoing", "a-0"))
    assert not problems([begin(1, TIMED_OUT)], look(2, "Empty"))
    assert not problems([begin(1, TIMED_OUT)], look(2, None))
    assert not problems([begin(1, TIMED_OUT), end(2)], look(3, "CompleteCommit"))
    assert not problems([begin(1, None), add(2)], look(3, "Ongoing", "a-0"))


def test_a_list_shows_the_state_alone() -> None:
    [_, question] = KIND.questions(Scope(objects=["mine", "x"], of_clients=frozenset({"mine"})))
    states = [{"transactional_id": each, "transaction_state": "Ongoing"} for each in ("mine", "x")]
    assert KIND.read(question, {"transaction_states": []}) is None
    listed = KIND.read(question, {"transaction_states": states})
    assert listed == {"x": {"state": "Ongoing"}}
    seen = Checkpoint("list", [Description(KIND.name, "n", listed, 3, 3.1, ())])
    assert not problems([begin(1), add(2)], seen, look(4, "Ongoing", "a-0"))
    assert problems([begin(1)], seen)
    assert not problems([begin(1), add(2, code=None)], seen, look(4, "Ongoing", "a-0"))


def test_only_the_coordinator_is_believed() -> None:
    [question, _] = KIND.questions(Scope(objects=["x"]))

    def read(code: int) -> Any:
        state = {
            "transactional_id": "x",
            "error_code": code,
            "transaction_state": "Ongoing",
            "transaction_timeout": 60_000,
            "topics": [{"topic": "__consumer_offsets", "partitions": [3]}, {"topic": "a", "partitions": [0]}],
        }
        return KIND.read(question, {"transaction_states": [state]})

    assert read(0) == {"x": {"state": "Ongoing", "timeout": 60_000, "partitions": ["__consumer_offsets-3", "a-0"]}}
    assert read(NOT_FOUND) == {}
    assert read(16) is None
    assert not problems([begin(1), add(2), add_offsets(3)], look(4, "Ongoing", "__consumer_offsets-3", "a-0"))


def test_producers_without_a_transactional_id_are_not_followed() -> None:
    idempotent = Sent("init_producer_id", {"transactional_id": None}, 1, 1.1, {"error_code": 0})
    assert list(KIND.effects(idempotent, ())) == []


def test_a_state_is_put_into_words() -> None:
    [problem] = compare([begin(1), add(2)], [look(3, "Empty")]).problems
    assert problem.possible == "Ongoing with a-0, timeout 60000 ms"
    assert problem.history == ["1.000 s: begin as x", "2.000 s: add a-0 as x"]
    requests = [begin(1), add(2), begin(2.5, CONCURRENT), end(3, code=None)]
    [problem] = compare(requests, [look(4, "Empty")]).problems
    assert "2.500 s: abort what x had open, without an answer by then" in problem.history
    assert "3.000 s: commit as x, without an answer by then" in problem.history
    [unknown] = compare([begin(1)], [look(2, None)]).problems
    assert unknown.shown == "n describes x as absent"
