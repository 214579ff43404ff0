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
from fencepost.harness.model.kinds.producers import LAST_EPOCHS, NOT_FOUND
from fencepost.harness.model.sent import Checkpoint, Description, Sent

pytestmark = pytest.mark.requirement("MDL-12")

KIND = KINDS["producers"]
FENCED = 90


def begin(t: float, id: int, epoch: int, given: int = -1, code: int | None = 0) -> Sent:
    body = {"transactional_id": "x", "producer_id": id if given >= 0 else -1, "producer_epoch": given}
    return answered("init_producer_id", body, t, code, {"producer_id": id, "producer_epoch": epoch})


def end(t: float, id: int, epoch: int, code: int | None = 0, then: tuple[int, int] | None = None) -> Sent:
    body = {"transactional_id": "x", "producer_id": id, "producer_epoch": epoch, "committed": True}
    more = {} if then is None else {"producer_id": then[0], "producer_epoch": then[1]}
    return answered("end_txn", body, t, code, more)


def add(t: float, id: int, epoch: int, code: int = 0) -> Sent:
    body = {"transactional_id": "x", "producer_id": id, "producer_epoch": epoch}
    old = {f"v3_and_below_{key}": value for key, value in body.items()}
    partitions = [{"partition_index": 0, "partition_error_code": code}]
    topics = [{"name": "a", "results_by_partition": partitions}]
    return Sent("add_partitions_to_txn", old, t, t + 0.1, {"results_by_topic_v3_and_below": topics})


def answered(api: str, body: Mapping[str, Any], t: float, code: int | None, more: Mapping[str, Any]) -> Sent:
    return Sent(api, body, t) if code is None else Sent(api, body, t, t + 0.1, {"error_code": code, **more})


def look(t: float, id: int | None = None, epoch: int = 0) -> Checkpoint:
    objects = {} if id is None else {"x": [id, epoch]}
    return Checkpoint(f"at {t}", [Description(KIND.name, "n", objects, t, t + 0.1, ["x"])])


def problems(requests: list[Sent], *looks: Checkpoint) -> int:
    return len(compare(requests, looks).problems)


def made(seed: int) -> tuple[list[Sent], list[Checkpoint], tuple[int, int]]:
    """Return a history of one transactional id, near the end of its epochs or not, and its last id and epoch."""
    rng = random.Random(seed)
    id, epoch, t = 7, rng.choice((0, LAST_EPOCHS - 2)), 1.0
    requests, looks = [begin(t, id, epoch)], []
    for _ in range(rng.randint(1, 8)):
        t += 1
        match rng.randrange(5):
            case 0 | 1:
                id, epoch = (id + 1, 0) if epoch > LAST_EPOCHS else (id, epoch + 1)
                requests.append(begin(t, id, epoch, code=rng.choice((0, 0, 0, None))))
            case 2:
                requests.append(add(t, id, epoch))
            case 3 if epoch:
                requests.append(add(t, id, epoch - 1, FENCED))
            case _:
                looks.append(look(t, id, epoch))
    return requests, [*looks, look(t + 1, id, epoch)], (id, epoch)


def test_begins_without_an_answer_may_have_led_to_the_end_of_the_epochs() -> None:
    lost = [begin(t, 7, 0, code=None) for t in (2, 3)]
    near = [begin(1, 7, LAST_EPOCHS - 2), *lost]
    assert not problems(near, look(4, 8, 0))
    assert not problems(near, look(4, 7, LAST_EPOCHS - 2), look(5, 7, LAST_EPOCHS))
    assert problems([begin(1, 7, LAST_EPOCHS - 3), *lost], look(4, 8, 0))
    assert problems([begin(1, 7, LAST_EPOCHS - 2), lost[0]], look(4, 8, 0))
    assert problems(near[:1] + [begin(2, 7, 0, code=FENCED)] * 2, look(4, 8, 0))


@given(st.integers(0, 10_000))
def test_a_coordinator_that_only_raises_epochs_is_accepted(seed: int) -> None:
    requests, looks, _ = made(seed)
    assert compare(requests, looks).problems == []


@given(st.integers(0, 10_000), st.sampled_from(("gone", "another id", "earlier epoch")))
def test_each_single_wrong_description_is_refused(seed: int, how: str) -> None:
    requests, looks, (id, epoch) = made(seed)
    last = looks[-1].descriptions[0].begun
    requests = [*requests, begin(last + 1, id, epoch + 1)]
    wrong = {
        "gone": look(last + 2),
        "another id": look(last + 2, id + 5, 3 if epoch < LAST_EPOCHS - 1 else -1),
        "earlier epoch": look(last + 2, id, epoch),
    }
    found = compare(requests, [*looks, wrong[how]]).problems
    assert [each.requirement for each in found] == ["MDL-12"]


def test_the_epoch_may_rise_by_itself() -> None:
    assert not problems([begin(1, 7, 0)], look(2, 7, 3), look(3, 7, 4))
    assert problems([begin(1, 7, 0)], look(2, 7, 3), look(3, 7, 2))


