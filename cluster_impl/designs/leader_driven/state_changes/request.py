"""One state change request from a leader or an admin command to a broker ("State change communication")."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from fencepost.cluster_impl.designs.leader_driven.znodes import NO_EPOCH_YET
from fencepost.cluster_impl.designs.leader_driven.znodes import request as request_path
from fencepost.cluster_impl.designs.on_zookeeper.document import Document, MalformedZnode
from fencepost.cluster_impl.designs.on_zookeeper.znodes import to_json
from fencepost.cluster_impl.replication.control_plane import TopicPartition

ADMIN = -1
"""The sender of a request that an admin command made."""


class StateChange(Enum):
    """The two state changes of the document, whose values are its words, and one of ours (decision DLD-51)."""

    START_REPLICA = "start-replica"
    CLOSE_REPLICA = "close-replica"
    PREFER_REPLICA = "prefer-replica"
    """For a leader: give way to the preferred replica."""


@dataclass(frozen=True, slots=True)
class StateChangeRequest:
    """A request about one replica. `epoch` is the leader's; `sender` is its broker id, or ADMIN."""

    change: StateChange
    partition: TopicPartition
    epoch: int
    sender: int

    @classmethod
    def by_admin(cls, change: StateChange, partition: TopicPartition) -> StateChangeRequest:
        """Return the request of an admin command, which has no epoch."""
        return cls(change, partition, NO_EPOCH_YET, ADMIN)

    @property
    def is_by_admin(self) -> bool:
        return self.sender == ADMIN


@dataclass(frozen=True, slots=True)
class QueuedRequest:
    """An entry in the queue of `broker_id`.

    `request` is None if the entry is unreadable, and `problem` says why. `name` is the name of the znode; names sort in
    the order in which requests were put.
    """

    broker_id: int
    name: str
    request: StateChangeRequest | None
    problem: str = ""

    @property
    def path(self) -> str:
        return request_path(self.broker_id, self.name)


def write_request(request: StateChangeRequest) -> bytes:
    """Return the request as the JSON of a queue entry."""
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
    """Return the request in a queue entry. Raises MalformedZnode."""
    document = Document.parse(path, data)
    name = document.text("request")
    try:
        change = StateChange(name)
    except ValueError:
        raise MalformedZnode(path, f"{name!r} is not a state change") from None
    return StateChangeRequest(
        change, document.topic_partition(), document.number("epoch", NO_EPOCH_YET), document.number("from", ADMIN)
    )
