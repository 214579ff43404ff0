"""What a broker's data plane is told of the metadata, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import pytest

from cluster_impl.designs.quorum.broker.metadata import BrokerMetadata
from cluster_impl.replication.control_plane import Change, PartitionAssignment, TopicPartition
from cluster_impl.replication.progress import Progress
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message
from cluster_impl.wire.errors import Error
from cluster_impl.wire.records import encode_record

TOPIC = UUID(int=1)


class Broker:
    """Broker 4 with a data plane that notes what it was told, as (leader, leader epoch) or `removed`."""

    def __init__(self) -> None:
        self.epoch = -1
        self.told: list[tuple[int, int] | str] = []
        self.metadata = BrokerMetadata(4, lambda: self.epoch)
        self.metadata.attach(self)
        self._offset = 0

    def apply(self, changes: Sequence[Change]) -> Mapping[TopicPartition, Error]:
        for change in changes:
            if isinstance(change, PartitionAssignment):
                self.told.append((change.leader, change.leader_epoch))
            else:
                self.told.append("removed")
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
def broker() -> Broker:
    """A topic was made when another process was broker 4; this one has just started."""
    broker = Broker()
    broker.fetch(registered(0), m.TopicRecord(name="t", topic_id=TOPIC), partition([4, 5], leader=4))
    return broker


def test_nothing_is_told_of_the_time_of_an_earlier_process(broker: Broker) -> None:
    assert broker.told == []
    broker.granted(4)
    assert broker.told == []


def test_the_whole_state_is_told_once_it_contains_this_process_own_registration(broker: Broker) -> None:
    broker.granted(4)
    broker.fetch(led_by(5, 1), registered(4))
    assert broker.told == [(5, 1)]


def test_a_registration_that_arrives_before_the_answer_to_the_heartbeat_is_used_once_that_is_known(
    broker: Broker,
) -> None:
    broker.fetch(led_by(5, 1), registered(4))
    assert broker.told == []
    broker.granted(4)
    assert broker.told == [(5, 1)]


@pytest.mark.requirement("K631-52")
def test_then_each_change_is_told_and_the_end_of_the_own_lease_as_well(broker: Broker) -> None:
    broker.granted(4)
    broker.fetch(led_by(5, 1), registered(4))
    broker.fetch(led_by(4, 2))
    broker.fetch(led_by(5, 3), m.DeleteBrokerRecord(id=4))
    assert broker.told == [(5, 1), (4, 2), (5, 3)]


def test_a_process_that_lost_its_id_is_not_told_what_the_other_one_leads(broker: Broker) -> None:
    broker.granted(4)
    broker.fetch(led_by(5, 1), registered(4))
    broker.fetch(registered(9))
    broker.fetch(led_by(4, 2))
    assert broker.told == [(5, 1)]
    broker.fetch(led_by(5, 3), m.DeleteBrokerRecord(id=4))
    broker.granted(20)
    broker.fetch(registered(20))
    assert broker.told == [(5, 1), (5, 3)]


def test_partitions_of_others_are_not_told() -> None:
    broker = Broker()
    broker.granted(0)
    broker.fetch(registered(0), m.TopicRecord(name="t", topic_id=TOPIC), partition([5, 6], leader=5))
    assert broker.told == []


@pytest.mark.parametrize("lost_the_id_meanwhile", [False, True])
def test_a_deleted_topic_is_removed_from_who_was_told_of_it(broker: Broker, lost_the_id_meanwhile: bool) -> None:
    broker.granted(4)
    broker.fetch(led_by(5, 1), registered(4))
    if lost_the_id_meanwhile:
        broker.fetch(registered(9))
    broker.fetch(m.DeleteTopicRecord(name=TOPIC))
    if lost_the_id_meanwhile:
        broker.granted(20)
        broker.fetch(registered(20))
    assert broker.told == [(5, 1), "removed"]
