"""Facts add up to registered brokers, leaders, and the version that an ISR change must name."""

from __future__ import annotations

import uuid

import pytest

from fencepost.harness.clients.metadata.image import Image
from fencepost.harness.clients.metadata.records import (
    BrokerFencingFact,
    BrokerRegistrationFact,
    BrokerRemovalFact,
    Fact,
    PartitionChangeFact,
    PartitionFact,
    TopicFact,
    TopicRemovalFact,
)

T = uuid.UUID(int=7)


def image_of(*facts: Fact | None) -> Image:
    image = Image()
    for offset, fact in enumerate(facts):
        image = image.apply(offset, fact)
    return image


TOPIC = (TopicFact(T, "t"), PartitionFact(T, 0, (6, 4), (6, 4), leader=6, leader_epoch=3, version=8))


def test_a_broker_is_registered_fenced_unfenced_and_goes() -> None:
    facts: list[Fact] = [BrokerRegistrationFact(4, 10, fenced=True)]
    assert image_of(*facts).brokers[4].state == "fenced"
    facts.append(BrokerFencingFact(4, fenced=False))
    assert image_of(*facts).brokers[4].state == "active"
    facts.append(BrokerRemovalFact(4))
    gone = image_of(*facts).brokers[4]
    assert (gone.state, gone.epoch, gone.offset) == ("gone", 10, 2)


def test_a_new_registration_has_a_new_epoch() -> None:
    image = image_of(
        BrokerRegistrationFact(4, 10, fenced=False), BrokerRemovalFact(4), BrokerRegistrationFact(4, 12, fenced=False)
    )
    assert (image.brokers[4].state, image.brokers[4].epoch) == ("active", 12)


def test_kafkas_isr_change_raises_the_version_and_not_the_leader_epoch() -> None:
    entry = image_of(*TOPIC, PartitionChangeFact(T, 0, isr=(6,), leader=None)).partitions["t-0"]
    assert (entry.isr, entry.leader, entry.leader_epoch, entry.version) == ((6,), 6, 3, 9)


def test_kafkas_leader_change_raises_both() -> None:
    entry = image_of(*TOPIC, PartitionChangeFact(T, 0, isr=None, leader=4)).partitions["t-0"]
    assert (entry.isr, entry.leader, entry.leader_epoch, entry.version) == ((6, 4), 4, 4, 9)


def test_a_reassignment_shows_until_all_replicas_are_added() -> None:
    began = image_of(*TOPIC, PartitionChangeFact(T, 0, isr=None, leader=None, replicas=(6, 4, 5), adding=(5,)))
    entry = began.partitions["t-0"]
    assert (entry.replicas, entry.adding, entry.isr) == ((6, 4, 5), (5,), (6, 4))
    over = began.apply(9, PartitionChangeFact(T, 0, isr=(6, 4, 5), leader=None, adding=())).partitions["t-0"]
    assert (over.replicas, over.adding, over.isr) == ((6, 4, 5), (), (6, 4, 5))


def test_the_drafts_change_names_its_epoch_which_is_the_version() -> None:
    entry = image_of(*TOPIC, PartitionChangeFact(T, 0, isr=(4,), leader=4, leader_epoch=5)).partitions["t-0"]
    assert (entry.leader_epoch, entry.version) == (5, 5)


def test_a_topic_that_is_gone_takes_its_partitions_along() -> None:
    image = image_of(*TOPIC, TopicRemovalFact(T))
    assert not image.partitions
    assert image.topic_id("t") is None


def test_records_about_nothing_move_the_offset_only() -> None:
    image = image_of(*TOPIC)
    assert image.apply(9, None).offset == 9
    assert image.apply(9, None).partitions == image.partitions


def test_a_hole_in_the_log_is_noticed() -> None:
    with pytest.raises(KeyError):
        image_of(PartitionChangeFact(T, 0, isr=(4,), leader=None))
