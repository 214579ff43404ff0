"""The controller's command to lead or to follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from fencepost.harness.network.addresses import PEER_PORT
from fencepost.harness.plan.answers import ProbeAnswer
from fencepost.harness.plan.asked import Asked, Connection, RegisteredBroker
from fencepost.harness.plan.base import NodeRefOrNone, NodeRefsOrNone, Value
from fencepost.harness.plan.requests.commands import OfController, first_error
from fencepost.harness.plan.requests.request import isr_ids
from fencepost.harness.wire.versions import LEADER_AND_ISR

INCREMENTAL = 1
"""LeaderAndIsr of this type leaves partitions that it does not name as they are."""


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
        partition = {
            "partition_index": self.partition,
            "controller_epoch": sender.controller_epoch,
            "leader": leader,
            "leader_epoch": leader_epoch,
            "isr": isr,
            "partition_epoch": version,
            "replicas": present.replicas,
            "adding_replicas": present.adding,
            "removing_replicas": present.removing,
        }
        topic_id, live = run.decided.topic_id(self.topic), run.decided.brokers.get(leader)
        topic = {"topic_name": self.topic, "topic_id": topic_id, "partition_states": [partition]}
        live_leaders = [] if live is None else [_live_leader(live)]
        body = {**sender.fields, "type": INCREMENTAL, "topic_states": [topic], "live_leaders": live_leaders}
        answer = LEADER_AND_ISR.ask(connection, body)
        errors = [each.error_code for topic in answer.topics for each in topic.partition_errors]
        sent = {**sender.sent, "leader": leader, "leader_epoch": leader_epoch, "isr": list(isr), "version": version}
        return first_error(answer.error_code, errors, sent)


def _live_leader(broker: RegisteredBroker) -> Mapping[str, object]:
    internal = next((each for each in broker.endpoints if each.listener == "INTERNAL"), None)
    host, port = (internal.host, internal.port) if internal else ("", PEER_PORT)
    return {"broker_id": broker.id, "host_name": host, "port": port}
