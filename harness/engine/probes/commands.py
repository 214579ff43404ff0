"""Probes that send a broker a controller's commands: LeaderAndIsr, UpdateMetadata, StopReplica.

Besides the epochs under test they carry the state that ZooKeeper holds, so that a command that is accepted changes
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kio.schema.errors import ErrorCode
from kio.static.primitive import i16, i32, i64

from fencepost.harness.clients import commands
from fencepost.harness.clients.metadata.image import BrokerEntry, PartitionEntry
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.engine.probes.answer import ProbeAnswer, answered
from fencepost.harness.engine.references import References
from fencepost.harness.network.addresses import PEER_PORT
from fencepost.harness.plan.base import NodeRefs
from fencepost.harness.plan.probes import LeaderAndIsrProbe, StopReplicaProbe, UpdateMetadataProbe

PROTOCOLS = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}


@dataclass(frozen=True)
class CommandSender:
    """The controller in whose name a command is sent, and the epoch of the broker that receives it."""

    controller: int
    controller_epoch: int
    broker_epoch: int

    @classmethod
    def of(
        cls, probe: LeaderAndIsrProbe | UpdateMetadataProbe | StopReplicaProbe, node: str, references: References
    ) -> CommandSender:
        """Return the sender that a probe names, with its epochs as numbers."""
        return cls(
            references.id(probe.controller),
            references.controller_epoch(probe.controller_epoch),
            references.broker_epoch(probe.broker_epoch, node),
        )

    @property
    def sent(self) -> dict[str, object]:
        """Return the epochs that are sent, for the journal."""
        return {
            "controller": self.controller,
            "controller_epoch": self.controller_epoch,
            "broker_epoch": self.broker_epoch,
        }


def ask_leader_and_isr(
    probe: LeaderAndIsrProbe, node: str, connection: RawConnection, references: References
) -> ProbeAnswer:
    """Send LeaderAndIsr for one partition."""
    name = f"{probe.topic}-{probe.partition}"
    sender, entry = (
        CommandSender.of(probe, node, references),
        references.once_resolved(lambda: references.partition_entry(name)),
    )
    leader_epoch = references.leader_epoch(probe.leader_epoch, name)
    version = references.isr_version(probe.version, name)
    leader = entry.leader if probe.leader is None else -1 if probe.leader == "none" else _id(probe.leader, references)
    isr = ids(probe.isr, entry.isr, references)
    partition = commands.LeaderAndIsrPartition(
        partition_index=i32(probe.partition),
        controller_epoch=i32(sender.controller_epoch),
        leader=i32(leader),
        leader_epoch=i32(leader_epoch),
        isr=_numbers(isr),
        version=i32(version),
        replicas=_numbers(entry.replicas),
        adding_replicas=_numbers(entry.adding),
        removing_replicas=_numbers(entry.removing),
    )
    live = references.now.image.brokers.get(leader)
    request = commands.LeaderAndIsrRequest(
        controller_id=i32(sender.controller),
        controller_epoch=i32(sender.controller_epoch),
        broker_epoch=i64(sender.broker_epoch),
        topics=(
            commands.LeaderAndIsrTopic(
                topic_name=probe.topic, topic_id=references.now.image.topic_id(probe.topic), partitions=(partition,)
            ),
        ),
        live_leaders=(_live_leader(live),) if live is not None else (),
    )
    answer = connection.call(request, commands.LeaderAndIsrResponse)
    errors = [each.error_code for topic in answer.topics for each in topic.partitions]
    sent = {**sender.sent, "leader": leader, "leader_epoch": leader_epoch, "isr": list(isr), "version": version}
    return _first(answer.error_code, errors, sent)


def ask_update_metadata(
    probe: UpdateMetadataProbe, node: str, connection: RawConnection, references: References
) -> ProbeAnswer:
    """Send UpdateMetadata with all partitions and live brokers."""
    sender, image = CommandSender.of(probe, node, references), references.now.image
    by_topic: dict[str, list[PartitionEntry]] = {}
    for entry in image.partitions.values():
        by_topic.setdefault(entry.topic, []).append(entry)
    request = commands.UpdateMetadataRequest(
        controller_id=i32(sender.controller),
        controller_epoch=i32(sender.controller_epoch),
        broker_epoch=i64(sender.broker_epoch),
        topics=tuple(
            commands.UpdateMetadataTopic(
                topic_name=topic,
                topic_id=image.topic_id(topic),
                partitions=tuple(_described(entry, sender.controller_epoch) for entry in entries),
            )
            for topic, entries in by_topic.items()
        ),
        live_brokers=tuple(_live_broker(broker) for broker in image.brokers.values() if broker.state == "active"),
    )
    return answered(connection.call(request, commands.UpdateMetadataResponse).error_code, sent=sender.sent)


def ask_stop_replica(
    probe: StopReplicaProbe, node: str, connection: RawConnection, references: References
) -> ProbeAnswer:
    """Send StopReplica for one partition."""
    name = f"{probe.topic}-{probe.partition}"
    sender = CommandSender.of(probe, node, references)
    leader_epoch = references.leader_epoch(probe.leader_epoch, name)
    partition = commands.StopReplicaPartition(
        partition_index=i32(probe.partition), leader_epoch=i32(leader_epoch), delete_partition=probe.delete
    )
    request = commands.StopReplicaRequest(
        controller_id=i32(sender.controller),
        controller_epoch=i32(sender.controller_epoch),
        broker_epoch=i64(sender.broker_epoch),
        topics=(commands.StopReplicaTopic(topic_name=probe.topic, partitions=(partition,)),),
    )
    answer = connection.call(request, commands.StopReplicaResponse)
    sent = {**sender.sent, "leader_epoch": leader_epoch, "delete": probe.delete}
    return _first(answer.error_code, [each.error_code for each in answer.partitions], sent)


def _first(whole: ErrorCode, partitions: Sequence[ErrorCode], sent: Mapping[str, object]) -> ProbeAnswer:
    """Return the error of the whole request, else that of its partition. `of` says which it is."""
    if whole is not ErrorCode.none:
        return answered(whole, of="the request", sent=sent)
    error = next((each for each in partitions if each is not ErrorCode.none), ErrorCode.none)
    return answered(error, of="the partition", sent=sent) if error is not ErrorCode.none else answered(error, sent=sent)


def ids(refs: NodeRefs | None, present: tuple[int, ...], references: References) -> tuple[int, ...]:
    """Return the ids of the brokers that a probe names for an ISR: `present` if it names none, no id for `none`."""
    if refs is None:
        return present
    return () if refs == "none" else tuple(references.plan.node(node).id for node in references.nodes(refs))


def _id(ref: str, references: References) -> int:
    return references.id(ref)


def _numbers(ids: tuple[int, ...]) -> tuple[i32, ...]:
    return tuple(i32(id) for id in ids)


def _live_leader(broker: BrokerEntry) -> commands.LiveLeader:
    internal = next((each for each in broker.endpoints if each.listener == "INTERNAL"), None)
    return commands.LiveLeader(
        broker_id=i32(broker.id),
        host_name=internal.host if internal else "",
        port=i32(internal.port if internal else PEER_PORT),
    )


def _live_broker(broker: BrokerEntry) -> commands.UpdateMetadataBroker:
    return commands.UpdateMetadataBroker(
        id=i32(broker.id),
        endpoints=tuple(
            commands.UpdateMetadataEndpoint(
                port=i32(each.port),
                host=each.host,
                listener=each.listener,
                security_protocol=i16(PROTOCOLS.get(each.security, 0)),
            )
            for each in broker.endpoints
        ),
        broker_epoch=i64(broker.epoch),
    )


def _described(entry: PartitionEntry, controller_epoch: int) -> commands.UpdateMetadataPartition:
    return commands.UpdateMetadataPartition(
        partition_index=i32(entry.partition),
        controller_epoch=i32(controller_epoch),
        leader=i32(entry.leader),
        leader_epoch=i32(entry.leader_epoch),
        isr=_numbers(entry.isr),
        version=i32(entry.version),
        replicas=_numbers(entry.replicas),
    )
