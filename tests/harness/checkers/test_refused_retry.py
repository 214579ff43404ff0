"""A producer that is ended over a record that the log has was refused a batch that the leader had to recognize."""

from __future__ import annotations

import pytest

from fencepost.harness.checkers.refused_retry import refused_retries
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder

DESYNCHRONIZED = "ProduceRequest for t [0] with 1 message(s) failed due to sequence desynchronization with broker 6"


def run(*, second: str = "p-1", error: str = "OUT_OF_ORDER_SEQUENCE_NUMBER", fault: str = "kill") -> JournalBuilder:
    """One record is acknowledged, one gets no answer, and the producer is ended; the final read finds `second`."""
    builder = JournalBuilder().event("fault", "f", "intent", {"fault": fault, "nodes": ["node-4"]})
    builder.send("p-0", 0, idempotent=True).send("p-1", None, idempotent=True, outcome="info")
    ended = {"what": "client-ended", "client": "p", "error": error, "message": DESYNCHRONIZED}
    return builder.event("note", "p", "seen", ended).final((0, "p-0"), (1, second))


def judged(builder: JournalBuilder) -> list[Finding]:
    return refused_retries(builder.journal(), builder.history())


@pytest.mark.requirement("CRD-06")
def test_a_refused_batch_that_is_in_the_log_broke_the_rule() -> None:
    [finding] = judged(run())
    assert (finding.verdict, finding.requirement) == (Verdict.VIOLATION, "CRD-06")
    assert finding.evidence["client"] == "p"
    assert finding.counterexample is not None
    assert finding.counterexample.rows[0][:3] == ("t-0", 1, "p-1")


def test_a_batch_that_is_not_in_the_log_may_be_refused() -> None:
    assert judged(run(second="q-0")) == []


def test_no_other_error_is_judged_and_none_after_a_fault_that_took_records_away() -> None:
    assert judged(run(error="INVALID_PRODUCER_EPOCH")) == []
    assert judged(run(fault="emptied")) == []
