"""The lane of acknowledged records says what is left at the end, whatever was read before."""

from fencepost.harness.report.partition_lanes import partition_groups
from fencepost.harness.report.shapes import Curves
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan


def labels(builder: JournalBuilder, *findings: Finding) -> list[str]:
    [group] = partition_groups(plan(), builder.history(), builder.t, findings)
    return [curve.label for lane in group.lanes if isinstance(lane, Curves) for curve in lane.curves]


def sent() -> JournalBuilder:
    return JournalBuilder().send("a", 0).send("b", 1).send("c", 2).poll((0, "a"), (1, "b"))


def test_a_record_that_a_consumer_saw_and_the_final_read_lacks_is_not_there_at_the_end() -> None:
    assert labels(sent().final((0, "a"))) == ["3 acknowledged", "1 there at the end"]


def test_all_that_the_final_read_found_is_there() -> None:
    assert labels(sent().final((0, "a"), (1, "b"), (2, "c"))) == ["3 acknowledged, all there at the end"]


def test_without_a_final_read_nothing_is_said_of_the_end() -> None:
    assert labels(sent()) == ["3 acknowledged"]


def test_where_the_final_read_did_not_come_to_the_end_the_loss_that_was_found_counts() -> None:
    loss = Finding(Verdict.VIOLATION, "lost-write", "", "", evidence={"loss": {"extent": {"t-0": [[1, 2]]}}})
    assert labels(sent(), loss) == ["3 acknowledged", "1 not found lost"]
    elsewhere = Finding(Verdict.VIOLATION, "lost-write", "", "", evidence={"loss": {"extent": {"u-0": [[1, 2]]}}})
    assert labels(sent(), elsewhere) == ["3 acknowledged"]
