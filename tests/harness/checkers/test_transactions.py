"""Each checker of transactions against the smallest bad history, and good ones next to it."""

import pytest

from fencepost.harness.checkers.consumer_order import poll_skip
from fencepost.harness.checkers.group_offsets import group_offsets
from fencepost.harness.checkers.recorded_run import RecordedRun
from fencepost.harness.checkers.transactions import (
    aborted_transaction,
    fenced_producer,
    last_stable_offset,
    transaction_atomic,
)
from fencepost.harness.checkers.unseen import unseen
from fencepost.harness.checkers.vanished import consumed_then_vanished
from fencepost.harness.plan.dialect import Dialect
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan


def two_records(answer: str | None = "ok") -> JournalBuilder:
    """A transaction of two records, whose commit gets this answer."""
    builder = JournalBuilder().session().send("p-0", 0, transaction="tx-0").send("p-1", 1, transaction="tx-0")
    return builder.ends("tx-0", answer=answer)


def test_a_run_without_transactions_or_groups_is_not_judged_by_their_checkers() -> None:
    plain, transactional = JournalBuilder().send("p-0", 0), two_records()
    for builder, judged in ((plain, False), (transactional, True)):
        run = RecordedRun(plan(), builder.journal(), None, Dialect.KIP_631)
        assert bool(run.judged_by(transaction_atomic)) is judged
        assert not run.judged_by(group_offsets)


@pytest.mark.requirement("TXN-01")
@pytest.mark.parametrize("answer", ["ok", "info", None])
def test_a_transaction_that_is_there_in_part_is_a_violation(answer: str | None) -> None:
    finding = transaction_atomic(two_records(answer).final((0, "p-0"), end=3).history())
    assert finding.verdict is Verdict.VIOLATION
    assert finding.requirement == "TXN-01"
    assert finding.counterexample is not None
    assert finding.counterexample.rows[0][-1] == "p-1"


@pytest.mark.parametrize("records", [[], [(0, "p-0"), (1, "p-1")]])
def test_a_transaction_of_unknown_outcome_is_there_whole_or_not_at_all(records: list[tuple[int, str]]) -> None:
    builder = two_records("info").final(*records, end=3)
    assert transaction_atomic(builder.history()).evidence["judged"] == 0  # without a commit nothing may have happened
    finding = transaction_atomic(builder.ends("tx-9").history())
    assert finding.verdict is Verdict.PASS
    assert finding.evidence["judged"] == 1


def test_a_transaction_whose_partition_was_not_read_to_its_end_is_not_judged() -> None:
    assert transaction_atomic(two_records().poll((0, "p-0")).history()).evidence["judged"] == 0


def test_a_committed_transaction_that_is_gone_is_a_loss() -> None:
    history = two_records().final(end=3).history()
    assert unseen(history).verdict is Verdict.VIOLATION
    assert transaction_atomic(history).verdict is Verdict.PASS


@pytest.mark.parametrize("answer", ["info", None])
def test_a_transaction_without_an_acknowledged_commit_is_no_promise(answer: str | None) -> None:
    history = two_records(answer).final(end=3).history()
    assert unseen(history).verdict is Verdict.PASS
    assert not history.promises


@pytest.mark.requirement("TXN-02")
def test_a_record_of_an_aborted_transaction_that_was_read_is_a_violation() -> None:
    builder = JournalBuilder().session().send("p-0", 0, transaction="tx-0").ends("tx-0", "abort")
    finding = aborted_transaction(builder.poll((0, "p-0")).history())
    assert finding.verdict is Verdict.VIOLATION
    assert finding.requirement == "TXN-02"


@pytest.mark.parametrize("answer", ["info", None])
def test_a_transaction_whose_commit_was_never_asked_for_is_aborted_however_its_abort_was_answered(
    answer: str | None,
) -> None:
    builder = JournalBuilder().session().send("p-0", 0, transaction="tx-0").ends("tx-0", "abort", answer=answer)
    assert aborted_transaction(builder.final((0, "p-0")).history()).verdict is Verdict.VIOLATION


@pytest.mark.parametrize("answer", ["info", None])
def test_a_transaction_of_unknown_outcome_may_be_read(answer: str | None) -> None:
    assert aborted_transaction(two_records(answer).poll((0, "p-0"), (1, "p-1")).history()).verdict is Verdict.PASS


