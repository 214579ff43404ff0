"""The controller's command to lead or to follow."""

from __future__ import annotations

from typing import Annotated, Literal

from kio.static.primitive import i32, i64
from pydantic import Field

from fencepost.harness.network.addresses import PEER_PORT
from fencepost.harness.plan.answers import ProbeAnswer
from fencepost.harness.plan.asked import Asked, Connection, RegisteredBroker
from fencepost.harness.plan.base import NodeRefOrNone, NodeRefsOrNone, Value
from fencepost.harness.plan.requests.commands import OfController, first_error, numbers
from fencepost.harness.plan.requests.request import isr_ids
from fencepost.harness.wire import commands


class LeaderAndIsrProbe(OfController):
    """LeaderAndIsr: the role of one replica, sent to the node that holds it."""

    phrase = "Send {node} LeaderAndIsr in the name of {controller}"
    request: Literal["leader-and-isr"] = "leader-and-isr"
    topic: str
    partition: Annotated[int, Field(ge=0)] = 0
    leader: NodeRefOrNone | None = None
    """None: the present leader; `none`: no leader."""
    leader_epoch: Value = "current"
    isr: NodeRefsOrNone | None = None
    """None: the present value."""
    version: Value = "current"
    """Version of the partition's state in ZooKeeper."""

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        name = f"{self.topic}-{self.partition}"
        sender, present = self.sent_by(run), run.decided_partition(name)
        leader_epoch = run.leader_epoch(self.leader_epoch, name)
        version = run.isr_version(self.version, name)
        leader = present.leader if self.leader is None else -1 if self.leader == "none" else run.id(self.leader)
        isr = isr_ids(self.isr, present.isr, run)
        partition = commands.LeaderAndIsrPartition(
            partition_index=i32(self.partition),
            controller_epoch=i32(sender.controller_epoch),
            leader=i32(leader),
            leader_epoch=i32(leader_epoch),
            isr=numbers(isr),
            version=i32(version),
            replicas=numbers(present.replicas),
            adding_replicas=numbers(present.adding),
            removing_replicas=numbers(present.removing),
        )
        live = run.decided.brokers.get(leader)
        topic = commands.LeaderAndIsrTopic(
            topic_name=self.topic, topic_id=run.decided.topic_id(self.topic), partitions=(partition,)
        )
        request = commands.LeaderAndIsrRequest(
            controller_id=i32(sender.controller),
            controller_epoch=i32(sender.controller_epoch),
            broker_epoch=i64(sender.broker_epoch),
            topics=(topic,),
            live_leaders=(_live_leader(live),) if live is not None else (),
        )
        answer = connection.call(request, commands.LeaderAndIsrResponse)
        errors = [each.error_code for topic in answer.topics for each in topic.partitions]
        sent = {**sender.sent, "leader": leader, "leader_epoch": leader_epoch, "isr": list(isr), "version": version}
        return first_error(answer.error_code, errors, sent)


def _live_leader(broker: RegisteredBroker) -> commands.LiveLeader:
    internal = next((each for each in broker.endpoints if each.listener == "INTERNAL"), None)
    return commands.LiveLeader(
        broker_id=i32(broker.id),
        host_name=internal.host if internal else "",
        port=i32(internal.port if internal else PEER_PORT),
    )
