"""The state of the metadata quorum."""

from __future__ import annotations

from typing import Any, Literal

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.wire.versions import DESCRIBE_QUORUM


class DescribeQuorumProbe(KafkaRequest):
    """DescribeQuorum: the response has the leader, the epoch and the high watermark of the metadata log."""

    phrase = "Ask {node} for the state of the quorum"
    harmless = True
    listener = Listener.CLIENT
    sends = ("describe_quorum",)
    request: Literal["describe-quorum"] = "describe-quorum"

    @property
    def needs_controller(self) -> str:
        return f"`{self.request}`"

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        answer = request_quorum(connection, run.dialect)
        if answer.error_code or not answer.topics:
            return answered(answer.error_code)
        found = answer.topics[0].partitions[0]
        return answered(
            found.error_code, leader=found.leader_id, epoch=found.leader_epoch, high_watermark=found.high_watermark
        )


def request_quorum(connection: Connection, dialect: Dialect) -> Any:
    """Return the answer to DescribeQuorum in the newest version that the node has. Raise NoAnswer."""
    topic = {"topic_name": dialect.metadata_topic, "partitions": [{"partition_index": 0}]}
    return DESCRIBE_QUORUM.ask(connection, {"topics": [topic]})
