"""A run in progress, as the requests of its plan see it. The engine brings what is described here.

A method that resolves a reference or a value waits a few seconds for a role without a node, or for a state that is
unknown, and raises StepError if it stays so.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import UUID

from fencepost.harness.plan.answers import ProbeAnswer
from fencepost.harness.plan.base import NodeRef, Value
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.observed import DecidedPartition, Resolved
from fencepost.harness.wire.versions import Api
from fencepost.results.records.journal import JournalWriter

if TYPE_CHECKING:
    from kio.static.protocol import RequestPayload, ResponsePayload

    from fencepost.harness.plan.requests.request import KafkaRequest

Response = TypeVar("Response", bound="ResponsePayload")


class Connection(Protocol):
    """A connection to a node that asks one thing at a time. Each method raises `wire.no_answer.NoAnswer`."""

    def newest(self, api: Api) -> Any:
        """Return kio's module of the newest version of a request that both sides have."""

    def newest_version(self, api: Api) -> int:
        """Return the newest version of a request that both sides have."""

    def call(self, request: RequestPayload, response: type[Response], timeout: float | None = None) -> Response:
        """Return the answer to `request`, read as `response`."""

    def send(self, request: RequestPayload) -> None:
        """Send what is not answered (acks=0)."""


class Endpoint(Protocol):
    """The advertised address of one listener of a broker."""

    @property
    def listener(self) -> str: ...

    @property
    def host(self) -> str: ...

    @property
    def port(self) -> int: ...

    @property
    def security(self) -> str: ...


class RegisteredBroker(Protocol):
    """The registration of a broker, as it was decided."""

    @property
    def id(self) -> int: ...

    @property
    def epoch(self) -> int: ...

    @property
    def state(self) -> str: ...

    @property
    def endpoints(self) -> Sequence[Endpoint]: ...


class DecidedState(Protocol):
    """All that was decided so far. `offset` is that of the last record of the log, or ZooKeeper's transaction."""

    @property
    def brokers(self) -> Mapping[int, RegisteredBroker]: ...

    @property
    def partitions(self) -> Mapping[str, DecidedPartition]: ...

    @property
    def offset(self) -> int: ...

    def topic_id(self, name: str) -> UUID | None: ...


class Asked(Resolved, Protocol):
    """The references and values of the plan, the decided state, and the node that receives the request."""

    @property
    def step(self) -> str:
        """The name of the probe."""

    @property
    def nth(self) -> int:
        """The number of the request among those of the probe, from 0 on."""

    @property
    def receiver(self) -> str: ...

    @property
    def journal(self) -> JournalWriter: ...

    @property
    def dialect(self) -> Dialect: ...

    @property
    def cluster_id(self) -> str: ...

    @property
    def uses_zookeeper(self) -> bool: ...

    @property
    def decided(self) -> DecidedState: ...

    def decided_partition(self, name: str) -> DecidedPartition:
        """Return the partition as it was decided."""

    def quorum_id(self, ref: NodeRef) -> int:
        """Return the id in the metadata quorum of the one node that a reference resolves to."""

    def isr_version(self, value: Value, partition: str) -> int:
        """Return the version of the ISR of `partition` that a plan's value stands for."""

    def controller_epoch(self, value: Value) -> int:
        """Return the controller epoch that a plan's value stands for."""

    def metadata_offset(self, value: Value) -> int:
        """Return the offset in the metadata log that a plan's value stands for."""

    def value(self, claim: Any) -> Any:
        """Return what a plan claims: a text `$name` stands for what is bound to it, also in lists and mappings."""

    def bind(self, name: str, value: Any) -> None:
        """Let `$name` stand for a value from now on."""

    def over_connection(self, probe: KafkaRequest) -> ProbeAnswer:
        """Return the answer to a request over a connection of its own, or the refusal of its login.

        Raise NoAnswer if the receiver cannot be connected to, or does not answer.
        """

    def dial(self, port: int, seconds: float) -> socket.socket:
        """Connect to a port of the receiver that is not for Kafka's protocol. Raise OSError if that fails."""

    def metadata_log(self, connection: Connection) -> Mapping[str, Any] | ProbeAnswer:
        """Read the committed metadata log of the KIP-631 draft as plain data, or return why it cannot be read."""
