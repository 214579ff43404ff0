"""The reassignments under way."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.wire.versions import LIST_PARTITION_REASSIGNMENTS


class ListReassignmentsProbe(KafkaRequest):
    """ListPartitionReassignments: the response has the replicas, those being added and those being removed."""

    phrase = "Ask {node} for the reassignments"
    harmless = True
    listener = Listener.CLIENT
    sends = ("list_partition_reassignments",)
    request: Literal["list-reassignments"] = "list-reassignments"

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        answer = LIST_PARTITION_REASSIGNMENTS.ask(connection, {"timeout": self.timeout_ms, "topics": None})
        moving = {
            f"{topic.name}-{each.partition_index}": {
                "replicas": list(each.replicas),
                "adding": list(each.adding_replicas),
                "removing": list(each.removing_replicas),
            }
            for topic in answer.topics
            for each in topic.partitions
        }
        return answered(answer.error_code, message=answer.error_message, moving=moving)
