"""The metadata that a broker's data plane gets, and when."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.quorum.broker.metadata import BrokerMetadata
from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from fencepost.cluster_impl.replication.control_plane import (
    Change,
    PartitionAssignment,
    ReplicaStopped,
    TopicPartition,
)
from fencepost.cluster_impl.replication.progress import Progress
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.records import encode_record

TOPIC = UUID(int=1)


class BrokerUnderTest:
    """Broker 4 with a data plane that records changes, as (leader, leader epoch) or `removed`."""

    def __init__(self) -> None:
        self.epoch = -1
        self.applied: list[tuple[int, int] | str] = []
        self.configs: list[dict[str, str]] = []
        self.kept: list[list[str]] = []
        self.metadata = BrokerMetadata(4, lambda: self.epoch, MetadataImage(), self, self._remove_strays)
        self._offset = 0

    def _remove_strays(self, kept: Collection[TopicPartition]) -> None:
        self.kept.append(sorted(map(str, kept)))

    def apply(self, changes: Sequence[Change]) -> Mapping[TopicPartition, Error]:
        for change in changes:
            if isinstance(change, PartitionAssignment):
                self.applied.append((change.leader, change.leader_epoch))
                self.configs.append(dict(change.config))
            else:
                self.applied.append("stopped" if isinstance(change, ReplicaStopped) else "removed")
        return {}

    def progress(self, name: TopicPartition) -> Progress | None:
        return None

    def fetch(self, *records: Message) -> None:
        numbered = [(self._offset + index, encode_record(record)) for index, record in enumerate(records)]
        self._offset += len(records)
        self.metadata.on_records(numbered)

    def granted(self, epoch: int) -> None:
        self.epoch = epoch
        self.metadata.on_epoch()


def registered(epoch: int) -> m.BrokerRecord:
    return m.BrokerRecord(broker_id=4, broker_epoch=epoch)


def partition(replicas: list[int], leader: int) -> m.PartitionRecord:
    return m.PartitionRecord(
        partition_id=0, topic_id=TOPIC, replicas=replicas, isr=replicas, leader=leader, leader_epoch=0
    )


def led_by(leader: int, leader_epoch: int) -> m.IsrChangeRecord:
    return m.IsrChangeRecord(partition_id=0, topic_id=TOPIC, isr=[leader], leader=leader, leader_epoch=leader_epoch)


@pytest.fixture
def broker() -> BrokerUnderTest:
    """A topic was created when another process was broker 4; this one has just started."""
    broker = BrokerUnderTest()
    broker.fetch(registered(0), m.TopicRecord(name="t", topic_id=TOPIC), partition([4, 5], leader=4))
    return broker


def test_nothing_is_applied_of_the_time_of_an_earlier_process(broker: BrokerUnderTest) -> None:
    assert broker.applied == []
    broker.granted(4)
    assert broker.applied == []


def test_the_whole_state_is_applied_once_it_contains_this_process_own_registration(broker: BrokerUnderTest) -> None:
    broker.granted(4)
    broker.fetch(led_by(5, 1), registered(4))
    assert broker.applied == [(5, 1)]


def test_a_registration_that_arrives_before_the_answer_to_the_heartbeat_is_used_once_that_is_known(
    broker: BrokerUnderTest,
) -> None:
    broker.fetch(led_by(5, 1), registered(4))
    assert broker.applied == []
    broker.granted(4)
    assert broker.applied == [(5, 1)]


@pytest.mark.requirement("K631-52")
def test_then_each_change_is_applied_and_the_end_of_the_own_lease_as_well(broker: BrokerUnderTest) -> None:
    broker.granted(4)
    broker.fetch(led_by(5, 1), registered(4))
    broker.fetch(led_by(4, 2))
    broker.fetch(led_by(5, 3), m.DeleteBrokerRecord(id=4))
    assert broker.applied == [(5, 1), (4, 2), (5, 3)]


def test_a_process_that_lost_its_id_does_not_apply_what_the_other_one_leads(broker: BrokerUnderTest) -> None:
    broker.granted(4)
    broker.fetch(led_by(5, 1), registered(4))
    broker.fetch(registered(9))
    broker.fetch(led_by(4, 2))
    assert broker.applied == [(5, 1)]
    broker.fetch(led_by(5, 3), m.DeleteBrokerRecord(id=4))
    broker.granted(20)
    broker.fetch(registered(20))
    assert broker.applied == [(5, 1), (5, 3)]


def test_partitions_of_others_are_not_applied() -> None:
    broker = BrokerUnderTest()
    broker.granted(0)
    broker.fetch(registered(0), m.TopicRecord(name="t", topic_id=TOPIC), partition([5, 6], leader=5))
    assert broker.applied == []


@pytest.mark.parametrize("lost_the_id_meanwhile", [False, True])
def test_a_deleted_topic_is_removed_where_it_was_applied(broker: BrokerUnderTest, lost_the_id_meanwhile: bool) -> None:
    broker.granted(4)
    broker.fetch(led_by(5, 1), registered(4))
    if lost_the_id_meanwhile:
        broker.fetch(registered(9))
    broker.fetch(m.DeleteTopicRecord(name=TOPIC))
    if lost_the_id_meanwhile:
        broker.granted(20)
        broker.fetch(registered(20))
    assert broker.applied == [(5, 1), "removed"]


@pytest.mark.requirement("K631-68")
def test_replicas_on_disk_that_no_metadata_assigns_are_strays_once_the_registration_is_this_process_own(
    broker: BrokerUnderTest,
) -> None:
    broker.granted(4)
    broker.fetch(m.DeleteTopicRecord(name=TOPIC))
    assert broker.kept == []
    broker.fetch(registered(4))
    assert broker.kept == [[]]


def test_an_assigned_replica_is_no_stray(broker: BrokerUnderTest) -> None:
    broker.granted(4)
    broker.fetch(registered(4))
    broker.fetch(led_by(5, 1))
    assert broker.kept == [["t-0"]]


@pytest.mark.requirement("K631-62")
def test_a_topic_that_is_being_deleted_is_served_no_more_and_its_data_stay_until_it_is_gone(
    broker: BrokerUnderTest,
) -> None:
    broker.granted(4)
    broker.fetch(led_by(4, 1), registered(4))
    broker.fetch(m.TopicRecord(name="t", topic_id=TOPIC, deleting=True))
    assert broker.applied == [(4, 1), "stopped"]
    broker.fetch(m.DeleteTopicRecord(name=TOPIC))
    assert broker.applied == [(4, 1), "stopped", "removed"]


@pytest.mark.requirement("K631-62")
def test_a_broker_that_starts_within_a_deletion_does_not_serve_the_topic(broker: BrokerUnderTest) -> None:
    broker.fetch(led_by(4, 1), m.TopicRecord(name="t", topic_id=TOPIC, deleting=True), registered(4))
    broker.granted(6)
    broker.fetch(registered(6))
    assert broker.applied == ["stopped"]
    assert broker.kept == [["t-0"]]
    broker.fetch(m.DeleteTopicRecord(name=TOPIC))
    assert broker.applied == ["stopped", "removed"]


@pytest.mark.requirement("K631-20")
def test_tagged_fields_that_this_software_does_not_know_are_ignored() -> None:
    """Newer software may have written them."""
    broker = BrokerUnderTest()
    broker.granted(0)
    newer: list[Message] = [registered(0), m.TopicRecord(name="t", topic_id=TOPIC), partition([4, 5], leader=4)]
    for record in newer:
        record.unknown_tags = {7: b"a field", 9: b""}
    broker.fetch(*newer)
    assert broker.applied == [(4, 0)]


def test_a_snapshot_removes_what_was_deleted_meanwhile_and_brings_what_was_created() -> None:
    broker = BrokerUnderTest()
    broker.fetch(registered(0), m.TopicRecord(name="t", topic_id=TOPIC), partition([4, 5], leader=4))
    broker.granted(0)
    other = UUID(int=2)
    created = m.PartitionRecord(partition_id=0, topic_id=other, replicas=[4], isr=[4], leader=4, leader_epoch=7)
    records = (registered(0), m.TopicRecord(name="t", topic_id=other), created)
    broker.metadata.on_snapshot([encode_record(record) for record in records], 20)
    assert broker.applied == [(4, 0), "removed", (4, 7)]
    assert broker.metadata.image.offset == 19


def setting(resource_type: int, resource: str, name: str, value: str | None) -> m.ConfigRecord:
    return m.ConfigRecord(resource_type=resource_type, resource_name=resource, name=name, value=value)


@pytest.mark.requirement("K631-64")
def test_a_setting_reaches_the_replicas_that_it_is_for_when_it_is_committed(broker: BrokerUnderTest) -> None:
    broker.fetch(registered(3))
    broker.granted(3)
    del broker.configs[:]
    broker.fetch(setting(2, "t", "min.insync.replicas", "2"))
    broker.fetch(setting(4, "", "min.insync.replicas", "3"), setting(4, "", "message.max.bytes", "9"))
    broker.fetch(setting(4, "5", "min.insync.replicas", "7"), setting(2, "absent", "segment.bytes", "20"))
    broker.fetch(setting(2, "t", "min.insync.replicas", None))
    broker.fetch(setting(4, "4", "min.insync.replicas", "1"))
    assert broker.configs == [
        {"min.insync.replicas": "2"},
        {"min.insync.replicas": "2", "max.message.bytes": "9"},
        {"min.insync.replicas": "3", "max.message.bytes": "9"},
        {"min.insync.replicas": "1", "max.message.bytes": "9"},
    ]
