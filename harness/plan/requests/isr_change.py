"""KIP-343's ISR change."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, NodeRefsOrNone, Value
from fencepost.harness.plan.requests.request import OfPartition, isr_ids, named
from fencepost.harness.wire.versions import ISR_CHANGE


class IsrChangeProbe(OfPartition):
    """KIP-343's ISR change in the name of `broker`."""

    phrase = "Send {node} an ISR change in the name of {broker}"
    request: Literal["isr-change"] = "isr-change"
    broker: NodeRef
    incarnation: Value = "current"
    leader_epoch: Value = "current"
    isr: NodeRefsOrNone | None = None
    """None: the present ISR; `none`: an empty ISR."""

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        broker, incarnation = named(self.broker, self.incarnation, run)
        present = run.decided_partition(self.place)
        leader_epoch = run.leader_epoch(self.leader_epoch, self.place)
        isr = isr_ids(self.isr, present.isr, run)
        partition = {"leader_epoch": leader_epoch, "partition_index": self.partition, "isr": isr}
        topic = {"topic_name": self.topic, "partitions": [partition]}
        body = {"broker_id": broker, "incarnation_id": incarnation, "topics": [topic]}
        answer = ISR_CHANGE.ask(connection, body)
        sent = {"broker": broker, "incarnation": incarnation, "leader_epoch": leader_epoch, "isr": list(isr)}
        if answer.error_code or not answer.results:
            return answered(answer.error_code, message=answer.error_message, sent=sent)
        return answered(answer.results[0].error_code, message=answer.results[0].error_message, sent=sent)
