"""On a cluster that clients use of which the plan knows nothing, what they may have done is held against no target."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.harness.conformance.live_plan import live_plan
from fencepost.harness.judge import judge
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan


def begun() -> JournalBuilder:
    return JournalBuilder().event("run", "r", "begin").send("p-0", 0).send("p-1", 1)


def decided(builder: JournalBuilder, **more: Any) -> JournalBuilder:
    data = {"what": "partition", "topic": "t", "partition": 0, "leader": 4, "leader_epoch": 0, "isr": [4]}
    return builder.event("state", "log", "seen", data | more)


RECORDS = ((0, "p-0"), (1, "p-1"))
OF_OTHERS = {
    "sent": begun().poll(*RECORDS, (2, "hello")).final(*RECORDS, (2, "hello")),
    "moved": decided(begun().final(*RECORDS), replicas=[4, 6]),
    "grown": decided(decided(begun().final(*RECORDS)), partition=1),
    "records deleted": begun().poll(*RECORDS).final((1, "p-1"), start=1),
}


@pytest.mark.parametrize("builder", OF_OTHERS.values(), ids=list(OF_OTHERS))
def test_what_others_may_have_done_is_no_violation(builder: JournalBuilder) -> None:
    journal = builder.event("run", "r", "end").journal()
    assert judge(plan(), journal).verdict is Verdict.VIOLATION
    assert judge(plan(shared=True), journal).verdict is not Verdict.VIOLATION


def test_the_cluster_of_a_test_is_shared() -> None:
    assert live_plan("quorum").shared
