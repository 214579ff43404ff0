"""Each checker of the data plane against a history that is as it should be, and the smallest that is not."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.checkers.aborted_read import aborted_read
from fencepost.harness.checkers.committed import read_committed
from fencepost.harness.checkers.consumer_order import nonmonotonic_poll, poll_skip
from fencepost.harness.checkers.duplicate import duplicate
from fencepost.harness.checkers.history import FinalRead, History, SendOutcome
from fencepost.harness.checkers.inconsistent_offsets import inconsistent_offsets
from fencepost.harness.checkers.lost_write import lost_write
from fencepost.harness.checkers.nonmonotonic_send import nonmonotonic_send
from fencepost.harness.checkers.registry import checkers
from fencepost.harness.checkers.unseen import unread, unseen
from fencepost.harness.checkers.vanished import consumed_then_vanished
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder

Checker = Callable[[History], Finding]
OF_EVERY_HISTORY = [each for each in checkers() if each.reads == ("history",) and not each.needs]


def verdict(checker: Checker, builder: JournalBuilder) -> Verdict:
    return checker(builder.history()).verdict


def good() -> JournalBuilder:
    return (
        JournalBuilder()
        .send("p-0", 0)
        .send("p-1", 1)
        .send("p-2", outcome="fail", error="NOT_ENOUGH_REPLICAS")
        .send("p-3", outcome="info", error="_MSG_TIMED_OUT")
        .poll((0, "p-0"), (1, "p-1"))
        .poll((2, "p-3"))
        .final((0, "p-0"), (1, "p-1"), (2, "p-3"))
    )


@pytest.mark.parametrize("checker", OF_EVERY_HISTORY, ids=lambda each: each.checks[0].name)
def test_a_history_as_it_should_be_passes(checker: Checker) -> None:
    finding = checker(replace(good().history(), known_senders=frozenset({"t"})))
    assert finding.verdict is Verdict.PASS
    assert finding.evidence["judged"] > 0
    assert finding.counterexample is None


@pytest.mark.parametrize("checker", OF_EVERY_HISTORY, ids=lambda each: each.checks[0].name)
def test_an_empty_history_is_judged_over_nothing(checker: Checker) -> None:
    finding = checker(JournalBuilder().history())
    assert finding.evidence["judged"] == 0
    assert finding.verdict is Verdict.PASS


# lost write


def test_an_acknowledged_record_below_what_was_read_and_never_read_is_lost() -> None:
    builder = JournalBuilder().send("p-0", 0).send("p-1", 1).send("p-2", 2).poll((0, "p-0"), (2, "p-2"))
    finding = lost_write(builder.history())
    assert finding.verdict is Verdict.VIOLATION
    assert finding.requirement == "ACK-01"
    assert finding.counterexample is not None
    assert [row[1:3] for row in finding.counterexample.rows] == [(1, "p-1")]
    assert [row[1:3] for row in finding.counterexample.context] == [(0, "p-0")]


def test_nothing_above_the_highest_offset_read_is_called_lost() -> None:
    finding = lost_write(JournalBuilder().send("p-0", 0).send("p-1", 1).poll((0, "p-0")).history())
    assert finding.verdict is Verdict.PASS
    assert finding.evidence == {"judged": 1, "above_bound": 1}


def test_a_record_at_an_unknown_offset_is_lost_only_if_a_final_read_lacks_it() -> None:
    unread_tail = JournalBuilder().send("p-0", 0).send("p-1").poll((0, "p-0"))
    assert verdict(lost_write, unread_tail) is Verdict.PASS
    finding = unseen(JournalBuilder().send("p-0", 0).send("p-1").final((0, "p-0")).history())
    assert finding.verdict is Verdict.VIOLATION
    assert finding.message == "1 record (t-0 unknown offset) acknowledged with acks=all are gone."
    assert finding.counterexample is not None
    assert [row[1:3] for row in finding.counterexample.rows] == [("unknown offset", "p-1")]
    assert finding.evidence["extent"] == {"t-0": []}


@pytest.mark.requirement("DV-10")
def test_a_record_at_an_unknown_offset_may_be_among_those_that_the_plan_had_deleted() -> None:
    history = JournalBuilder().send("a").send("b", 1).final((1, "b"), start=1).history()
    assert unseen(history).verdict is Verdict.VIOLATION
    assert unseen(replace(history, deleted_before={("t", 0): 1})).verdict is Verdict.PASS


@pytest.mark.parametrize("acks", ["1", "0"])
@pytest.mark.requirement("DV-04")
def test_what_was_not_acknowledged_by_all_may_be_lost(acks: str) -> None:
    builder = JournalBuilder().send("p-0", 0, acks=acks).send("p-1", 1).final((1, "p-1"))
    assert verdict(lost_write, builder) is Verdict.PASS
    assert verdict(unseen, builder) is Verdict.PASS


def test_a_lost_record_is_shown_with_the_isr_of_the_time() -> None:
    builder = (
        JournalBuilder().partition(6, 1, [6, 4]).send("p-0", 0).partition(4, 2, [4]).send("p-1", 1).final((1, "p-1"))
    )
    table = lost_write(builder.history()).counterexample
    assert table is not None
    assert dict(zip(table.columns, table.rows[0], strict=True)) == {
        "partition": "t-0",
        "offset": 0,
        "record": "p-0",
        "producer": "p",
        "acknowledged": "0.30 s",
        "leader then": "6 (epoch 1)",
        "ISR then": "6, 4",
        "final read": "absent",
    }


# unseen


def test_an_acknowledged_record_beyond_the_end_of_the_log_is_gone() -> None:
    finding = unseen(JournalBuilder().send("p-0", 0).send("p-1", 1).final((0, "p-0")).history())
    assert finding.verdict is Verdict.VIOLATION
    assert "1 record (t-0 offset 1)" in finding.message


def test_an_acknowledged_record_that_a_consumer_saw_before_is_gone_all_the_same() -> None:
    builder = JournalBuilder().send("a", 0).send("b", 1).send("c", 2).poll((0, "a"), (1, "b")).final((0, "a"))
    finding = unseen(builder.history())
    assert finding.verdict is Verdict.VIOLATION
    assert "2 records (t-0 offsets 1 to 2)" in finding.message
    assert finding.counterexample is not None
    assert [row[2] for row in finding.counterexample.rows] == ["b", "c"]
    assert [row[2] for row in finding.counterexample.context] == ["a"], "b was read once, and is no longer there"


@pytest.mark.requirement("DV-10")
@pytest.mark.parametrize("read", [True, False])
def test_a_record_below_a_start_that_moved_by_itself_is_gone_though_it_was_read(read: bool) -> None:
    """As of a broker that lost the beginning of its logs."""
    builder = JournalBuilder().send("a", 0).send("b", 1)
    builder = builder.poll((0, "a")) if read else builder
    history = builder.final((1, "b"), start=1).history()
    assert unseen(history).verdict is Verdict.VIOLATION
    finding = unseen(replace(history, deleted_before={("t", 0): 1}))
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 1)


def test_a_log_that_came_back_empty_has_lost_its_records() -> None:
    assert verdict(unseen, JournalBuilder().send("p-0", 0).final()) is Verdict.VIOLATION


def test_without_a_final_read_to_the_end_nothing_is_said_of_the_tail() -> None:
    builder = JournalBuilder().send("p-0", 0).send("p-1", 1).poll((0, "p-0"))
    assert verdict(unseen, builder) is Verdict.PASS
    finding = unread(builder.history())
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "t-0" in finding.message


def test_what_was_lost_in_one_partition_says_nothing_of_another_that_was_not_read() -> None:
    builder = JournalBuilder().send("p-0", 0).send("p-1", 0, partition=1).final()
    assert verdict(unseen, builder) is Verdict.VIOLATION
    assert "t-1" in unread(builder.history()).message
    assert verdict(unread, JournalBuilder().send("p-0", 0).final((0, "p-0"))) is Verdict.PASS


def test_what_is_gone_is_lost_too_where_later_offsets_were_read() -> None:
    builder = JournalBuilder().send("p-0", 0).send("p-1", 1).send("p-2", 2).final((1, "p-1"))
    assert unseen(builder.history()).evidence["wrong"] == 2
    assert lost_write(builder.history()).evidence["wrong"] == 1


def test_a_loss_names_the_leader_that_came_without_the_records() -> None:
    builder = (
        JournalBuilder().partition(6, 1, [6, 4]).send("p-0", 0).send("p-1", 1).partition(6, 2, [6]).partition(4, 3, [4])
    )
    finding = unseen(builder.final((0, "p-0")).history())
    assert finding.at == 0.7
    assert finding.message.endswith("The next leader was 4 (epoch 3, ISR 4), seen at 0.70 s.")


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)))))
def test_every_acknowledged_record_missing_from_a_full_read_is_reported(world: tuple[int, set[int]]) -> None:
    size, missing = world
    builder = JournalBuilder()
    for n in range(size):
        builder.send(f"p-{n}", n)
    history = builder.final(*((n, f"p-{n}") for n in range(size) if n not in missing)).history()
    highest = max(set(range(size)) - missing, default=-1)
    assert unseen(history).evidence.get("wrong", 0) == len(missing)
    assert lost_write(history).evidence.get("wrong", 0) == sum(n < highest for n in missing)


# consumed, then vanished


@pytest.mark.requirement("DV-04", "DV-06")
def test_a_record_that_a_consumer_saw_and_the_final_read_does_not_find_has_vanished() -> None:
    builder = JournalBuilder().send("p-0", 0, acks="1").poll((0, "p-0")).final()
    finding = consumed_then_vanished(builder.history())
    assert finding.verdict is Verdict.VIOLATION
    assert finding.counterexample is not None
    assert finding.counterexample.rows[0][-1] == "absent"


def test_a_record_replaced_by_another_has_vanished() -> None:
    assert verdict(consumed_then_vanished, JournalBuilder().poll((0, "p-0")).final((0, "q-0"))) is Verdict.VIOLATION


@pytest.mark.requirement("DV-10")
def test_a_record_that_was_read_and_is_below_the_start_vanished_unless_the_plan_had_it_deleted() -> None:
    history = JournalBuilder().poll((0, "p-0")).final((1, "p-1"), start=1).history()
    assert consumed_then_vanished(history).verdict is Verdict.VIOLATION
    assert consumed_then_vanished(replace(history, deleted_before={("t", 0): 1})).verdict is Verdict.PASS


# inconsistent offsets


def test_two_values_read_at_one_offset_are_inconsistent() -> None:
    assert (
        verdict(inconsistent_offsets, JournalBuilder().poll((0, "a")).poll((0, "b"), process="d")) is Verdict.VIOLATION
    )


def test_a_value_acknowledged_and_another_read_at_its_offset_are_inconsistent() -> None:
    assert verdict(inconsistent_offsets, JournalBuilder().send("a", 0).poll((0, "b"))) is Verdict.VIOLATION


def test_the_offset_of_a_truncated_acks_1_record_may_be_used_again() -> None:
    assert verdict(inconsistent_offsets, JournalBuilder().send("a", 0, acks="1").poll((0, "b"))) is Verdict.PASS


def test_the_same_offset_of_two_partitions_is_two_places() -> None:
    assert verdict(inconsistent_offsets, JournalBuilder().poll((0, "a")).poll((0, "b"), partition=1)) is Verdict.PASS


# duplicate


def test_an_idempotent_record_at_two_offsets_is_a_duplicate() -> None:
    assert verdict(duplicate, JournalBuilder().send("a", 0).poll((0, "a"), (1, "a"))) is Verdict.VIOLATION


def test_a_duplicate_of_a_producer_without_idempotence_is_counted() -> None:
    finding = duplicate(JournalBuilder().send("a", 0, idempotent=False).poll((0, "a"), (1, "a")).history())
    assert finding.verdict is Verdict.PASS
    assert finding.evidence["allowed_duplicates"] == 1


def test_what_a_producer_sends_again_after_giving_a_record_up_is_counted() -> None:
    builder = JournalBuilder().send("a", 0).send("b", outcome="info").send("c", 1).poll((0, "a"), (1, "c"), (2, "c"))
    finding = duplicate(builder.history())
    assert finding.verdict is Verdict.PASS
    assert finding.evidence == {"judged": 1, "allowed_duplicates": 1}


def test_what_ended_before_a_producer_gave_a_record_up_is_judged() -> None:
    builder = JournalBuilder().send("a", 0).send("b", outcome="info").poll((0, "a"), (1, "a"))
    assert verdict(duplicate, builder) is Verdict.VIOLATION


@pytest.mark.parametrize(
    ("second", "found"), [((7, 0), Verdict.VIOLATION), ((7, 1), Verdict.PASS), ((8, 0), Verdict.PASS)]
)
@pytest.mark.parametrize("given_up", [False, True])
def test_what_a_client_sends_again_under_another_epoch_is_counted(
    second: tuple[int, int], found: Verdict, given_up: bool
) -> None:
    builder = JournalBuilder().send("b", outcome="info") if given_up else JournalBuilder()
    sessions = {0: (7, 0), 1: second}
    history = builder.send("a", 1).poll((0, "a"), (1, "a")).history()
    finding = duplicate(replace(history, session=lambda at, offset, value: sessions[offset]))
    assert finding.verdict is found
    assert finding.evidence["allowed_duplicates"] == (found is Verdict.PASS)


def test_reading_a_record_twice_makes_no_duplicate() -> None:
    assert verdict(duplicate, JournalBuilder().send("a", 0).poll((0, "a")).poll((0, "a"), process="d")) is Verdict.PASS


# aborted read


def test_a_refused_record_that_is_read_is_an_aborted_read() -> None:
    builder = JournalBuilder().send("a", outcome="fail", error="NOT_ENOUGH_REPLICAS").poll((0, "a"))
    finding = aborted_read(builder.history())
    assert finding.verdict is Verdict.VIOLATION
    assert finding.counterexample is not None
    assert "NOT_ENOUGH_REPLICAS" in finding.counterexample.rows[0]


@pytest.mark.parametrize("outcome", ["info", None])
@pytest.mark.requirement("DV-07")
def test_a_record_of_unknown_outcome_may_be_read(outcome: str | None) -> None:
    assert verdict(aborted_read, JournalBuilder().send("a", outcome=outcome).poll((0, "a"))) is Verdict.PASS


# order of polls


@pytest.mark.parametrize(
    "builder",
    [
        JournalBuilder().poll((0, "a"), (1, "b")).poll((1, "b")),
        JournalBuilder().poll((1, "b"), (0, "a")),
        JournalBuilder().poll((0, "a"), (0, "a")),
    ],
)
def test_a_consumer_that_goes_back_is_seen_between_polls_and_inside_one(builder: JournalBuilder) -> None:
    assert verdict(nonmonotonic_poll, builder) is Verdict.VIOLATION


@pytest.mark.parametrize(
    "builder",
    [
        JournalBuilder().poll((1, "b")).poll((0, "a"), process="d"),
        JournalBuilder().poll((1, "b")).poll((0, "a"), partition=1),
        JournalBuilder().poll((1, "b")).poll((0, "a"), reset=True),
    ],
)
def test_another_consumer_another_partition_or_a_reset_may_start_lower(builder: JournalBuilder) -> None:
    assert verdict(nonmonotonic_poll, builder) is Verdict.PASS


def test_going_back_inside_a_poll_is_judged_after_a_reset_too() -> None:
    assert verdict(nonmonotonic_poll, JournalBuilder().poll((1, "b"), (0, "a"), reset=True)) is Verdict.VIOLATION


@pytest.mark.parametrize(
    "builder",
    [
        JournalBuilder().send("b", 1).poll((0, "a"), (2, "c")),
        JournalBuilder().send("b", 1).poll((0, "a")).poll((2, "c")),
        JournalBuilder().poll((0, "a"), (1, "b"), (2, "c")).poll((0, "a"), (2, "c"), process="d"),
    ],
)
def test_jumping_over_a_record_known_to_be_there_is_a_skip(builder: JournalBuilder) -> None:
    assert verdict(poll_skip, builder) is Verdict.VIOLATION


@pytest.mark.parametrize(
    "builder",
    [
        JournalBuilder().poll((0, "a"), (2, "c")),
        JournalBuilder().send("b", 1, acks="1").poll((0, "a"), (2, "c")),
        JournalBuilder().send("b", 1).poll((0, "a")).poll((2, "c"), reset=True),
    ],
)
def test_a_hole_where_no_record_is_known_or_a_reset_is_no_skip(builder: JournalBuilder) -> None:
    assert verdict(poll_skip, builder) is Verdict.PASS


# order of sends


def test_an_idempotent_producer_whose_offsets_go_back_is_seen() -> None:
    assert verdict(nonmonotonic_send, JournalBuilder().send("a", 1).send("b", 0)) is Verdict.VIOLATION


@pytest.mark.parametrize(
    "builder",
    [
        JournalBuilder().send("a", 1).send("b", 0, process="q"),
        JournalBuilder().send("a", 1).send("b", 0, partition=1),
        JournalBuilder().send("a", 1, idempotent=False).send("b", 0, idempotent=False),
        JournalBuilder().send("a", 1, acks="1", idempotent=False).send("b", 0, acks="1", idempotent=False),
    ],
)
def test_other_producers_partitions_and_retries_without_idempotence_are_not_compared(builder: JournalBuilder) -> None:
    assert verdict(nonmonotonic_send, builder) is Verdict.PASS


# the history itself


def test_a_send_without_an_answer_has_an_unknown_outcome() -> None:
    history = JournalBuilder().send("a", outcome=None).history()
    assert [send.outcome for send in history.sends] == [SendOutcome.INFO]


def test_only_acknowledgements_by_all_are_promises() -> None:
    builder = (
        JournalBuilder().send("a", 0).send("b", 1, acks="1").send("c", 2, outcome="info").send("d", outcome="fail")
    )
    assert [promise.value for promise in builder.history().promises] == ["a"]


def test_of_several_final_reads_the_last_counts() -> None:
    history = JournalBuilder().final((0, "a"), (1, "b")).final((0, "a")).history()
    assert history.final["t", 0].values == {0: "a"}


# records and histories with parts missing


def test_an_acknowledgement_without_an_offset_is_a_promise_at_no_place() -> None:
    history = JournalBuilder().send("a").send("b", 0).history()
    assert [promise.offset for promise in history.promises] == [-1, 0]
    assert inconsistent_offsets(history).evidence["judged"] == 0  # an offset that was seen once is compared with none
    assert inconsistent_offsets(JournalBuilder().send("b", 0).poll((0, "b")).history()).evidence["judged"] == 1
    assert read_committed(history)["t", 0].values == {0: ("b",)}
    assert read_committed(JournalBuilder().send("a").history()) == {}


def test_an_answer_to_a_send_that_the_journal_lost_is_passed_over() -> None:
    lost = {"process": "p", "f": "send", "partition": 0, "offset": 7}
    assert JournalBuilder().event("op", "send-9", "ok", lost).history().sends == ()


def test_a_final_read_of_one_partition_has_no_records_of_others() -> None:
    final = {"process": "final", "f": "final"}
    builder = JournalBuilder().event("op", "final-0", "invoke", final).poll((0, "a"), partition=1, final=True)
    builder.poll((0, "b"), final=True).event("op", "final-0", "ok", {**final, "partitions": [["t", 0, 0, 1]]})
    assert builder.history().final == {("t", 0): FinalRead(0, 1, {0: "b"})}


def test_the_record_before_a_loss_is_the_one_with_the_highest_offset() -> None:
    builder = JournalBuilder().send("p-1", 1).send("p-0", 0).send("p-2", 2).final((0, "p-0"), (1, "p-1"), (3, "x"))
    table = lost_write(builder.history()).counterexample
    assert table is not None
    assert [row[2] for row in table.context] == ["p-1"]
