"""New replicas for a partition."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRefs, Partition
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.wire.versions import ALTER_PARTITION_REASSIGNMENTS


class ReassignProbe(KafkaRequest):
    """AlterPartitionReassignments: new replicas, the preferred leader first. Served once the request is accepted."""

    phrase = "Move {partition} to {to}"
    listener = Listener.CLIENT
    sends = ("alter_partition_reassignments",)
    request: Literal["reassign"] = "reassign"
    partition: Partition
    to: NodeRefs | None = None
    """None: cancel the reassignment that is under way."""

    @property
    def clause(self) -> str:
        return self.phrase if self.to else "Cancel the move of {partition}"

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        topic, _, number = self.partition.rpartition("-")
        to = None if self.to is None else [run.id(name) for name in run.nodes(self.to)]
        moved = {"name": topic, "partitions": [{"partition_index": int(number), "replicas": to}]}
        answer = ALTER_PARTITION_REASSIGNMENTS.ask(connection, {"timeout": self.timeout_ms, "topics": [moved]})
        found = [each for of_topic in answer.responses for each in of_topic.partitions]
        if answer.error_code or not found:
            return answered(answer.error_code, message=answer.error_message, to=to)
        return answered(found[0].error_code, message=found[0].error_message, to=to)
