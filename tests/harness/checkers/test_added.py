"""Checkers of other packages judge beside the shipped ones, and cannot stop them."""

import pytest

from fencepost.harness.checkers.added import added_checkers
from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.history import History
from fencepost.harness.checkers.loss import one_loss
from fencepost.harness.checkers.replica_logs import NO_REPLICAS
from fencepost.harness.extensions import ExtensionError
from fencepost.results.records.verdict import Basis, Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder

HERE = "tests.harness.checkers.test_added"


def few_sends(history: History) -> Finding:
    return Check("few-sends", "Many records", "ACME-01", Basis.PRESENCE).held(len(history.sends), "Few records.")


def fails(history: History) -> Finding:
    raise RuntimeError("a defect of the checker")


def returns_none(history: History) -> None:
    return None


SEVERAL = (few_sends, fails, returns_none)
NUMBER = 7


def test_one_checker_or_several_are_added_and_a_failure_of_one_is_infrastructure() -> None:
    history = JournalBuilder().send("a", 0).history()
    added = added_checkers([f"{HERE}:few_sends", f"{HERE}:SEVERAL"], [])
    one, first, failed, empty = [checker(history) for checker in added]
    assert one == first == few_sends(history)
    assert {failed.verdict, empty.verdict} == {Verdict.INFRASTRUCTURE}
    assert "a defect of the checker" in failed.message
    assert "returned None" in empty.message


def test_only_a_function_is_a_checker() -> None:
    with pytest.raises(ExtensionError, match="is 7: a function from a history to a finding is needed"):
        added_checkers([f"{HERE}:NUMBER"], [])


@pytest.mark.parametrize("name", ["unseen", "one-content"])
def test_a_checker_with_the_name_of_a_shipped_one_and_no_extent_is_no_part_of_a_loss(name: str) -> None:
    foreign = Check(name, "Something else", "ACME-01", Basis.PRESENCE).broken(1, "Wrong.", ("what",), [("it",)], at=1.0)
    history = JournalBuilder().send("a", 0).send("b", 1).final((1, "b")).history()
    lost = Check("lost-write", "Lost", "ACK-01", Basis.ABSENCE)
    shipped = lost.broken(1, "Lost.", ("what",), [("a",)], at=1.0, extent={"t-0": [[0, 0]]})
    assert foreign in one_loss([foreign, shipped], history, NO_REPLICAS, ())
