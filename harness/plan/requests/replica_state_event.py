"""A broker's report of replicas that are offline."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, PlanModel, Value
from fencepost.harness.plan.requests.request import KafkaRequest, named
from fencepost.harness.wire.versions import REPLICA_STATE_EVENT


class EventTopic(PlanModel):
    topic: str
    partitions: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """Partition indexes. Empty: all partitions of the topic."""


class ReplicaStateEventProbe(KafkaRequest):
    """Replicas that are offline, reported in the name of `broker`.

    The outcome is the error of the request, or the first of a partition.
    """

    phrase = "Report offline replicas to {node} in the name of {broker}"
    request: Literal["replica-state-event"] = "replica-state-event"
    broker: NodeRef
    broker_epoch: Value = "current"
    event_type: int = 1
    """1 means offline, the only defined type."""
    reason: str = "probe"
    topics: tuple[EventTopic, ...] = ()
    """Empty: every replica of the broker."""

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        broker, epoch = named(self.broker, self.broker_epoch, run)
        topics = [
            {"topic": each.topic, "partitions": [{"partition_id": number} for number in each.partitions]}
            for each in self.topics
        ]
        body = {
            "broker_id": broker,
            "broker_epoch": epoch,
            "event_type": self.event_type,
            "event_reason": self.reason,
            "topics": topics,
        }
        answer = REPLICA_STATE_EVENT.ask(connection, body)
        errors = {
            f"{topic.topic}-{each.partition_id}": each.error_code
            for topic in answer.topics
            for each in topic.partitions
        }
        first = next((error for error in (answer.error_code, *errors.values()) if error), answer.error_code)
        return answered(first, partitions=errors, sent={"broker": broker, "broker_epoch": epoch})
