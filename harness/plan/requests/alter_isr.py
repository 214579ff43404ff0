"""A leader's change of an ISR, at the controller."""

from __future__ import annotations

from typing import Literal

from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId
from kio.static.primitive import i32, i64

from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, NodeRefs, Value
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.request import OfPartition, isr_ids, named
from fencepost.harness.wire import drafts
from fencepost.harness.wire.versions import ALTER_PARTITION, entity


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
        if run.dialect is Dialect.KIP_631:
            partition = drafts.AlterIsrPartition(
                partition_index=i32(self.partition),
                leader_epoch=i32(leader_epoch),
                new_isr=tuple(map(i32, isr)),
                current_isr_version=i32(version),
            )
            request = drafts.AlterIsrRequest(
                broker_id=i32(broker),
                broker_epoch=i64(broker_epoch),
                topics=(drafts.AlterIsrTopic(name=self.topic, partitions=(partition,)),),
            )
            answer = connection.call(request, drafts.AlterIsrResponse)
        else:
            # Members have epoch -1, which skips their check: the request is about the sender's epochs.
            api = connection.newest(ALTER_PARTITION)
            members = tuple(map(BrokerId, isr))
            with_epochs = getattr(api.request, "BrokerState", None)  # since version 3 (KIP-903)
            change = entity(
                api.request.PartitionData,
                partition_index=i32(self.partition),
                leader_epoch=i32(leader_epoch),
                new_isr=members,
                new_isr_with_epochs=tuple(with_epochs(broker_id=id) for id in members) if with_epochs else (),
                partition_epoch=i32(version),
            )
            topic = api.request.TopicData(topic_id=run.decided.topic_id(self.topic), partitions=(change,))
            request = api.AlterPartitionRequest(
                broker_id=BrokerId(broker), broker_epoch=i64(broker_epoch), topics=(topic,)
            )
            answer = connection.call(request, api.AlterPartitionResponse)
        sent = {
            "broker": broker,
            "broker_epoch": broker_epoch,
            "topic": self.topic,
            "partition": self.partition,
            "leader_epoch": leader_epoch,
            "version": version,
            "isr": isr,
        }
        if answer.error_code is not ErrorCode.none or not answer.topics:
            return answered(answer.error_code, sent=sent)
        found = answer.topics[0].partitions[0]
        return answered(found.error_code, leader_epoch=found.leader_epoch, isr=list(found.isr), sent=sent)
