"""Idempotent producers: repetitions, gaps and epochs, as Kafka decides them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fencepost.cluster_impl.storage.log import Log
from fencepost.cluster_impl.storage.producers import ProducerStates, SequenceError
from fencepost.cluster_impl.wire import batches
from fencepost.cluster_impl.wire.batches import Batch
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.storage.records import batch

LAST = 2**31 - 1


def sent(sequence: int, count: int = 2, *, epoch: int = 0, producer: int = 7, offset: int = 0) -> Batch:
    fields = {"producer_id": producer, "producer_epoch": epoch, "base_sequence": sequence, "base_offset": offset}
    return batches.split(batch(count, **fields))[0]


def after(*appended: Batch) -> ProducerStates:
    return ProducerStates.rebuilt(appended)


def refusal(states: ProducerStates, tried: Batch) -> Error:
    with pytest.raises(SequenceError, match="producer 7") as caught:
        states.check(tried)
    return caught.value.error


def test_the_next_sequence_may_be_appended() -> None:
    assert after(sent(0)).check(sent(2)) is None


def test_a_repetition_returns_the_offsets_of_the_original() -> None:
    states = after(sent(0, offset=10), sent(2, offset=50))
    original = states.check(sent(0))
    assert original is not None
    assert (original.base_offset, original.last_offset) == (10, 11)


def test_the_last_five_batches_are_recognised_and_older_ones_are_out_of_order() -> None:
    states = after(*(sent(2 * number, offset=2 * number) for number in range(6)))
    for number in range(1, 6):
        assert states.check(sent(2 * number)) is not None
    assert refusal(states, sent(0)) is Error.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.parametrize("sequence", [0, 1, 3, 100])
def test_a_gap_or_an_overlap_is_out_of_order(sequence: int) -> None:
    assert refusal(after(sent(0)), sent(sequence, 3)) is Error.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequences_wrap_to_zero() -> None:
    assert after(sent(LAST, 1)).check(sent(0)) is None
    assert after(sent(LAST - 1, 3)).check(sent(1)) is None
    assert refusal(after(sent(LAST - 1, 3)), sent(0)) is Error.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_an_older_epoch_is_fenced_even_if_it_repeats() -> None:
    states = after(sent(0, epoch=1), sent(0, epoch=2))
    assert refusal(states, sent(0, epoch=1)) is Error.INVALID_PRODUCER_EPOCH


def test_a_newer_epoch_begins_with_zero_and_remembers_nothing_of_the_older() -> None:
    states = after(sent(0), sent(2))
    assert states.check(sent(0, epoch=1)) is None
    assert refusal(states, sent(4, epoch=1)) is Error.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_producers_do_not_disturb_each_other() -> None:
    states = after(sent(0, producer=7), sent(0, producer=8))
    assert states.check(sent(2, producer=7)) is None
    assert states.check(sent(0, producer=8)) is not None


def test_an_unknown_producer_may_begin_anywhere_and_a_plain_batch_is_no_producers() -> None:
    states = ProducerStates()
    assert states.check(sent(50)) is None
    plain = batches.split(batch(2))[0]
    states.update(plain)
    assert states.check(plain) is None


def test_a_control_batch_raises_the_epoch_and_is_no_sequence() -> None:
    marker = batches.build([(b"k", b"v", 1)], producer_id=7, producer_epoch=3, control=True)
    states = after(sent(0), batches.split(marker)[0])
    assert refusal(states, sent(2)) is Error.INVALID_PRODUCER_EPOCH
    assert states.check(sent(0, epoch=3)) is None


@pytest.mark.parametrize("seed", range(10))
def test_a_follower_that_becomes_leader_answers_as_the_leader_did(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    log = Log.open(tmp_path)
    states = ProducerStates()
    tried: list[tuple[int, int, int, int]] = []
    for _ in range(200):
        fields = (random.randrange(12), random.randrange(1, 4), random.randrange(2), random.randrange(3))
        sequence, count, epoch, producer = fields
        try:
            if states.check(sent(sequence, count, epoch=epoch, producer=producer)) is None:
                buffer = batch(count, producer_id=producer, producer_epoch=epoch, base_sequence=sequence)
                log.append_as_leader(buffer, 0)
                states.update(batches.split(buffer)[0])
        except SequenceError:
            pass
        tried.append(fields)
    rebuilt = ProducerStates.rebuilt(log.batches(0))
    for sequence, count, epoch, producer in tried:
        attempt = sent(sequence, count, epoch=epoch, producer=producer)
        assert _answer(rebuilt, attempt) == _answer(states, attempt)
    log.close()


def _answer(states: ProducerStates, attempt: Batch) -> object:
    try:
        return states.check(attempt)
    except SequenceError as error:
        return error.error
