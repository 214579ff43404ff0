"""Metadata records as sentences for the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from cluster_impl.designs.quorum.image import MetadataImage, MetadataRecord
from cluster_impl.wire import messages as m


def describe(records: Sequence[MetadataRecord], image: MetadataImage) -> Iterator[str]:
    """One sentence for each change of a broker, a topic, a leader or an ISR; `image` already contains the records."""
    for record in records:
        match record:
            case m.BrokerRecord():
                yield f"broker {record.broker_id} is registered with epoch {record.broker_epoch}"
            case m.DeleteBrokerRecord():
                yield f"broker {record.id} is no longer registered"
            case m.TopicRecord():
                yield f"topic {record.name} has the id {record.topic_id}"
            case m.DeleteTopicRecord():
                yield f"the topic with the id {record.name} is deleted"
            case m.PartitionRecord() | m.IsrChangeRecord():
                yield _partition(record, image)


def _partition(record: m.PartitionRecord | m.IsrChangeRecord, image: MetadataImage) -> str:
    name = _name(record.topic_id, image)
    return f"{name}-{record.partition_id}: leader {record.leader}, ISR {record.isr}, leader epoch {record.leader_epoch}"


def _name(topic_id: UUID, image: MetadataImage) -> str:
    return image.topic_names.get(topic_id, str(topic_id))
