"""Facts add up to who is registered, who leads, and which version an ISR change must name."""

from __future__ import annotations

import uuid

import pytest

from harness.clients.metadata.image import Image
from harness.clients.metadata.records import (
    BrokerFencing,
    BrokerGone,
    BrokerRegistered,
    Fact,
    PartitionChanged,
    PartitionSeen,
    TopicGone,
    TopicSeen,
)

T = uuid.UUID(int=7)


def image_of(*facts: Fact | None) -> Image:
    image = Image()
    for offset, fact in enumerate(facts):
        image = image.apply(offset, fact)
    return image


TOPIC = (TopicSeen(T, "t"), PartitionSeen(T, 0, (6, 4), (6, 4), leader=6, leader_epoch=3, version=8))


def test_a_broker_is_registered_fenced_unfenced_and_goes() -> None:
    facts: list[Fact] = [BrokerRegistered(4, 10, fenced=True)]
    assert image_of(*facts).brokers[4].state == "fenced"
    facts.append(BrokerFencing(4, fenced=False))
    assert image_of(*facts).brokers[4].state == "active"
    facts.append(BrokerGone(4))
    gone = image_of(*facts).brokers[4]
    assert (gone.state, gone.epoch, gone.offset) == ("gone", 10, 2)


def test_a_new_registration_has_a_new_epoch() -> None:
    image = image_of(BrokerRegistered(4, 10, fenced=False), BrokerGone(4), BrokerRegistered(4, 12, fenced=False))
    assert (image.brokers[4].state, image.brokers[4].epoch) == ("active", 12)


def test_kafkas_isr_change_raises_the_version_and_not_the_leader_epoch() -> None:
    entry = image_of(*TOPIC, PartitionChanged(T, 0, isr=(6,), leader=None)).partitions["t-0"]
    assert (entry.isr, entry.leader, entry.leader_epoch, entry.version) == ((6,), 6, 3, 9)


def test_kafkas_leader_change_raises_both() -> None:
    entry = image_of(*TOPIC, PartitionChanged(T, 0, isr=None, leader=4)).partitions["t-0"]
    assert (entry.isr, entry.leader, entry.leader_epoch, entry.version) == ((6, 4), 4, 4, 9)


def test_a_reassignment_shows_until_nobody_is_added_any_more() -> None:
    began = image_of(*TOPIC, PartitionChanged(T, 0, isr=None, leader=None, replicas=(6, 4, 5), adding=(5,)))
    entry = began.partitions["t-0"]
    assert (entry.replicas, entry.adding, entry.isr) == ((6, 4, 5), (5,), (6, 4))
    over = began.apply(9, PartitionChanged(T, 0, isr=(6, 4, 5), leader=None, adding=())).partitions["t-0"]
    assert (over.replicas, over.adding, over.isr) == ((6, 4, 5), (), (6, 4, 5))


def test_the_drafts_change_names_its_epoch_which_is_the_version() -> None:
    entry = image_of(*TOPIC, PartitionChanged(T, 0, isr=(4,), leader=4, leader_epoch=5)).partitions["t-0"]
    assert (entry.leader_epoch, entry.version) == (5, 5)


def test_a_topic_that_is_gone_takes_its_partitions_along() -> None:
    image = image_of(*TOPIC, TopicGone(T))
    assert not image.partitions
    assert image.topic_id("t") is None


def test_records_about_nothing_move_the_offset_only() -> None:
    image = image_of(*TOPIC)
    assert image.apply(9, None).offset == 9
    assert image.apply(9, None).partitions == image.partitions


def test_a_hole_in_the_log_is_noticed() -> None:
    with pytest.raises(KeyError):
        image_of(PartitionChanged(T, 0, isr=(4,), leader=None))
