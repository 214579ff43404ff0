"""The requests that poll every node, and the connection that carries them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from kio.schema.errors import ErrorCode

from fencepost.harness.clients.login import PLAINTEXT, Access, connect
from fencepost.harness.clients.raw import NoAnswer, RawConnection
from fencepost.harness.clients.views import Answer, BrokerView, ControllerView, PartitionView
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.internal_topics import GROUP_COORDINATOR
from fencepost.harness.plan.requests.describe_quorum import request_quorum
from fencepost.harness.plan.requests.metadata import leader_epoch, request_metadata
from fencepost.harness.wire.versions import FIND_COORDINATOR

SILENT_AFTER = 0.6
"""Seconds without an answer that count as silence."""

Result = TypeVar("Result")


class ReconnectingConnection:
    """A connection that is opened on demand, and again after it was lost."""

    def __init__(self, endpoint: Endpoint, access: Access = PLAINTEXT) -> None:
        self._endpoint = endpoint
        self._access = access
        self._connection: RawConnection | None = None

    def ask(self, question: Callable[[RawConnection], Result]) -> Result:
        """Call `question` with the connection. Raises NoAnswer if it cannot be opened, or does not answer."""
        try:
            if self._connection is None:
                self._connection = connect(self._endpoint, SILENT_AFTER, self._access)
            return question(self._connection)
        except NoAnswer:
            self._connection = None
            raise

    def __enter__(self) -> ReconnectingConnection:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()


def ask_metadata(connection: RawConnection, topics: Collection[str] | None = None) -> BrokerView:
    """Request the metadata of these topics, or of all. Raises NoAnswer."""
    answer = request_metadata(connection, topics)
    if not answer.brokers:
        return BrokerView(Answer.REFUSING)
    partitions = {
        f"{topic.name}-{partition.partition_index}": PartitionView(
            topic.name or "",
            partition.partition_index,
            partition.leader_id,
            leader_epoch(partition),
            tuple(partition.isr_nodes),
            tuple(getattr(partition, "offline_replicas", ())),
            str(known) if (known := getattr(topic, "topic_id", None)) else None,
            tuple(partition.replica_nodes),
        )
        for topic in answer.topics
        for partition in topic.partitions
    }
    return BrokerView(Answer.SERVING, frozenset(broker.node_id for broker in answer.brokers), partitions)


def ask_coordinator(connection: RawConnection, role: str) -> int | None:
    """Request the id of the broker that coordinates `coordinator:GROUP` or `transaction-coordinator:ID`.

    Return None if there is none now. Raise NoAnswer.
    """
    kind, _, key = role.partition(":")
    answer = FIND_COORDINATOR.ask(connection, {"key": key, "key_type": int(kind != GROUP_COORDINATOR)})
    return int(answer.node_id) if answer.error_code is ErrorCode.none else None


def ask_controller(connection: RawConnection) -> int:
    """Request the id of the controller that this broker names, -1 for none. Raises NoAnswer."""
    return int(request_metadata(connection, ()).controller_id)


def ask_quorum(connection: RawConnection, dialect: Dialect) -> ControllerView:
    """Request the state of the metadata quorum. Raises NoAnswer."""
    answer = request_quorum(connection, dialect)
    if answer.error_code is not ErrorCode.none or not answer.topics:
        return ControllerView(Answer.REFUSING)
    partition = answer.topics[0].partitions[0]
    if partition.error_code is ErrorCode.not_leader_or_follower:
        return ControllerView(Answer.STANDBY)
    if partition.error_code is not ErrorCode.none:
        return ControllerView(Answer.REFUSING)
    return ControllerView(Answer.SERVING, partition.leader_id, partition.leader_epoch, partition.high_watermark)
