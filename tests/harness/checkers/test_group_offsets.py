"""The checkers of consumer groups against the smallest bad history, and good ones next to it."""

import pytest

from fencepost.harness.checkers.group_offsets import commit_of_former_member, group_offsets
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder


def member() -> JournalBuilder:
    return JournalBuilder().assigned("m", 0).commit("m", 10).commit("m", 20)


@pytest.mark.requirement("GRP-01")
@pytest.mark.parametrize("found", [10, None, 15, 30])
def test_a_committed_offset_that_went_back_or_vanished_or_was_never_committed_is_a_violation(found: int | None) -> None:
    finding = group_offsets(member().committed(found).history())
    assert finding.verdict is Verdict.VIOLATION
    assert finding.requirement == "GRP-01"
    assert finding.counterexample is not None
    assert finding.counterexample.rows[0][2] == 20


def test_the_last_acknowledged_commit_is_right() -> None:
    finding = group_offsets(member().committed(20).history())
    assert finding.verdict is Verdict.PASS
    assert finding.evidence == {"judged": 1, "commits": 2}


@pytest.mark.parametrize("answer", ["info", None])
@pytest.mark.parametrize("found", [20, 30])
def test_a_commit_of_unknown_outcome_may_have_happened(answer: str | None, found: int) -> None:
    assert group_offsets(member().commit("m", 30, answer=answer).committed(found).history()).verdict is Verdict.PASS


def test_no_offset_is_right_for_a_group_without_an_acknowledged_commit() -> None:
    builder = JournalBuilder().assigned("m", 0).commit("m", 10, answer="info")
    assert group_offsets(builder.committed(None).history()).verdict is Verdict.PASS


def test_a_commit_that_came_later_than_one_of_unknown_outcome_may_be_followed_by_it() -> None:
    """A request that is held up may be processed after one that was sent later."""
    builder = JournalBuilder().assigned("m", 0).commit("m", 10, answer="info").commit("m", 20)
    assert group_offsets(builder.committed(10).history()).verdict is Verdict.PASS


def test_a_member_that_finds_no_offset_after_an_acknowledged_commit_is_a_violation() -> None:
    finding = group_offsets(member().assigned("n", 0).starts_over("n").history())
    assert finding.verdict is Verdict.VIOLATION
    assert finding.counterexample is not None
    assert finding.counterexample.rows[0][6] == "n"


def test_a_member_that_finds_no_offset_before_the_first_commit_is_right() -> None:
    builder = JournalBuilder().assigned("m", 0).starts_over("m").commit("m", 10)
    finding = group_offsets(builder.committed(10).history())
    assert finding.verdict is Verdict.PASS
    assert finding.evidence["judged"] == 1  # it could not have found one


def test_a_member_whose_offset_the_log_does_not_have_is_no_matter_of_the_group() -> None:
    builder = member().assigned("n", 0).starts_over("n", reason="out-of-range")
    assert group_offsets(builder.history()).verdict is Verdict.PASS


@pytest.mark.requirement("GRP-02")
def test_a_commit_of_a_member_that_lost_the_partition_is_a_violation() -> None:
    finding = commit_of_former_member(member().assigned("n", 0).commit("m", 30).history())
    assert finding.verdict is Verdict.VIOLATION
    assert finding.requirement == "GRP-02"


@pytest.mark.parametrize("answer", ["info", None])
def test_a_refused_commit_of_a_member_that_lost_the_partition_is_right(answer: str | None) -> None:
    history = member().assigned("n", 0).commit("m", 30, answer=answer).history()
    assert commit_of_former_member(history).verdict is Verdict.PASS


def test_an_asynchronous_commit_may_have_been_sent_by_the_member_that_joined_again() -> None:
    history = member().assigned("n", 0).commit("m", 30, sync=False).history()
    assert commit_of_former_member(history).verdict is Verdict.PASS


def test_a_member_that_got_the_partition_back_commits_it_again() -> None:
    history = member().assigned("n", 0).assigned("m", 0).commit("m", 30).history()
    assert commit_of_former_member(history).verdict is Verdict.PASS
    assert commit_of_former_member(history).evidence["judged"] == 3
