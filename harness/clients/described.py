"""The state of a cluster as its brokers describe it to clients, where no control plane is visible.

A partition is as the answer of the highest leader epoch describes it; of answers with one epoch, as its leader does. A
broker is active while any broker lists it. What no broker that answers describes any more is gone; while none answers,
everything is as it was.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping

from fencepost.harness.clients.metadata.image import BrokerEntry, Image, PartitionEntry
from fencepost.harness.clients.views import Answer, BrokerView, PartitionView


def described_image(before: Image, views: Mapping[str, BrokerView], ids: Mapping[str, int]) -> Image:
    """Return the image after `before`, from the latest answer of each broker, with their `ids`, by name."""
    answers = {name: view for name, view in views.items() if view.answer is Answer.SERVING}
    if not answers:
        return before
    best: dict[str, tuple[tuple[int, bool], PartitionView]] = {}
    for name, view in answers.items():
        for key, partition in view.partitions.items():
            rank = partition.leader_epoch, partition.leader == ids[name]
            if key not in best or rank > best[key][0]:
                best[key] = rank, partition
    partitions = {key: _entry(partition) for key, (_, partition) in best.items()}
    topics = {uuid.UUID(id): topic for id, topic in _topic_ids(view for _, view in best.values())}
    listed = frozenset[int]().union(*(view.brokers for view in answers.values()))
    brokers = {
        id: BrokerEntry(id, -1, "active" if id in listed else "gone", -1) for id in sorted(listed.union(before.brokers))
    }
    after = Image(brokers, partitions, topics)
    return before if after == before else after


def _entry(view: PartitionView) -> PartitionEntry:
    epoch = max(view.leader_epoch, 0)  # an entry without an epoch would be that of a topic without any state yet
    return PartitionEntry(
        view.topic, view.partition, view.replicas, view.isr, view.leader, epoch, version=-1, offset=-1
    )


def _topic_ids(partitions: Iterator[PartitionView]) -> Iterator[tuple[str, str]]:
    for partition in partitions:
        if partition.topic_id is not None:
            yield partition.topic_id, partition.topic
