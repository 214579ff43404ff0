"""The znodes that all designs on ZooKeeper have, in the format of Kafka 3.9: cluster id and block of producer ids."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from fencepost.cluster_impl.designs.on_zookeeper.document import Document, MalformedZnode

CLUSTER_ID = "/cluster/id"
PRODUCER_ID_BLOCK = "/latest_producer_id_block"


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    """The producer ids of one broker, from `first` to `last`, both included."""

    broker_id: int
    first: int
    last: int


def to_json(members: Mapping[str, Any]) -> bytes:
    return json.dumps(members, separators=(",", ":")).encode()


def write_uuid(value: UUID) -> str:
    """Return Kafka's text of a UUID: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(value.bytes).rstrip(b"=").decode()


def read_uuid(path: str, text: str) -> UUID:
    try:
        return UUID(bytes=base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        raise MalformedZnode(path, f"{text!r} is not the id of a topic") from None


def write_cluster_id(cluster_id: str) -> bytes:
    return to_json({"version": "1", "id": cluster_id})


def read_cluster_id(data: bytes) -> str:
    return Document.parse(CLUSTER_ID, data, 1).text("id")


def write_producer_id_block(block: ProducerIdBlock) -> bytes:
    return to_json(
        {"version": 1, "broker": block.broker_id, "block_start": str(block.first), "block_end": str(block.last)}
    )


def read_producer_id_block(data: bytes) -> ProducerIdBlock:
    document = Document.parse(PRODUCER_ID_BLOCK, data, 1)
    return ProducerIdBlock(document.number("broker"), document.number("block_start"), document.number("block_end"))
