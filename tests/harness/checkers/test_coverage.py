from typing import Any

import pytest

from fencepost.harness.checkers.coverage import check_coverage, matches
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan


def cut_and_burst() -> JournalBuilder:
    return (
        JournalBuilder()
        .send("p-0", 0)
        .event("step", "cut", "begin")
        .event("fault", "cut", "proven")
        .send("p-1", 1)
        .send("b-0", 2, acks="1", process="burst", idempotent=False)
        .send("p-2", outcome="info")
        .event("fault", "cut", "healed")
        .event("step", "cut", "end", {"outcome": "done"})
        .send("p-3", 3)
        .event("fault", "full", "healed", {"measured": {"hits": {"write": 3, "create": 2}}})
        .event("fault", "slow", "healed", {"measured": {"hits": {}}})
        .event("op", "probe-1", "fail", {"f": "probe", "step": "ask", "outcome": "refused", "error": 77})
    )


@pytest.mark.parametrize(
    ("statement", "count", "met"),
    [
        ({"that": "proven", "fault": "cut"}, 1, True),
        ({"that": "proven", "fault": "kill"}, 0, False),
        ({"that": "met", "fault": "full"}, 5, True),
        ({"that": "met", "fault": "slow"}, 0, False),
        ({"that": "met", "fault": "cut"}, 0, False),
        ({"that": "acknowledged", "at_least": 4}, 4, True),
        ({"that": "acknowledged", "acks": 1}, 1, True),
        ({"that": "acknowledged", "acks": "all", "at_least": 4}, 3, False),
        ({"that": "acknowledged", "by": "burst"}, 1, True),
        ({"that": "acknowledged", "by": "p", "after": "cut.proven", "before": "cut.healed"}, 1, True),
        ({"that": "acknowledged", "after": "other.proven"}, 0, False),
        ({"that": "acknowledged", "before": "other.proven"}, 0, False),
        ({"that": "attempted", "after": "cut.begun", "before": "cut.ended", "at_least": 3}, 3, True),
        ({"that": "outcome", "step": "ask", "outcome": "error:[74,77]"}, 1, True),
        ({"that": "outcome", "step": "ask", "outcome": "served"}, 0, False),
        ({"that": "done", "step": "cut"}, 1, True),
        ({"that": "done", "step": "ask"}, 0, False),
    ],
)
def test_coverage_counts_what_the_plan_asks_for(statement: dict[str, Any], count: int, met: bool) -> None:
    builder = cut_and_burst()
    [finding] = check_coverage(plan(coverage=[statement]), builder.journal(), builder.history())
    assert finding.evidence["judged"] == count
    assert finding.verdict is (Verdict.PASS if met else Verdict.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("outcome", "answer", "same"),
    [
        ("served", {"outcome": "served", "error": 0}, True),
        ("refused", {"outcome": "refused", "error": 74}, True),
        ("error:74", {"outcome": "refused", "error": 74}, True),
        ("error:[74, 75]", {"outcome": "refused", "error": 75}, True),
        ("error:7", {"outcome": "refused", "error": 74}, False),
        ("error:-1", {"outcome": "refused", "error": -1}, True),
        ("unanswered", {"outcome": "refused", "error": None}, False),
    ],
)
def test_an_outcome_is_matched_by_its_name_or_its_error(outcome: str, answer: dict[str, Any], same: bool) -> None:
    assert matches(outcome, answer) is same
