"""The controller's command to give up a replica."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fencepost.harness.plan.answers import ProbeAnswer
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import Value
from fencepost.harness.plan.requests.commands import OfController, first_error
from fencepost.harness.wire.versions import STOP_REPLICA


class StopReplicaProbe(OfController):
    """StopReplica for one partition; with `delete` its data goes, too."""

    phrase = "Send {node} StopReplica in the name of {controller}"
    request: Literal["stop-replica"] = "stop-replica"
    topic: str
    partition: Annotated[int, Field(ge=0)] = 0
    leader_epoch: Value = "current"
    delete: bool = False

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        sender = self.sent_by(run)
        leader_epoch = run.leader_epoch(self.leader_epoch, f"{self.topic}-{self.partition}")
        partition = {
            "partition_index": self.partition,
            "leader_epoch": leader_epoch,
            "delete_partition": self.delete,
        }
        topic = {"topic_name": self.topic, "partition_states": [partition]}
        answer = STOP_REPLICA.ask(connection, {**sender.fields, "topic_states": [topic]})
        sent = {**sender.sent, "leader_epoch": leader_epoch, "delete": self.delete}
        return first_error(answer.error_code, [each.error_code for each in answer.partition_errors], sent)
