"""One state change request: what a leader, or an admin command, asks of a broker ("State change communication")."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cluster_impl.designs.leader_driven.znodes import NO_EPOCH_YET
from cluster_impl.designs.leader_driven.znodes import request as request_path
from cluster_impl.designs.on_zookeeper.document import Document, MalformedZnode
from cluster_impl.designs.on_zookeeper.znodes import to_json
from cluster_impl.replication.control_plane import TopicPartition

ADMIN = -1
"""Who asks, if it is an admin command and no leader."""


class StateChange(Enum):
    START_REPLICA = "start-replica"
    CLOSE_REPLICA = "close-replica"


@dataclass(frozen=True, slots=True)
class StateChangeRequest:
    """`epoch` is the leader's; `sender` its broker id, or ADMIN."""

    change: StateChange
    partition: TopicPartition
    epoch: int
    sender: int

    @classmethod
    def by_admin(cls, change: StateChange, partition: TopicPartition) -> StateChangeRequest:
        return cls(change, partition, NO_EPOCH_YET, ADMIN)

    @property
    def is_by_admin(self) -> bool:
        return self.sender == ADMIN


@dataclass(frozen=True, slots=True)
class Queued:
    """A request in the queue of `broker_id`, or what is there in its place: `request` is None if nobody can read it,
    and `problem` says why. `name` is that of the znode; names sort as the requests were put."""

    broker_id: int
    name: str
    request: StateChangeRequest | None
    problem: str = ""

    @property
    def path(self) -> str:
        return request_path(self.broker_id, self.name)


def write_request(request: StateChangeRequest) -> bytes:
    return to_json(
        {
            "request": request.change.value,
            "topic": request.partition.topic,
            "partition": request.partition.partition,
            "epoch": request.epoch,
            "from": request.sender,
        }
    )


def read_request(path: str, data: bytes) -> StateChangeRequest:
    document = Document.parse(path, data)
    name = document.text("request")
    try:
        change = StateChange(name)
    except ValueError:
        raise MalformedZnode(path, f"{name!r} is no state change") from None
    return StateChangeRequest(
        change, document.topic_partition(), document.number("epoch", NO_EPOCH_YET), document.number("from", ADMIN)
    )
