"""The controller's news for the metadata of a broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection, RegisteredBroker
from fencepost.harness.plan.observed import DecidedPartition
from fencepost.harness.plan.requests.commands import OfController
from fencepost.harness.wire.versions import UPDATE_METADATA

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
        topics = [
            {
                "topic_name": topic,
                "topic_id": decided.topic_id(topic),
                "partition_states": [_described(each, sender.controller_epoch) for each in partitions],
            }
            for topic, partitions in by_topic.items()
        ]
        live = [_live_broker(broker) for broker in decided.brokers.values() if broker.state == "active"]
        body = {**sender.fields, "topic_states": topics, "live_brokers": live}
        return answered(UPDATE_METADATA.ask(connection, body).error_code, sent=sender.sent)


def _live_broker(broker: RegisteredBroker) -> Mapping[str, object]:
    endpoints = [
        {
            "port": endpoint.port,
            "host": endpoint.host,
            "listener": endpoint.listener,
            "security_protocol": PROTOCOLS.get(endpoint.security, 0),
        }
        for endpoint in broker.endpoints
    ]
    return {"id": broker.id, "endpoints": endpoints, "broker_epoch": broker.epoch}


def _described(partition: DecidedPartition, controller_epoch: int) -> Mapping[str, object]:
    return {
        "partition_index": partition.partition,
        "controller_epoch": controller_epoch,
        "leader": partition.leader,
        "leader_epoch": partition.leader_epoch,
        "isr": partition.isr,
        "zk_version": partition.version,
        "replicas": partition.replicas,
    }
