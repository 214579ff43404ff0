"""Each rule of the metadata log is broken by the smallest log that breaks it, and by no log next to it."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.harness.clients.metadata.draft_records import DraftRecord
from fencepost.harness.clients.metadata.log_rules import RULES, broken_rules
from fencepost.harness.clients.metadata.whole_log import MetadataLog, PlacedRecord

Batch = list[DraftRecord]


def record(name: str, /, **fields: Any) -> DraftRecord:
    return DraftRecord(name, 1, fields)


def broker(id: int, rack: str | None = None) -> DraftRecord:
    return record("BrokerRecord", broker_id=id, rack=rack)


def gone(id: int) -> DraftRecord:
    return record("DeleteBrokerRecord", id=id)


def topic(*, deleting: bool = False) -> DraftRecord:
    return record("TopicRecord", topic_id="T", name="t", deleting=deleting)


def partition(*isr: int, epoch: int, replicas: tuple[int, ...] = (4, 5), leader: int = 4) -> DraftRecord:
    return record(
        "PartitionRecord",
        topic_id="T",
        partition_id=0,
        replicas=list(replicas),
        isr=list(isr),
        leader=leader,
        leader_epoch=epoch,
    )


def change(*isr: int, epoch: int, leader: int = 4) -> DraftRecord:
    fields = {"topic_id": "T", "partition_id": 0, "isr": list(isr), "leader": leader, "leader_epoch": epoch}
    return record("IsrChangeRecord", **fields)


def setting(value: str | None) -> DraftRecord:
    return record("ConfigRecord", resource_type=2, resource_name="t", name="retention.ms", value=value)


REMOVED = record("DeleteTopicRecord", name="T")
BEGIN: list[Batch] = [[broker(4), broker(5)], [topic(), partition(4, 5, epoch=0)]]


def of(*batches: Batch, snapshot: Batch | None = None) -> MetadataLog:
    placed, offset = [], 0
    for batch in batches:
        first = offset
        for each in batch:
            placed.append(PlacedRecord(offset, first, each))
            offset += 1
    begun = tuple(PlacedRecord(number, 0, each) for number, each in enumerate(snapshot or []))
    return MetadataLog(None if snapshot is None else 0, begun, tuple(placed))


GOOD: dict[str, MetadataLog] = {
    "a topic from its creation to its end": of(
        *BEGIN, [change(4, epoch=1)], [change(4, 5, epoch=2)], [topic(deleting=True)], [REMOVED]
    ),
    "a member whose registration ends leaves": of(*BEGIN, [change(4, epoch=1), gone(5), broker(5)]),
    "the last member stays, without a leader": of(
        *BEGIN, [change(4, epoch=1), gone(5)], [change(4, epoch=2, leader=-1), gone(4)], [broker(4)]
    ),
    "a partition without a leader keeps its epoch": of(
        *BEGIN, [change(4, epoch=1), gone(5)], [change(4, epoch=2, leader=-1), gone(4)], [broker(5)], [gone(5)]
    ),
    "two registrations end at once": of(
        *BEGIN, [change(5, epoch=1, leader=5), gone(4), change(5, epoch=2, leader=-1), gone(5)]
    ),
    "replicas in two racks": of([broker(4, "a"), broker(5, "b"), broker(6, "b")], [topic(), partition(4, 5, epoch=0)]),
    "a broker without a rack": of([broker(4), broker(5, "b"), broker(6, "b")], [topic(), partition(5, 6, epoch=0)]),
    "what a snapshot has is known": of(
        [change(4, epoch=8)],
        [REMOVED],
        snapshot=[broker(4), topic(deleting=True), setting("1"), partition(4, 5, epoch=7)],
    ),
}

BAD: list[tuple[str, int, MetadataLog]] = [
    ("fewest-records", 2, of(snapshot=[broker(4), topic(), broker(4)])),
    ("fewest-records", 1, of(snapshot=[setting("1"), setting("2")])),
    ("fewest-records", 0, of(snapshot=[setting(None)])),
    ("fewest-records", 3, of(snapshot=[topic(), partition(4, 5, epoch=0), broker(4), change(4, epoch=1)])),
    ("fewest-records", 1, of(snapshot=[broker(4), gone(4)])),
    ("entity-known", 0, of([change(4, epoch=1)])),
    ("entity-known", 4, of(*BEGIN, [record("DeleteTopicRecord", name="U")])),
    ("entity-known", 4, of(*BEGIN, [gone(6)])),
    ("leader-epoch-grows", 4, of(*BEGIN, [change(4, epoch=0)])),
    ("leader-epoch-grows", 4, of(*BEGIN, [partition(4, epoch=0)])),
    ("deletion-marked", 4, of(*BEGIN, [REMOVED])),
    ("deletion-marked", 5, of(*BEGIN, [topic(deleting=True), REMOVED])),
    ("left-every-isr", 5, of(*BEGIN, [change(4, 5, epoch=1), gone(5)])),
    ("epoch-after-registration", 5, of(*BEGIN, [change(4, epoch=1)], [gone(5)])),
    ("epoch-after-registration", 6, of(*BEGIN, [change(4, epoch=1), gone(5), gone(4)])),
    (
        "spread-over-racks",
        4,
        of([broker(4, "a"), broker(5, "b"), broker(6, "b")], [topic(), partition(5, 6, epoch=0, replicas=(5, 6))]),
    ),
]


@pytest.mark.parametrize("log", GOOD.values(), ids=GOOD.keys())
def test_a_log_that_keeps_the_rules_breaks_none(log: MetadataLog) -> None:
    assert broken_rules(log) == []


@pytest.mark.parametrize(("rule", "offset", "log"), BAD)
def test_a_record_that_breaks_a_rule_is_named(rule: str, offset: int, log: MetadataLog) -> None:
    assert (rule, offset) in {(each.rule, each.offset) for each in broken_rules(log)}


def test_every_rule_has_a_log_that_breaks_it() -> None:
    assert {rule for rule, _, _ in BAD} == set(RULES)
