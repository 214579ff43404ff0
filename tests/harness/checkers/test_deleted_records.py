"""Records that the plan had deleted are not lost; a start of a log that moved by itself excuses nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fencepost.harness.checkers.deleted_records import deleted_before
from fencepost.harness.checkers.history import History
from fencepost.harness.checkers.lost_write import lost_write
from fencepost.harness.checkers.unseen import unseen
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

RETENTION = {"topics": [{"name": "t", "assignments": [[4, 5]], "config": {"retention.ms": "1000"}}]}
FOR_EVER = {"topics": [{"name": "t", "assignments": [[4, 5]], "config": {"retention.ms": "-1"}}]}


def unread_before(start: int) -> JournalBuilder:
    """Four records were acknowledged, and the log begins at `start` when everything is read."""
    journal = JournalBuilder()
    for offset in range(4):
        journal.send(f"p-{offset}", offset)
    return journal.final(*[(offset, f"p-{offset}") for offset in range(start, 4)], start=start)


def asked(journal: JournalBuilder, low_watermark: int, error: int = 0) -> JournalBuilder:
    """An answer to DeleteRecords."""
    partition = {"partition_index": 0, "low_watermark": low_watermark, "error_code": error}
    body = {"api": "delete_records", "response": {"topics": [{"name": "t", "partitions": [partition]}]}}
    return journal.event("op", "deletes", "ok", {"request": "api", "body": body})


def judged(journal: JournalBuilder, **changes: Any) -> History:
    history = journal.history()
    return replace(history, deleted_before=deleted_before(plan(**changes), journal.journal(), history))


@pytest.mark.requirement("DV-10")
def test_records_below_the_start_that_the_plan_asked_for_are_not_lost() -> None:
    history = judged(asked(unread_before(2), 2))
    assert unseen(history).verdict is lost_write(history).verdict is Verdict.PASS
    assert unseen(history).evidence["judged"] == 2


@pytest.mark.requirement("DV-10")
def test_records_of_a_topic_with_retention_are_not_lost() -> None:
    history = judged(unread_before(3), **RETENTION)
    assert unseen(history).verdict is lost_write(history).verdict is Verdict.PASS


@pytest.mark.requirement("DV-10")
@pytest.mark.parametrize(
    "history",
    [
        judged(unread_before(2)),
        judged(unread_before(2), **FOR_EVER),
        judged(asked(unread_before(2), 1)),
        judged(asked(unread_before(2), 2, error=7)),
    ],
    ids=["no request", "kept for ever", "fewer were deleted", "the deletion failed"],
)
def test_records_that_the_plan_did_not_have_deleted_are_lost(history: History) -> None:
    assert unseen(history).verdict is Verdict.VIOLATION
    assert lost_write(history).verdict is Verdict.VIOLATION
