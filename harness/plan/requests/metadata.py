"""Metadata of one topic, or of all."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, ProbeOutcome, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.wire.versions import METADATA


class MetadataProbe(KafkaRequest):
    """Metadata of one topic, or of all. An answer that names no broker at all is of no use to a client: `refused`."""

    phrase = "Ask {node} for metadata"
    harmless = True
    listener = Listener.CLIENT
    sends = ("metadata",)
    request: Literal["metadata"] = "metadata"
    topic: str | None = None

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        answer = request_metadata(connection, None if self.topic is None else (self.topic,))
        body = {
            "brokers": sorted(broker.node_id for broker in answer.brokers),
            "controller": answer.controller_id,
            "leaders": {
                f"{topic.name}-{partition.partition_index}": [partition.leader_id, leader_epoch(partition)]
                for topic in answer.topics
                if self.topic is not None
                for partition in topic.partitions
            },
        }
        errors = [topic.error_code for topic in answer.topics if topic.error_code]
        if errors and self.topic is not None:
            return answered(errors[0], **body)
        return ProbeAnswer(ProbeOutcome.SERVED if answer.brokers else ProbeOutcome.REFUSED, None, body)


def request_metadata(connection: Connection, topics: Collection[str] | None = None) -> Any:
    """Return the answer to Metadata of these topics, or of all, in the newest version that the node has.

    Raise NoAnswer.
    """
    named = None if topics is None else [{"topic_id": None, "name": name} for name in topics]
    return METADATA.ask(connection, {"topics": named, "allow_auto_topic_creation": False})


def leader_epoch(partition: Any) -> int:
    """Return the leader epoch of a partition in a response; -1, unknown, in versions that do not have it."""
    return int(getattr(partition, "leader_epoch", -1))