def test_a_consumer_at_read_uncommitted_may_read_aborted_records_and_they_may_vanish() -> None:
    builder = JournalBuilder().session().send("p-0", 0, transaction="tx-0").ends("tx-0", "abort")
    history = builder.poll((0, "p-0"), uncommitted=True).final(end=2).history()
    assert aborted_transaction(history).verdict is Verdict.PASS
    assert aborted_transaction(history).evidence["judged"] == 1
    assert consumed_then_vanished(history).verdict is Verdict.PASS


def test_a_committed_record_that_only_a_consumer_at_read_uncommitted_got_must_not_vanish() -> None:
    history = two_records().poll((0, "p-0"), (1, "p-1"), uncommitted=True).final(end=3).history()
    assert consumed_then_vanished(history).verdict is Verdict.VIOLATION


def test_a_consumer_may_pass_over_aborted_records_but_not_over_committed_ones() -> None:
    def passed_over(action: str) -> Verdict:
        builder = JournalBuilder().session().send("q-0", 0, process="q").send("p-0", 1, transaction="tx-0")
        builder.ends("tx-0", action).send("q-1", 3, process="q")
        builder.poll((0, "q-0"), (1, "p-0"), (3, "q-1"), process="u", uncommitted=True)
        return poll_skip(builder.poll((0, "q-0"), (3, "q-1")).history()).verdict

    assert passed_over("abort") is Verdict.PASS
    assert passed_over("commit") is Verdict.VIOLATION


@pytest.mark.requirement("TXN-03")
def test_a_last_stable_offset_below_the_end_is_a_violation_once_no_transaction_can_be_open() -> None:
    def ended(t: float) -> Verdict:
        builder = JournalBuilder().session().send("p-0", 0, transaction="tx-0")
        builder.event("op", "f", "invoke", {"process": "final", "f": "final"}).at(t)
        unstable = {"process": "final", "f": "final", "partitions": [], "unstable": [["t", 0, 0, 1]]}
        return last_stable_offset(builder.event("op", "f", "info", unstable).history()).verdict

    assert ended(5.0) is Verdict.INCONCLUSIVE
    assert ended(30.0) is Verdict.VIOLATION


def test_a_last_stable_offset_at_the_end_is_right() -> None:
    finding = last_stable_offset(two_records().final((0, "p-0"), (1, "p-1"), end=3).history())
    assert finding.verdict is Verdict.PASS
    assert finding.evidence["judged"] == 1


def zombie() -> JournalBuilder:
    """A producer sends; then a second one of its id begins a session."""
    builder = JournalBuilder().session().send("p-0", 0, transaction="p-tx-0")
    return builder.session("q").send("q-0", 2, process="q", transaction="q-tx-0")


@pytest.mark.requirement("TXN-04")
def test_a_record_or_commit_of_a_fenced_producer_that_is_acknowledged_is_a_violation() -> None:
    finding = fenced_producer(zombie().send("p-1", 3, transaction="p-tx-0").history())
    assert finding.verdict is Verdict.VIOLATION
    assert finding.requirement == "TXN-04"
    assert fenced_producer(zombie().ends("p-tx-0").history()).verdict is Verdict.VIOLATION


def test_a_fenced_producer_that_is_refused_is_right() -> None:
    builder = zombie().send("p-1", outcome="info", transaction="p-tx-0").ends("p-tx-0", answer="info")
    finding = fenced_producer(builder.history())
    assert finding.verdict is Verdict.PASS
    assert finding.evidence["judged"] == 2


def test_what_a_producer_sent_before_it_was_fenced_or_in_a_later_session_is_right() -> None:
    assert fenced_producer(zombie().session().send("p-1", 3, transaction="p-tx-1").history()).verdict is Verdict.PASS


def test_a_session_of_a_second_producer_that_was_not_acknowledged_may_not_have_fenced_anything() -> None:
    builder = JournalBuilder().session().session("q", acknowledged=False).send("p-0", 0, transaction="p-tx-0")
    assert fenced_producer(builder.history()).verdict is Verdict.PASS


def test_a_second_producer_with_another_id_fences_nothing() -> None:
    builder = JournalBuilder().session().session("q", "y").send("p-0", 0, transaction="p-tx-0").ends("p-tx-0")
    assert fenced_producer(builder.history()).verdict is Verdict.PASS


def test_a_transaction_whose_commit_was_asked_for_after_its_producer_was_fenced_is_aborted() -> None:
    builder = zombie().ends("p-tx-0", answer="info")
    assert aborted_transaction(builder.poll((0, "p-0")).history()).verdict is Verdict.VIOLATION
