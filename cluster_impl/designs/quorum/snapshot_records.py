"""The records of a snapshot: the fewest that an image can be made of again (KIP-631, Snapshot Implementation).

Each feature, broker, topic, setting, access control entry and partition is one record, in the order of the image,
because placement depends on that order. What replay derives from the history of the log stands in tagged fields, and in
one HistoryRecord (decision 0053).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fencepost.cluster_impl.designs.quorum.acl_records import created
from fencepost.cluster_impl.designs.quorum.image import (
    BROKER_RESOURCE,
    NO_EPOCH,
    TOPIC_RESOURCE,
    BrokerRegistration,
    MetadataImage,
    MetadataRecord,
    PartitionRegistration,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import signed16


def snapshot_records(image: MetadataImage) -> Iterator[MetadataRecord]:
    """Yield the records; `image` must not change meanwhile."""
    for name, level in image.features.items():
        yield m.FeatureLevelRecord(name=name, level=level)
    for broker in image.brokers.values():
        yield _broker(broker)
    for topic in image.topics.values():
        yield m.TopicRecord(name=topic.name, topic_id=topic.id, deleting=topic.deleting)
        yield from _settings(TOPIC_RESOURCE, topic.name, image.config_of(topic.name))
    for broker_id, config in image.broker_configs.items():
        yield from _settings(BROKER_RESOURCE, broker_id, config)
    for entry in image.acls:
        yield created(entry)
    for partition in image.all_partitions():
        yield _partition(partition)
    # Last: a PartitionRecord counts as a created partition.
    yield m.HistoryRecord(partitions_created=image.partitions_created, deleted_leader_epoch=image.deleted_leader_epoch)


def _settings(resource_type: int, resource: str, config: Mapping[str, str]) -> Iterator[m.ConfigRecord]:
    for name, value in config.items():
        yield m.ConfigRecord(resource_type=resource_type, resource_name=resource, name=name, value=value)


def _broker(broker: BrokerRegistration) -> m.BrokerRecord:
    end_points = [
        m.BrokerRecord.BrokerEndpoint(
            name=at.name, host=at.host, port=signed16(at.port), security_protocol=at.security_protocol
        )
        for at in broker.endpoints
    ]
    return m.BrokerRecord(
        broker_id=broker.id,
        broker_epoch=broker.epoch,
        end_points=end_points,
        rack=broker.rack,
        since=broker.since,
        features=[
            m.BrokerRecord.SupportedFeature(name=name, min_version=has.lowest, max_version=has.highest)
            for name, has in broker.features.items()
        ],
    )


def _partition(partition: PartitionRegistration) -> m.PartitionRecord:
    return m.PartitionRecord(
        partition_id=partition.index,
        topic_id=partition.topic_id,
        replicas=list(partition.replicas),
        isr=list(partition.isr),
        removing_replicas=list(partition.removing),
        adding_replicas=list(partition.adding),
        leader=partition.leader,
        leader_epoch=partition.leader_epoch,
        leader_term_epoch=partition.leader_term_epoch,
        joined=[partition.joined.get(member, NO_EPOCH) for member in partition.isr],
    )