def test_no_two_producers_get_the_same_epoch_but_one_that_asks_again() -> None:
    assert problems([begin(1, 7, 1), begin(2, 7, 1)], look(3, 7, 1))
    assert not problems([begin(1, 7, 1), begin(2, 7, 1, given=0)], look(3, 7, 1))


def test_an_epoch_never_turns_negative_and_the_producer_id_changes_at_the_end_only() -> None:
    assert problems([begin(1, 7, 0), begin(2, 8, 0)], look(3, 8, 0))
    assert not problems([begin(1, 7, LAST_EPOCHS), begin(2, 8, 0)], look(3, 8, 0))
    assert problems([begin(1, 7, LAST_EPOCHS), begin(2, 8, -5)], look(3, 8, 0))


def test_a_fenced_producer_stays_fenced() -> None:
    taken = [begin(1, 7, 0), begin(2, 7, 1)]
    for late in (add(3, 7, 0), end(3, 7, 0)):
        assert problems([*taken, late], look(4, 7, 1))
    for refused in (add(3, 7, 0, FENCED), end(3, 7, 0, FENCED), end(3, 7, 0, None)):
        assert not problems([*taken, refused], look(4, 7, 1))


def test_each_transaction_may_have_an_epoch_of_its_own_and_its_end_may_be_sent_again() -> None:
    ended = [begin(1, 7, 0), end(2, 7, 0, then=(7, 1))]
    assert not problems(ended, look(3, 7, 1))
    assert problems(ended, look(3, 7, 0))
    assert not problems([*ended, end(3, 7, 0, then=(7, 1))], look(4, 7, 1))
    assert problems([*ended, add(3, 7, 0)], look(4, 7, 1))
    last = [begin(1, 7, LAST_EPOCHS + 1), end(2, 7, LAST_EPOCHS + 1, then=(8, 0))]
    assert not problems(last, look(3, 8, 0))


def test_a_begin_without_an_answer_may_have_made_the_id() -> None:
    lost = begin(1, 7, 0, code=None)
    assert not problems([lost], look(2), look(3, 7, 0), look(4, 7, 0))
    assert problems([lost], look(2, 7, 0), look(3))
    assert not problems([begin(1, 7, 0, code=16)], look(2, 7, 0))
    assert problems([begin(1, 7, 0, code=53)], look(2, 7, 0))
    assert not problems([lost, add(2, 7, 0)], look(3, 7, 0))


def test_brokers_add_partitions_of_several_ids_and_clients_offsets() -> None:
    def verified(verify_only: bool, code: int = 0, whole: int = 0) -> Sent:
        each = {"transactional_id": "x", "producer_id": 7, "producer_epoch": 0, "verify_only": verify_only}
        results = [{"results_by_partition": [{"partition_index": 0, "partition_error_code": code}]}]
        answers = [{"transactional_id": "x", "topic_results": results}]
        response = {"error_code": whole, "results_by_transaction": answers}
        return Sent("add_partitions_to_txn", {"transactions": [each]}, 3, 3.1, response)

    taken = [begin(1, 7, 0), begin(2, 7, 1)]
    assert problems([*taken, verified(False)], look(4, 7, 1))
    for other in (verified(True), verified(False, FENCED), verified(False, whole=16)):
        assert not problems([*taken, other], look(4, 7, 1))
    offsets = {"transactional_id": "x", "producer_id": 7, "producer_epoch": 0, "group_id": "g"}
    assert problems([*taken, answered("add_offsets_to_txn", offsets, 3, 0, {})], look(4, 7, 1))


def test_producers_without_a_transactional_id_and_those_of_clients_are_not_followed() -> None:
    idempotent = Sent("init_producer_id", {"transactional_id": None}, 1, 1.1, {"error_code": 0})
    assert list(KIND.effects(idempotent, ())) == []
    [question] = KIND.questions(Scope(objects=["mine", "x"], of_clients=frozenset({"mine"})))
    assert question.scope == ["x"]


def test_only_the_coordinator_is_believed() -> None:
    [question] = KIND.questions(Scope(objects=["x"]))

    def read(code: int) -> Any:
        state = {"transactional_id": "x", "producer_id": 7, "producer_epoch": 2, "error_code": code}
        return KIND.read(question, {"transaction_states": [state]})

    assert read(0) == {"x": [7, 2]}
    assert read(NOT_FOUND) == {}
    assert read(16) is None


def test_a_state_is_put_into_words() -> None:
    [problem] = compare([begin(1, 7, 4)], [look(2)]).problems
    assert problem.possible == "epoch 4 of producer 7"
    assert problem.history == ["1.000 s: begin as x, at epoch 4 of producer 7"]
    [unknown] = compare([begin(1, 7, 0, code=None), add(2, 7, -1)], [look(3, 7, 0)]).problems
    assert unknown.possible == "absent"
