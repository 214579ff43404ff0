"""The controller's news for the metadata of a broker."""

from __future__ import annotations

from typing import Literal

from kio.static.primitive import i16, i32, i64

from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection, RegisteredBroker
from fencepost.harness.plan.observed import DecidedPartition
from fencepost.harness.plan.requests.commands import OfController, numbers
from fencepost.harness.wire import commands

PROTOCOLS = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}


class UpdateMetadataProbe(OfController):
    """UpdateMetadata with the state that ZooKeeper has now. The epochs in it are what a broker checks."""

    phrase = "Send {node} UpdateMetadata in the name of {controller}"
    request: Literal["update-metadata"] = "update-metadata"

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        sender, decided = self.sent_by(run), run.decided
        by_topic: dict[str, list[DecidedPartition]] = {}
        for each in decided.partitions.values():
            by_topic.setdefault(each.topic, []).append(each)
        request = commands.UpdateMetadataRequest(
            controller_id=i32(sender.controller),
            controller_epoch=i32(sender.controller_epoch),
            broker_epoch=i64(sender.broker_epoch),
            topics=tuple(
                commands.UpdateMetadataTopic(
                    topic_name=topic,
                    topic_id=decided.topic_id(topic),
                    partitions=tuple(_described(each, sender.controller_epoch) for each in partitions),
                )
                for topic, partitions in by_topic.items()
            ),
            live_brokers=tuple(_live_broker(broker) for broker in decided.brokers.values() if broker.state == "active"),
        )
        return answered(connection.call(request, commands.UpdateMetadataResponse).error_code, sent=sender.sent)


def _live_broker(broker: RegisteredBroker) -> commands.UpdateMetadataBroker:
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


def _described(partition: DecidedPartition, controller_epoch: int) -> commands.UpdateMetadataPartition:
    return commands.UpdateMetadataPartition(
        partition_index=i32(partition.partition),
        controller_epoch=i32(controller_epoch),
        leader=i32(partition.leader),
        leader_epoch=i32(partition.leader_epoch),
        isr=numbers(partition.isr),
        version=i32(partition.version),
        replicas=numbers(partition.replicas),
    )
