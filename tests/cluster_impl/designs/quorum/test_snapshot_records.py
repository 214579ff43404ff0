"""The records of a snapshot make the same image again, and are as few as they can be."""

from __future__ import annotations

from random import Random
from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.quorum.image import NO_LEADER, MetadataImage, MetadataRecord
from fencepost.cluster_impl.designs.quorum.snapshot_records import snapshot_records
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.records import decode_record, encode_record

SEEDS = range(60)


def history(random: Random, image: MetadataImage, length: int) -> list[MetadataRecord]:
    """Return records that a controller may write after those of the image, and replay them."""
    written = []
    for _ in range(length):
        record = next_record(random, image)
        image.replay(record, image.offset + 1)
        written.append(record)
    return written


def next_record(random: Random, image: MetadataImage) -> MetadataRecord:
    offset, partitions = image.offset + 1, list(image.all_partitions())
    match random.randrange(8 if partitions else 3):
        case 0 if random.random() < 0.2:
            return access_control(random)
        case 0 if random.random() < 0.2:
            return m.FeatureLevelRecord(name="metadata.format", level=random.choice((1, 2)))
        case 0:
            at = m.BrokerRecord.BrokerEndpoint(name="CLIENT", host="h", port=-1, security_protocol=random.randrange(3))
            has = m.BrokerRecord.SupportedFeature(
                name="metadata.format", min_version=1, max_version=random.choice((1, 2))
            )
            return m.BrokerRecord(
                broker_id=random.randrange(5), broker_epoch=offset, end_points=[at], rack="r", features=[has]
            )
        case 1:
            return m.DeleteBrokerRecord(id=random.randrange(5))
        case 2:
            return m.TopicRecord(name=f"t{offset}", topic_id=UUID(int=offset + 1), deleting=random.random() < 0.2)
        case 3:
            resource = random.choice([*((2, topic) for topic in image.topics), (4, ""), (4, "1")])
            value = "v" if random.random() < 0.7 else None
            return m.ConfigRecord(
                resource_type=resource[0], resource_name=resource[1], name=f"k{random.randrange(3)}", value=value
            )
        case 4 if random.random() < 0.3:
            return m.DeleteTopicRecord(name=random.choice(partitions).topic_id)
        case _:
            isr = random.sample(range(5), random.randint(1, 3))
            known = random.choice(partitions)
            return m.IsrChangeRecord(
                partition_id=known.index,
                topic_id=known.topic_id,
                isr=isr,
                leader=random.choice((*isr, NO_LEADER)),
                leader_epoch=known.leader_epoch + 1,
            )


def access_control(random: Random) -> MetadataRecord:
    kind = m.AccessControlRecord if random.random() < 0.7 else m.DeleteAccessControlRecord
    return kind(
        resource_type=2,
        resource_name=random.choice("ab"),
        pattern_type=random.choice((3, 4)),
        principal="User:alice",
        host="*",
        operation=random.choice((3, 4)),
        permission_type=3,
    )


def random_image(random: Random) -> MetadataImage:
    image = MetadataImage()
    for _ in range(4):
        history(random, image, 10)
        if image.topics:
            topic = random.choice(list(image.topics.values()))
            first = len(image.partitions[topic.id])
            for index in range(first, first + 2):
                record = m.PartitionRecord(
                    partition_id=index,
                    topic_id=topic.id,
                    replicas=[0, 1, 2, 3],
                    isr=[0, 1],
                    leader=0,
                    leader_epoch=0,
                    adding_replicas=[2],
                    removing_replicas=[3],
                )
                image.replay(record, image.offset + 1)
    return image


def reloaded(image: MetadataImage) -> MetadataImage:
    again = MetadataImage()
    values = [encode_record(record) for record in snapshot_records(image)]
    again.load((decode_record(value) for value in values), image.offset + 1)  # type: ignore[misc]  # all of them are metadata
    return again


def order(image: MetadataImage) -> list[object]:
    partitions = [(each.topic_id, each.index) for each in image.all_partitions()]
    return [list(image.acls), list(image.brokers), list(image.topics), partitions]


@pytest.mark.requirement("K631-23")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_snapshot_makes_the_same_image_and_both_go_on_alike(seed: int) -> None:
    random = Random(seed)
    image = random_image(random)
    again = reloaded(image)
    assert again == image
    assert order(again) == order(image)
    for record in history(random, image, 20):
        again.replay(record, again.offset + 1)
    assert again == image


@pytest.mark.requirement("K631-22")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_snapshot_has_one_record_for_each_entity(seed: int) -> None:
    image = random_image(Random(seed))
    settings = sum(len(config) for config in (*image.topic_configs.values(), *image.broker_configs.values()))
    entities = (
        len(image.features)
        + len(image.acls)
        + len(image.brokers)
        + len(image.topics)
        + settings
        + sum(1 for _ in image.all_partitions())
    )
    assert len(list(snapshot_records(image))) == entities + 1


def test_loading_forgets_what_was_there_before() -> None:
    image = random_image(Random(1))
    image.load(snapshot_records(MetadataImage()), 1000)
    empty = MetadataImage(offset=999)
    assert image == empty


def test_the_images_of_the_tests_hold_everything_that_only_a_history_tells() -> None:
    images = [random_image(Random(seed)) for seed in SEEDS]
    assert any(image.deleted_leader_epoch > 0 for image in images)
    assert any(image.broker_configs for image in images)
    assert any(image.features for image in images)
    assert any(image.acls for image in images)
    assert any(broker.since != broker.epoch for image in images for broker in image.brokers.values())
    assert any(each.leader_term_epoch != each.leader_epoch for image in images for each in image.all_partitions())
    assert any(len(set(each.joined.values())) > 1 for image in images for each in image.all_partitions())
