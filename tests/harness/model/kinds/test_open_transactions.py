from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.kinds.open_transactions import Place, place_of
from fencepost.harness.model.sent import Checkpoint, Description, Sent
from tests.harness.model.transactional_requests import add, answered, begin, end, write

pytestmark = pytest.mark.requirement("MDL-20")

KIND = KINDS["open transactions"]
NAME = str(Place("a-0", "x", 7))
NONE = -1
FENCED, TIMED_OUT, CONCURRENT = 47, 7, 51


def look(t: float, start: int | None = None, epoch: int = 0) -> Checkpoint:
    """Return a look at a leader that has a transaction open from `start` on; None: it does not know the producer."""
    objects = {} if start is None else {NAME: [start, epoch]}
    return Checkpoint(f"at {t}", [Description(KIND.name, "n", objects, t, t + 0.1, [NAME])])


def problems(requests: list[Sent], *looks: Checkpoint) -> int:
    return len(compare(requests, looks).problems)


def made(seed: int, lost: float = 0.2) -> tuple[list[Sent], list[Checkpoint], int | None, float]:
    """Return a history of one producer at one partition, the start that the leader has last, and the time."""
    rng = random.Random(seed)
    requests, looks, start, t, log_end = [begin(1), add(2)], list[Checkpoint](), None, 2.0, 0

    def done() -> int | None:
        return None if rng.random() < lost else 0

    for _ in range(rng.randint(1, 8)):
        t += 1
        match rng.randrange(4):
            case 0 | 1:
                requests.append(write(t, log_end, done()))
                start = log_end if start in (None, NONE) else start
                log_end += 1
            case 2:
                requests.append(end(t, commit=rng.random() < 0.5, code=done()))
                start = None if start is None else NONE
                log_end += 1
            case _:
                looks.append(look(t, start))
    return requests, [*looks, look(t + 1, start)], start, t + 1


@given(st.integers(0, 10_000))
def test_a_leader_that_does_what_it_is_asked_for_is_accepted(seed: int) -> None:
    requests, looks, _, _ = made(seed)
    assert compare(requests, looks).problems == []


@given(st.integers(0, 10_000), st.sampled_from(("forgotten", "other start", "ended", "epoch")))
def test_each_single_wrong_description_is_refused(seed: int, how: str) -> None:
    requests, looks, start, t = made(seed, lost=0.0)
    requests = [*requests, write(t + 1, 100, epoch=2)]
    first = 100 if start in (None, NONE) else start or 0
    right = look(t + 2, first, 2)
    wrong = {
        "forgotten": look(t + 2),
        "other start": look(t + 2, first + 1, 2),
        "ended": look(t + 2, NONE, 2),
        "epoch": look(t + 2, first, 1),
    }
    assert not problems(requests, *looks, right)
    found = compare(requests, [*looks, wrong[how]]).problems
    assert [each.requirement for each in found] == ["MDL-20"]


def test_nothing_is_open_before_the_first_record_and_after_the_end() -> None:
    assert not problems([begin(1), add(2)], look(3))
    assert problems([begin(1), add(2)], look(3, 0))
    opened = [begin(1), add(2), write(3, 5)]
    assert not problems(opened, look(4, 5))
    for ended in (end(5), end(5, commit=False), begin(5)):
        assert problems([*opened, ended], look(6, 5))
        for after in (look(6), look(6, NONE)):
            assert not problems([*opened, ended], after)
    assert problems([*opened, end(5, code=48)], look(6, NONE))
    assert not problems([*opened, end(5), add(6), write(7, 9)], look(8, 9))


def test_it_is_open_for_half_of_its_timeout() -> None:
    opened = [begin(1, timeout=10_000), add(2), write(3, 5)]
    assert problems(opened, look(6, NONE))
    assert not problems(opened, look(8, NONE))
    assert not problems(opened, look(8))
    assert not problems(opened, look(8, 5))
    assert problems([begin(1), write(3, 5)], look(6, NONE))
    assert not problems([write(3, 5)], look(6, NONE))


