"""Probes that ask a controller, in the name of a broker or of another controller."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from uuid import UUID

from kio.schema.alter_partition.v3 import request as alter_partition
from kio.schema.alter_partition.v3.response import AlterPartitionResponse
from kio.schema.broker_heartbeat.v0.request import BrokerHeartbeatRequest
from kio.schema.broker_heartbeat.v0.response import BrokerHeartbeatResponse
from kio.schema.describe_quorum.v1 import request as describe_quorum
from kio.schema.describe_quorum.v1.response import DescribeQuorumResponse
from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId, TopicName
from kio.schema.vote.v0 import request as vote
from kio.schema.vote.v0.response import VoteResponse
from kio.static.primitive import i8, i16, i32, i64

from harness.clients import drafts
from harness.clients.metadata.tail import DRAFT_TOPIC, KRAFT_TOPIC
from harness.clients.raw import RawConnection
from harness.engine.context import Context, StepError
from harness.engine.probes.answer import Answer, Outcome, answered
from harness.network.addresses import CLIENT_PORT, PEER_PORT
from harness.plan.probes import AlterIsrProbe, DescribeQuorumProbe, HeartbeatProbe, VoteProbe
from harness.targets.target import Dialect

STATES = {
    "initial": drafts.BrokerState.INITIAL,
    "fenced": drafts.BrokerState.FENCED,
    "active": drafts.BrokerState.ACTIVE,
    "shutdown": drafts.BrokerState.SHUTDOWN,
}


def ask_heartbeat(probe: HeartbeatProbe, connection: RawConnection, context: Context) -> Answer:
    broker = context.node(probe.broker)
    id = context.plan.node(broker).id
    epoch = context.number(
        probe.broker_epoch, f"the broker epoch of {broker}", lambda: context.broker_entry(broker).epoch
    )
    offset = context.number(probe.metadata_offset, "the metadata offset", lambda: context.now.image.offset)
    if context.dialect is Dialect.KIP_631:
        return _draft_heartbeat(probe, connection, broker, id, epoch, offset)
    if probe.state == "initial":
        raise StepError("shipped Kafka's heartbeat knows no initial state: that is its registration request")
    answer = connection.call(
        BrokerHeartbeatRequest(
            broker_id=BrokerId(id),
            broker_epoch=i64(epoch),
            current_metadata_offset=i64(offset),
            want_fence=probe.state == "fenced",
            want_shut_down=probe.state == "shutdown",
        ),
        BrokerHeartbeatResponse,
    )
    return answered(answer.error_code, sent={"broker_epoch": epoch}, is_fenced=answer.is_fenced)


def _draft_heartbeat(
    probe: HeartbeatProbe, connection: RawConnection, broker: str, id: int, epoch: int, offset: int
) -> Answer:
    """The endpoints are those that the real broker names; a granted lease would otherwise lead its peers astray."""
    answer = connection.call(
        drafts.BrokerHeartbeatRequest(
            target_state=i8(STATES[probe.state]),
            broker_id=i32(id),
            broker_epoch=i64(epoch),
            lease_start_time_ms=i64(int(time.time() * 1000)),
            cur_metadata_offset=i64(offset),
            listeners=(
                drafts.Listener(name="INTERNAL", host=broker, port=i16(PEER_PORT)),
                drafts.Listener(name="CLIENT", host=broker, port=i16(CLIENT_PORT)),
            ),
        ),
        drafts.BrokerHeartbeatResponse,
    )
    return answered(
        answer.error_code,
        sent={"broker_epoch": epoch},
        active_controller=answer.active_controller_id,
        next_state=drafts.BrokerState(answer.next_state).name.lower(),
        broker_epoch=answer.broker_epoch,
        lease_end=datetime.fromtimestamp(answer.lease_end_time_ms / 1000, UTC).isoformat(),
    )


def ask_alter_isr(probe: AlterIsrProbe, connection: RawConnection, context: Context) -> Answer:
    name = f"{probe.topic}-{probe.partition}"
    broker = context.node(probe.broker)
    entry = context.patiently(lambda: context.partition_entry(name))
    broker_epoch = context.number(
        probe.broker_epoch, f"the broker epoch of {broker}", lambda: context.broker_entry(broker).epoch
    )
    leader_epoch = context.number(
        probe.leader_epoch, f"the leader epoch of {name}", lambda: context.partition_entry(name).leader_epoch
    )
    version = context.number(probe.version, f"the ISR version of {name}", lambda: context.partition_entry(name).version)
    isr = entry.isr if probe.isr is None else tuple(context.plan.node(n).id for n in context.nodes(probe.isr))
    change = IsrChange(
        context.plan.node(broker).id, broker_epoch, probe.topic, probe.partition, leader_epoch, version, isr
    )
    if context.dialect is Dialect.KIP_631:
        return _draft_alter_isr(connection, change)
    return _alter_partition(connection, change, context.now.image.topic_id(probe.topic))


@dataclass(frozen=True)
class IsrChange:
    """What is asked for, in either dialect. `version` is the draft's CurrentIsrVersion or Kafka's partition epoch."""

    broker: int
    broker_epoch: int
    topic: str
    partition: int
    leader_epoch: int
    version: int
    isr: tuple[int, ...]


def _draft_alter_isr(connection: RawConnection, change: IsrChange) -> Answer:
    partition = drafts.AlterIsrPartition(
        partition_index=i32(change.partition),
        leader_epoch=i32(change.leader_epoch),
        new_isr=tuple(i32(id) for id in change.isr),
        current_isr_version=i32(change.version),
    )
    request = drafts.AlterIsrRequest(
        broker_id=i32(change.broker),
        broker_epoch=i64(change.broker_epoch),
        topics=(drafts.AlterIsrTopic(name=change.topic, partitions=(partition,)),),
    )
    answer = connection.call(request, drafts.AlterIsrResponse)
    if answer.error_code is not ErrorCode.none or not answer.topics:
        return answered(answer.error_code, sent=asdict(change))
    found = answer.topics[0].partitions[0]
    return answered(found.error_code, leader_epoch=found.leader_epoch, isr=list(found.isr), sent=asdict(change))


def _alter_partition(connection: RawConnection, change: IsrChange, topic_id: UUID | None) -> Answer:
    """Members go with epoch -1, which skips that check: the probe is about the sender's epochs."""
    partition = alter_partition.PartitionData(
        partition_index=i32(change.partition),
        leader_epoch=i32(change.leader_epoch),
        new_isr_with_epochs=tuple(alter_partition.BrokerState(broker_id=BrokerId(id)) for id in change.isr),
        partition_epoch=i32(change.version),
    )
    request = alter_partition.AlterPartitionRequest(
        broker_id=BrokerId(change.broker),
        broker_epoch=i64(change.broker_epoch),
        topics=(alter_partition.TopicData(topic_id=topic_id, partitions=(partition,)),),
    )
    answer = connection.call(request, AlterPartitionResponse)
    if answer.error_code is not ErrorCode.none or not answer.topics:
        return answered(answer.error_code, sent=asdict(change))
    found = answer.topics[0].partitions[0]
    return answered(found.error_code, leader_epoch=found.leader_epoch, isr=list(found.isr), sent=asdict(change))


