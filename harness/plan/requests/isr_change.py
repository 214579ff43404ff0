"""KIP-343's ISR change."""

from __future__ import annotations

from typing import Literal

from kio.static.primitive import i32, i64

from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, NodeRefsOrNone, Value
from fencepost.harness.plan.requests.request import OfPartition, isr_ids, named
from fencepost.harness.wire import kip_343


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
        partition = kip_343.IsrChangePartition(
            leader_epoch=i32(leader_epoch), partition_index=i32(self.partition), isr=tuple(map(i32, isr))
        )
        request = kip_343.IsrChangeRequest(
            broker_id=i32(broker),
            incarnation_id=i64(incarnation),
            topics=(kip_343.IsrChangeTopic(topic_name=self.topic, partitions=(partition,)),),
        )
        answer = connection.call(request, kip_343.IsrChangeResponse)
        sent = {"broker": broker, "incarnation": incarnation, "leader_epoch": leader_epoch, "isr": list(isr)}
        if answer.error_code or not answer.results:
            return answered(answer.error_code, message=answer.error_message, sent=sent)
        return answered(answer.results[0].error_code, message=answer.results[0].error_message, sent=sent)