def test_another_producer_has_it_aborted() -> None:
    opened = [begin(1), add(2), write(3, 5)]
    for code in (CONCURRENT, TIMED_OUT, None):
        taken = [*opened, begin(4, code)]
        assert not problems(taken, look(5, 5), look(6, NONE))
        assert problems(taken, look(5, NONE), look(6, 5))
    assert problems([*opened, begin(4, 90)], look(5, NONE))
    assert not problems([*opened, begin(4, CONCURRENT, id="y")], look(5, 5))


def test_a_leader_takes_nothing_of_an_earlier_epoch() -> None:
    opened = [begin(1), add(2), write(3, 5, epoch=1)]
    assert problems([*opened, write(4, 6, epoch=0)], look(5, 5, 1))
    assert not problems([*opened, write(4, 6, FENCED, epoch=0)], look(5, 5, 1))


def test_a_write_with_a_doubtful_answer_may_have_been_done() -> None:
    late = [begin(1), add(2), write(3, 5, None)]
    assert not problems(late, look(4), look(5, 5), look(6, 5))
    for code in (TIMED_OUT, None):
        written = [begin(1), add(2), write(3, 5, code)]
        assert not problems(written, look(5))
        assert not problems(written, look(5, 5))
        assert problems(written, look(5, 5), look(6, 6))
    assert problems([begin(1), add(2), write(3, 5, FENCED)], look(4, 5))
    assert not problems([begin(1), add(2, code=None), write(3, 5)], look(4, 5))


def test_it_may_go_with_its_topic() -> None:
    opened = [begin(1), add(2), write(3, 5)]
    for topics in ([{"name": "a"}], [{"name": None}]):
        deleted = answered("delete_topics", {"topics": topics}, 4, {"responses": []})
        assert not problems([*opened, deleted], look(5, 5), look(6))
    other = answered("delete_topics", {"topic_names": ["b"]}, 4, {"responses": []})
    assert problems([*opened, other], look(5))


def test_only_the_leader_is_believed_and_each_producer_is_one_object() -> None:
    names = [str(Place("a-0", "mine", 3)), NAME, str(Place("a-0", "x", 8)), str(Place("b-c-1", "x", 7))]
    first, second = KIND.questions(Scope(objects=names, of_clients=frozenset({"mine"})))
    assert (first.scope, second.scope) == (names[1:3], names[3:])
    assert second.body == {"topics": [{"name": "b-c", "partition_indexes": [1]}]}
    active = {"producer_id": 7, "producer_epoch": 2, "current_txn_start_offset": 5}

    def read(code: int) -> Any:
        partition = {"partition_index": 0, "error_code": code, "active_producers": [active]}
        return KIND.read(first, {"topics": [{"name": "a", "partitions": [partition]}]})

    assert read(0) == {NAME: [5, 2]}
    assert read(6) is None


def test_names_and_states_are_put_into_words() -> None:
    place = Place("a-0", "as of x", 7)
    assert place_of(str(place)) == place
    [problem] = compare([begin(1), add(2), write(3, 5)], [look(4)]).problems
    assert problem.shown == f"n describes {NAME} as no open transaction"
    assert problem.possible == "a transaction of epoch 0 that is open from 5 on"
    assert problem.history == ["1.000 s: begin as x", f"2.000 s: add {NAME}", f"3.000 s: write to {NAME}, at 5"]
    lost = [begin(1), add(2), write(3, 5, None), begin(4, CONCURRENT), end(5, code=None)]
    assert "that is not known" in KIND.says(next(iter(lost_states(lost))))


def lost_states(requests: list[Sent]) -> list[Any]:
    """Return the states of the object after the last write, whatever came of it."""
    return [effect.after(KIND.absent) for effect in KIND.effects(requests[2], (NAME,))]
