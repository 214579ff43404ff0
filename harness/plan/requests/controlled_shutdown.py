"""A broker's request to be shut down in a controlled way."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, Value
from fencepost.harness.plan.requests.request import KafkaRequest, named
from fencepost.harness.wire.versions import CONTROLLED_SHUTDOWN


class ControlledShutdownProbe(KafkaRequest):
    """ControlledShutdown of `broker`, sent in its name. The response lists the partitions that it still leads."""

    phrase = "Ask {node} for the controlled shutdown of {broker}"
    request: Literal["controlled-shutdown"] = "controlled-shutdown"
    broker: NodeRef
    broker_epoch: Value = "current"

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        broker, epoch = named(self.broker, self.broker_epoch, run)
        answer = CONTROLLED_SHUTDOWN.ask(connection, {"broker_id": broker, "broker_epoch": epoch})
        remaining = [f"{each.topic_name}-{each.partition_index}" for each in answer.remaining_partitions]
        return answered(answer.error_code, remaining=remaining, sent={"broker": broker, "broker_epoch": epoch})
