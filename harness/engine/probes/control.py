"""Probes that send requests to a controller, in the name of a broker or of another controller."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from uuid import UUID

from kio.schema.broker_heartbeat.v0.request import BrokerHeartbeatRequest
from kio.schema.broker_heartbeat.v0.response import BrokerHeartbeatResponse
from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId, TopicName
from kio.schema.vote.v0 import request as vote
from kio.schema.vote.v0.response import VoteResponse
from kio.static.primitive import i8, i16, i32, i64

from fencepost.harness.clients import drafts
from fencepost.harness.clients.asking import request_quorum
from fencepost.harness.clients.metadata.fetching import DRAFT_TOPIC, KRAFT_TOPIC
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.clients.versions import ALTER_PARTITION, entity
from fencepost.harness.engine.errors import StepError
from fencepost.harness.engine.probes.answer import ProbeAnswer, ProbeOutcome, answered
from fencepost.harness.engine.probes.claims import compared
from fencepost.harness.engine.references import References
from fencepost.harness.network.addresses import CLIENT_PORT, PEER_PORT
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.probes import (
    AlterIsrProbe,
    ControllerHeartbeatProbe,
    DescribeQuorumProbe,
    HeartbeatProbe,
    VoteProbe,
)

STATES = {
    "initial": drafts.DraftBrokerState.INITIAL,
    "fenced": drafts.DraftBrokerState.FENCED,
    "active": drafts.DraftBrokerState.ACTIVE,
    "shutdown": drafts.DraftBrokerState.SHUTDOWN,
}


def ask_heartbeat(probe: HeartbeatProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Send a broker's heartbeat in the target's dialect. Raise StepError for a state that the dialect lacks."""
    broker = references.node(probe.broker)
    epoch = references.broker_epoch(probe.broker_epoch, broker)
    offset = references.number(probe.metadata_offset, "the metadata offset", lambda: references.now.image.offset)
    if references.dialect is Dialect.KIP_631:
        return _draft_heartbeat(probe, connection, references, broker, epoch, offset)
    if isinstance(probe.state, int):
        raise StepError("shipped Kafka's heartbeat has flags in place of states with numbers")
    if probe.state == "initial":
        raise StepError("shipped Kafka's heartbeat knows no initial state: that is its registration request")
    answer = connection.call(
        BrokerHeartbeatRequest(
            broker_id=BrokerId(references.plan.node(broker).id),
            broker_epoch=i64(epoch),
            current_metadata_offset=i64(offset),
            want_fence=probe.state == "fenced",
            want_shut_down=probe.state == "shutdown",
        ),
        BrokerHeartbeatResponse,
    )
    return answered(answer.error_code, sent={"broker_epoch": epoch}, is_fenced=answer.is_fenced)


def _draft_heartbeat(
    probe: HeartbeatProbe,
    connection: RawConnection,
    references: References,
    broker: str,
    epoch: int,
    offset: int,
) -> ProbeAnswer:
    """Send the draft's heartbeat, with the endpoints of the real broker: if a lease is granted, its peers get them.

    A port is an int16, so one above 32767 is sent as the negative number of the same bits (D631-22).
    """
    start = int(time.time() * 1000) if probe.lease_start_ms is None else probe.lease_start_ms
    port = CLIENT_PORT if probe.client_port is None else probe.client_port
    answer = connection.call(
        drafts.BrokerHeartbeatRequest(
            target_state=i8(STATES[probe.state] if isinstance(probe.state, str) else probe.state),
            broker_id=i32(references.plan.node(broker).id),
            broker_epoch=i64(epoch),
            lease_start_time_ms=i64(start),
            cur_metadata_offset=i64(offset),
            listeners=(
                drafts.HeartbeatListener(name="INTERNAL", host=broker, port=i16(PEER_PORT)),
                drafts.HeartbeatListener(name="CLIENT", host=broker, port=i16((port ^ 0x8000) - 0x8000)),
            ),
            features=(drafts.EVERY_LEVEL,) if probe.levels == "all" else (),
            unknown="not in the draft" if probe.unknown_tag else "",
        ),
        drafts.BrokerHeartbeatResponse,
    )
    found: dict[str, object] = {
        "active_controller": answer.active_controller_id,
        "next_state": drafts.DraftBrokerState(answer.next_state).name.lower(),
        "broker_epoch": answer.broker_epoch,
        "lease_ms": answer.lease_end_time_ms - start,
    }
    claimed: dict[str, object] = {key: references.value(value) for key, value in probe.answer.items()}
    body = {"sent": {"broker_epoch": epoch, "lease_start_ms": start}, **found}
    return compared(claimed, found, answer.error_code, **body)


