"""A leader's change of an ISR, at the controller."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, NodeRefs, Value
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.request import OfPartition, isr_ids, named
from fencepost.harness.wire.versions import ALTER_PARTITION, DRAFT_ALTER_ISR

WITH_BROKER_EPOCHS = 3
"""The first version of AlterPartition in which each member of the ISR has an epoch (KIP-903)."""


class AlterIsrProbe(OfPartition):
    """AlterIsr (draft) or AlterPartition (shipped) in the name of `broker`.

    The controller compares `version`: the draft's CurrentIsrVersion, shipped Kafka's partition epoch.
    """

    phrase = "Send {node} an ISR change in the name of {broker}"
    request: Literal["alter-isr"] = "alter-isr"
    broker: NodeRef
    broker_epoch: Value = "current"
    leader_epoch: Value = "current"
    version: Value = "current"
    isr: NodeRefs | None = None
    """None: the present value."""

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        present = run.decided_partition(self.place)
        broker, broker_epoch = named(self.broker, self.broker_epoch, run)
        leader_epoch = run.leader_epoch(self.leader_epoch, self.place)
        version = run.isr_version(self.version, self.place)
        isr = isr_ids(self.isr, present.isr, run)
        partition: dict[str, object] = {"partition_index": self.partition, "leader_epoch": leader_epoch}
        of_broker = {"broker_id": broker, "broker_epoch": broker_epoch}
        if run.dialect is Dialect.KIP_631:
            partition |= {"new_isr": isr, "current_isr_version": version}
            drafted = {"name": self.topic, "partitions": [partition]}
            answer = DRAFT_ALTER_ISR.ask(connection, {**of_broker, "topics": [drafted]})
        else:
            partition["partition_epoch"] = version
            if connection.newest_version(ALTER_PARTITION) < WITH_BROKER_EPOCHS:
                partition["new_isr"] = isr
            else:
                # Members have epoch -1, which skips their check: the request is about the sender's epochs.
                partition["new_isr_with_epochs"] = [{"broker_id": id} for id in isr]
            topic = {"topic_id": run.decided.topic_id(self.topic), "partitions": [partition]}
            answer = ALTER_PARTITION.ask(connection, {**of_broker, "topics": [topic]})
        sent = {
            "broker": broker,
            "broker_epoch": broker_epoch,
            "topic": self.topic,
            "partition": self.partition,
            "leader_epoch": leader_epoch,
            "version": version,
            "isr": isr,
        }
        if answer.error_code or not answer.topics:
            return answered(answer.error_code, sent=sent)
        found = answer.topics[0].partitions[0]
        return answered(found.error_code, leader_epoch=found.leader_epoch, isr=list(found.isr), sent=sent)
