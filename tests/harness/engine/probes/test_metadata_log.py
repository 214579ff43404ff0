"""The metadata log is read from the active controller, and compared by path with what the plan claims of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from kio.schema.errors import ErrorCode

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.batches import build
from fencepost.cluster_impl.wire.records import encode_record
from fencepost.harness.engine.errors import StepError
from fencepost.harness.engine.probes.asked import AskedRun
from fencepost.harness.plan.answers import ProbeOutcome
from fencepost.harness.plan.requests.metadata_log import MetadataLogProbe
from tests.harness.clients.metadata.leader import LogLeader
from tests.harness.engine.still_context import IN_ZOOKEEPER, healthy, in_zookeeper, still_context

T = UUID(int=7)


def batch(offset: int, *records: Any, key: bytes | None = None) -> bytes:
    return build([(key, encode_record(each), 0) for each in records], base_offset=offset, leader_epoch=3)


def partition(epoch: int) -> m.PartitionRecord:
    return m.PartitionRecord(partition_id=0, topic_id=T, replicas=[4, 5], isr=[4, 5], leader=4, leader_epoch=epoch)


TOPIC = m.TopicRecord(name="t", topic_id=T)
CREATED = batch(0, TOPIC, partition(0))


@pytest.fixture
def run(tmp_path: Path) -> AskedRun:
    return AskedRun(still_context(tmp_path, healthy()), "node-2")


def probe(**more: Any) -> MetadataLogProbe:
    return MetadataLogProbe(node="active-controller", **more)


def test_the_records_with_the_named_values_are_claimed_by_path(run: AskedRun) -> None:
    connection = LogLeader(CREATED, committed=2).connection()
    found = probe(where={"record": "TopicRecord", "name": "t"}, binds={"id": "log[0].topic_id"})
    assert found.exchange(connection, run).outcome is ProbeOutcome.SERVED
    assert run.bound["id"] == str(T)
    of_topic = {"record": "PartitionRecord", "topic_id": "$id"}
    right = probe(where=of_topic, answer={"log[].leader": [4], "log[0].replicas": [4, 5], "log[1]": None})
    assert right.exchange(connection, run).outcome is ProbeOutcome.SERVED
    wrong = probe(where=of_topic, answer={"log[0].isr": [4]}).exchange(connection, run)
    assert wrong.outcome is ProbeOutcome.DIFFERENT
    assert wrong.body["answered"] == {"log[0].isr": [4, 5]}


def test_a_record_that_lacks_a_named_field_is_not_one_in_which_it_is_null(run: AskedRun) -> None:
    config = m.ConfigRecord(resource_type=2, resource_name="t", name="retention.ms", value=None)
    connection = LogLeader(batch(0, TOPIC, config), committed=2).connection()
    found = probe(where={"value": None}, answer={"log[].record": ["ConfigRecord"], "snapshot_end": None})
    assert found.exchange(connection, run).outcome is ProbeOutcome.SERVED


def test_versions_and_broken_rules_are_those_of_the_whole_log(run: AskedRun) -> None:
    connection = LogLeader(CREATED + batch(2, partition(0)), committed=3).connection()
    claims = {"versions": [1], "broken[].rule": ["leader-epoch-grows"], "broken[rule=leader-epoch-grows].offset": 2}
    found = probe(where={"record": "TopicRecord"}, answer=claims)
    assert found.exchange(connection, run).outcome is ProbeOutcome.SERVED
    kept = probe(answer={"broken[rule=leader-epoch-grows]": None}).exchange(connection, run)
    assert kept.outcome is ProbeOutcome.DIFFERENT


def test_a_malformed_record_is_not_what_any_plan_claims(run: AskedRun) -> None:
    keyed = LogLeader(batch(0, TOPIC, key=b"k"), committed=1).connection()
    answer = probe().exchange(keyed, run)
    assert answer.outcome is ProbeOutcome.DIFFERENT
    assert answer.body == {"malformed": "the record at offset 0 of the log has the key b'k'"}


def test_a_controller_that_does_not_lead_answers_that_it_is_none(run: AskedRun) -> None:
    standby = LogLeader(CREATED, committed=2, error=ErrorCode.not_leader_or_follower).connection()
    assert probe().exchange(standby, run).error == ErrorCode.not_controller


def test_another_log_is_not_read(tmp_path: Path) -> None:
    run = AskedRun(still_context(tmp_path, in_zookeeper(), plan=IN_ZOOKEEPER), "node-4")
    with pytest.raises(StepError, match="which this target does not write"):
        probe().exchange(LogLeader(CREATED, committed=2).connection(), run)