def ask_controller_heartbeat(
    probe: ControllerHeartbeatProbe, connection: RawConnection, references: References
) -> ProbeAnswer:
    """Send the heartbeat of a controller. Raise StepError outside of the draft's dialect."""
    if references.dialect is not Dialect.KIP_631:
        raise StepError("only the draft has heartbeats of controllers")
    answer = connection.call(
        drafts.ControllerHeartbeatRequest(
            controller_id=i32(references.plan.node(references.node(probe.controller)).quorum_id),
            last_snapshot_offset=i64(probe.snapshot_offset),
        ),
        drafts.ControllerHeartbeatResponse,
    )
    return answered(answer.error_code, start_snapshot=answer.start_snapshot)


def ask_alter_isr(probe: AlterIsrProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Send an ISR change of one partition in the target's dialect."""
    name = f"{probe.topic}-{probe.partition}"
    broker = references.node(probe.broker)
    entry = references.once_resolved(lambda: references.partition_entry(name))
    broker_epoch = references.broker_epoch(probe.broker_epoch, broker)
    leader_epoch = references.leader_epoch(probe.leader_epoch, name)
    version = references.isr_version(probe.version, name)
    isr = entry.isr if probe.isr is None else tuple(references.plan.node(n).id for n in references.nodes(probe.isr))
    change = IsrChange(
        references.plan.node(broker).id, broker_epoch, probe.topic, probe.partition, leader_epoch, version, isr
    )
    if references.dialect is Dialect.KIP_631:
        return _draft_alter_isr(connection, change)
    return _alter_partition(connection, change, references.now.image.topic_id(probe.topic))


@dataclass(frozen=True)
class IsrChange:
    """A requested ISR, in either dialect. `version` is the draft's CurrentIsrVersion or Kafka's partition epoch."""

    broker: int
    broker_epoch: int
    topic: str
    partition: int
    leader_epoch: int
    version: int
    isr: tuple[int, ...]


def _draft_alter_isr(connection: RawConnection, change: IsrChange) -> ProbeAnswer:
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


def _alter_partition(connection: RawConnection, change: IsrChange, topic_id: UUID | None) -> ProbeAnswer:
    """Send AlterPartition. Members have epoch -1, which skips their check: the probe is about the sender's epochs."""
    api = connection.newest(ALTER_PARTITION)
    members = tuple(map(BrokerId, change.isr))
    with_epochs = getattr(api.request, "BrokerState", None)  # since version 3 (KIP-903)
    partition = entity(
        api.request.PartitionData,
        partition_index=i32(change.partition),
        leader_epoch=i32(change.leader_epoch),
        new_isr=members,
        new_isr_with_epochs=tuple(with_epochs(broker_id=id) for id in members) if with_epochs else (),
        partition_epoch=i32(change.version),
    )
    request = api.AlterPartitionRequest(
        broker_id=BrokerId(change.broker),
        broker_epoch=i64(change.broker_epoch),
        topics=(api.request.TopicData(topic_id=topic_id, partitions=(partition,)),),
    )
    answer = connection.call(request, api.AlterPartitionResponse)
    if answer.error_code is not ErrorCode.none or not answer.topics:
        return answered(answer.error_code, sent=asdict(change))
    found = answer.topics[0].partitions[0]
    return answered(found.error_code, leader_epoch=found.leader_epoch, isr=list(found.isr), sent=asdict(change))


def ask_describe_quorum(probe: DescribeQuorumProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Ask for the leader, epoch and high watermark of the metadata log."""
    answer = request_quorum(connection, references.dialect)
    if answer.error_code is not ErrorCode.none or not answer.topics:
        return answered(answer.error_code)
    found = answer.topics[0].partitions[0]
    return answered(
        found.error_code, leader=found.leader_id, epoch=found.leader_epoch, high_watermark=found.high_watermark
    )


def ask_vote(probe: VoteProbe, connection: RawConnection, references: References, cluster_id: str) -> ProbeAnswer:
    """Request a vote; a granted vote is `served`. The candidate claims a log as long as the one that was read."""
    candidate = references.plan.node(references.node(probe.candidate))
    epoch = references.controller_epoch(probe.epoch)
    partition = vote.PartitionData(
        partition_index=i32(0),
        replica_epoch=i32(epoch),
        replica_id=BrokerId(candidate.id),
        last_offset_epoch=i32(max(epoch - 1, 0)),
        last_offset=i64(references.now.image.offset + 1),
    )
    request = vote.VoteRequest(
        cluster_id=probe.cluster or cluster_id,
        topics=(vote.TopicData(topic_name=_metadata_topic(references), partitions=(partition,)),),
    )
    answer = connection.call(request, VoteResponse)
    if answer.error_code is not ErrorCode.none or not answer.topics:
        return answered(answer.error_code, sent={"epoch": epoch})
    found = answer.topics[0].partitions[0]
    body = {"granted": found.vote_granted, "epoch": found.leader_epoch, "sent": {"epoch": epoch}}
    if found.error_code is ErrorCode.none and not found.vote_granted:
        return ProbeAnswer(ProbeOutcome.REFUSED, None, body)
    return answered(found.error_code, **body)


def _metadata_topic(references: References) -> TopicName:
    return TopicName(KRAFT_TOPIC if references.dialect is Dialect.KRAFT else DRAFT_TOPIC)
