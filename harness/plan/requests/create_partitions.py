"""More partitions for a topic."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.wire.versions import CREATE_PARTITIONS


class CreatePartitionsProbe(KafkaRequest):
    """CreatePartitions: raise the partitions of a topic to `count`. The cluster chooses the replicas."""

    phrase = "Raise {topic} to {count} partitions through {node}"
    harmless = True
    listener = Listener.CLIENT
    sends = ("create_partitions",)
    request: Literal["create-partitions"] = "create-partitions"
    topic: str
    count: Annotated[int, Field(ge=1)]

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        topic = {"name": self.topic, "count": self.count, "assignments": None}
        body = {"topics": [topic], "timeout": self.timeout_ms, "validate_only": False}
        result = CREATE_PARTITIONS.ask(connection, body).results[0]
        return answered(result.error_code, message=result.error_message)
