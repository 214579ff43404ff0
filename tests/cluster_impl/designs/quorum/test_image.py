"""The metadata image: the state that records add up to."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.cluster_impl.designs.quorum.image import MetadataImage, NamedEndpoint
from fencepost.cluster_impl.wire import messages as m

TOPIC = UUID(int=1)


def image_with_a_partition() -> MetadataImage:
    image = MetadataImage()
    image.replay(m.TopicRecord(name="t", topic_id=TOPIC), 0)
    image.replay(
        m.PartitionRecord(partition_id=0, topic_id=TOPIC, replicas=[4, 5], isr=[4, 5], leader=4, leader_epoch=0), 1
    )
    return image


def change(leader: int, leader_epoch: int) -> m.IsrChangeRecord:
    return m.IsrChangeRecord(partition_id=0, topic_id=TOPIC, isr=[4, 5], leader=leader, leader_epoch=leader_epoch)


@pytest.mark.requirement("D631-22")
def test_ports_are_read_unsigned() -> None:
    image = MetadataImage()
    end_points = [m.BrokerRecord.BrokerEndpoint(name="CLIENT", host="h", port=40000 - 65536)]
    image.replay(m.BrokerRecord(broker_id=4, broker_epoch=7, end_points=end_points), 7)
    assert image.brokers[4].endpoints == (NamedEndpoint("CLIENT", "h", 40000),)


@given(st.lists(st.sampled_from([4, 5, -1]), max_size=12))
def test_a_leader_term_begins_where_the_leader_changes(leaders: list[int]) -> None:
    image = image_with_a_partition()
    leader, leader_term = 4, 0
    for leader_epoch, next_leader in enumerate(leaders, start=1):
        image.replay(change(next_leader, leader_epoch), leader_epoch + 1)
        if next_leader != leader:
            leader, leader_term = next_leader, leader_epoch
        partition = image.partition("t", 0)
        assert partition is not None
        assert (partition.leader, partition.leader_epoch, partition.leader_term_epoch) == (
            leader,
            leader_epoch,
            leader_term,
        )


def test_a_copy_changes_independently() -> None:
    image = image_with_a_partition()
    copy = image.copy()
    assert copy == image
    copy.replay(change(5, 1), 2)
    copy.replay(m.ConfigRecord(resource_type=2, resource_name="t", name="min.insync.replicas", value="2"), 3)
    assert image == image_with_a_partition()


def test_a_topic_made_again_under_its_name_is_another_topic() -> None:
    image = image_with_a_partition()
    image.replay(m.DeleteTopicRecord(name=TOPIC), 2)
    image.replay(m.TopicRecord(name="t", topic_id=UUID(int=2)), 3)
    assert image.partition("t", 0) is None
    assert image.partitions_created == 1


@pytest.mark.requirement("D631-17")
def test_a_topic_made_again_begins_above_every_leader_epoch_of_the_earlier_one() -> None:
    image = image_with_a_partition()
    assert image.first_leader_epoch() == 0
    image.replay(change(5, 1), 2)
    image.replay(m.DeleteTopicRecord(name=TOPIC), 3)
    assert image.first_leader_epoch() == 2
    image.replay(m.TopicRecord(name="u", topic_id=UUID(int=2)), 4)
    image.replay(m.DeleteTopicRecord(name=UUID(int=2)), 5)
    assert image.first_leader_epoch() == 2
    assert image.copy() == image
