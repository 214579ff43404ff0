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


def topic(**config: str) -> dict[str, Any]:
    named = {name.replace("_", "."): value for name, value in config.items()}
    return {"topics": [{"name": "t", "assignments": [[4, 5]], "config": named}]}


def altered(name: str, value: str, *, type: int = 2, of: str = "t") -> dict[str, Any]:
    """A plan with a step that changes a setting."""
    config = {"name": name, "config_operation": 0, "value": value}
    body = {"resources": [{"resource_type": type, "resource_name": of, "configs": [config]}]}
    step = {"do": "probe", "request": "api", "node": "node-4", "api": "incremental_alter_configs", "body": body}
    return {"steps": [step]}


RETENTION, FOR_EVER, AN_HOUR = topic(retention_ms="1000"), topic(retention_ms="-1"), topic(retention_ms="3600000")


def unread_before(start: int) -> JournalBuilder:
    """Four records were acknowledged, and the log begins at `start` when everything is read."""
    journal = JournalBuilder()
    for offset in range(4):
        journal.send(f"p-{offset}", offset)
    return journal.final(*[(offset, f"p-{offset}") for offset in range(start, 4)], start=start)


def deletion(offset: int) -> dict[str, Any]:
    """A plan with a step that has records deleted."""
    body = {"topics": [{"name": "t", "partitions": [{"partition_index": 0, "offset": offset}]}]}
    step = {"do": "probe", "as": "deletes", "request": "api", "node": "node-4", "api": "delete_records", "body": body}
    return {"steps": [step]}


def own_clock() -> dict[str, Any]:
    nodes = [node.model_dump(by_alias=True) for node in plan().topology.nodes]
    return {"topology": {"nodes": [{**node, "clock": "own"} for node in nodes]}}


def asked(journal: JournalBuilder, low_watermark: int, error: int = 0) -> JournalBuilder:
    """A request DeleteRecords and its answer."""
    journal.event("op", "deletes", "invoke", {"f": "probe", "step": "deletes"})
    partition = {"partition_index": 0, "low_watermark": low_watermark, "error_code": error}
    body = {"api": "delete_records", "response": {"topics": [{"name": "t", "partitions": [partition]}]}}
    return journal.event("op", "deletes", "ok", {"request": "api", "body": body})


def judged(journal: JournalBuilder, **changes: Any) -> History:
    journal.at(60).event("step", "end", "end")
    history = journal.history()
    return replace(history, deleted_before=deleted_before(plan(**changes), journal.journal(), history))


@pytest.mark.requirement("DV-10")
def test_records_below_the_start_that_the_plan_asked_for_are_not_lost() -> None:
    history = judged(asked(unread_before(2), 2), **deletion(2))
    assert unseen(history).verdict is lost_write(history).verdict is Verdict.PASS
    assert unseen(history).evidence["judged"] == 2


@pytest.mark.requirement("DV-10")
@pytest.mark.parametrize(
    "changes",
    [
        RETENTION,
        topic(retention_bytes="1"),
        altered("retention.ms", "1000"),
        altered("log.retention.ms", "1000", type=4, of=""),
        {"settings": {"broker": {"log.retention.minutes": "0"}}},
        AN_HOUR | own_clock(),
        own_clock(),
    ],
    ids=["age", "size", "by a step", "of brokers, by a step", "of brokers", "a clock that may jump", "by default"],
)
def test_records_whose_retention_may_be_over_are_not_lost(changes: dict[str, Any]) -> None:
    history = judged(unread_before(3), **changes)
    assert unseen(history).verdict is lost_write(history).verdict is Verdict.PASS


@pytest.mark.requirement("DV-10")
def test_where_nothing_was_deleted_a_record_at_an_unknown_offset_is_missed() -> None:
    history = judged(JournalBuilder().send("p-0").final(), **RETENTION)
    assert unseen(history).verdict is Verdict.VIOLATION


@pytest.mark.requirement("DV-10")
@pytest.mark.parametrize(
    "history",
    [
        judged(unread_before(2)),
        judged(unread_before(2), **FOR_EVER),
        judged(unread_before(2), **FOR_EVER, **own_clock()),
        judged(unread_before(2), **AN_HOUR),
        judged(unread_before(2), **altered("retention.ms", "1000", of="another")),
        judged(asked(unread_before(2), 2), **deletion(1)),
        judged(asked(unread_before(2), 1)),
        judged(asked(unread_before(2), 2, error=7)),
    ],
    ids=[
        "no request",
        "kept for ever",
        "kept for ever, whatever the clock",
        "kept for longer than the run",
        "the retention of another",
        "fewer were to be deleted",
        "fewer were deleted",
        "the deletion failed",
    ],
)
def test_records_that_the_plan_did_not_have_deleted_are_lost(history: History) -> None:
    assert unseen(history).verdict is Verdict.VIOLATION
    assert lost_write(history).verdict is Verdict.VIOLATION