def ask_describe_quorum(probe: DescribeQuorumProbe, connection: RawConnection, context: Context) -> Answer:
    topic = describe_quorum.TopicData(
        topic_name=_metadata_topic(context),
        partitions=(describe_quorum.PartitionData(partition_index=i32(0)),),
    )
    answer = connection.call(describe_quorum.DescribeQuorumRequest(topics=(topic,)), DescribeQuorumResponse)
    if answer.error_code is not ErrorCode.none or not answer.topics:
        return answered(answer.error_code)
    found = answer.topics[0].partitions[0]
    return answered(
        found.error_code, leader=found.leader_id, epoch=found.leader_epoch, high_watermark=found.high_watermark
    )


def ask_vote(probe: VoteProbe, connection: RawConnection, context: Context) -> Answer:
    """Granting is serving. The candidate claims a log as long as the one that was read."""
    candidate = context.plan.node(context.node(probe.candidate))
    now = context.now
    epoch = context.number(
        probe.epoch, "the controller epoch", lambda: now.controllers[context.active_controller()].epoch
    )
    partition = vote.PartitionData(
        partition_index=i32(0),
        replica_epoch=i32(epoch),
        replica_id=BrokerId(candidate.id),
        last_offset_epoch=i32(max(epoch - 1, 0)),
        last_offset=i64(now.image.offset + 1),
    )
    request = vote.VoteRequest(
        cluster_id=probe.cluster or context.cluster.cluster_id,
        topics=(vote.TopicData(topic_name=_metadata_topic(context), partitions=(partition,)),),
    )
    answer = connection.call(request, VoteResponse)
    if answer.error_code is not ErrorCode.none or not answer.topics:
        return answered(answer.error_code, sent={"epoch": epoch})
    found = answer.topics[0].partitions[0]
    body = {"granted": found.vote_granted, "epoch": found.leader_epoch, "sent": {"epoch": epoch}}
    if found.error_code is ErrorCode.none and not found.vote_granted:
        return Answer(Outcome.REFUSED, None, body)
    return answered(found.error_code, **body)


def _metadata_topic(context: Context) -> TopicName:
    return TopicName(KRAFT_TOPIC if context.dialect is Dialect.KRAFT else DRAFT_TOPIC)
