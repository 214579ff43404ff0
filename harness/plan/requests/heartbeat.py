"""A broker's heartbeat."""

from __future__ import annotations

import time
from enum import IntEnum
from typing import Annotated, Literal

from pydantic import Field

from fencepost.harness.network.addresses import CLIENT_PORT, PEER_PORT
from fencepost.harness.plan.answers import ProbeAnswer, answered, compared
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, Value
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.plan.step_error import StepError
from fencepost.harness.wire.versions import BROKER_HEARTBEAT, DRAFT_BROKER_HEARTBEAT

EVERY_LEVEL = {"name": "metadata.format", "min_version": 1, "max_version": 32767}
"""The report of probes: they read no metadata, so that no level of the cluster is beyond them."""


class DraftBrokerState(IntEnum):
    """The draft's states of a broker, as heartbeats carry them."""

    UNKNOWN = 0
    INITIAL = 1
    FENCED = 2
    ACTIVE = 3
    SHUTDOWN = 4


class HeartbeatProbe(KafkaRequest):
    """A broker's heartbeat in the name of `broker`, in the target's dialect.

    `state` is the draft's TargetState, or its number. Shipped Kafka has flags instead: `active` requests neither fence
    nor shutdown. The keys behind `metadata_offset` are for the draft only; `answer` claims values of its response.
    """

    phrase = "Send {node} a heartbeat in the name of {broker}"
    request: Literal["heartbeat"] = "heartbeat"
    broker: NodeRef
    broker_epoch: Value = "current"
    state: Literal["initial", "fenced", "active", "shutdown"] | Annotated[int, Field(ge=0, le=127)] = "active"
    metadata_offset: Value = "current"
    client_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """The port that the draft's heartbeat names for clients. None: that of the real broker."""
    lease_start_ms: Annotated[int, Field(ge=0)] | None = None
    """The start of the lease that the request names. None: now."""
    levels: Literal["all", "none"] = "all"
    """The levels of features that the request reports: all of them, or nothing, as software before features does."""
    unknown_tag: bool = False
    """Send a tagged field that no draft has."""
    answer: dict[Literal["active_controller", "next_state", "broker_epoch", "lease_ms"], str | int] = Field(
        default_factory=dict
    )
    """Values of the response; `lease_ms` is the end of the lease less its start. With another value the outcome is
    `different`."""

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        broker = run.node(self.broker)
        epoch = run.broker_epoch(self.broker_epoch, broker)
        offset = run.metadata_offset(self.metadata_offset)
        if run.dialect is Dialect.KIP_631:
            return self._of_draft(connection, run, broker, epoch, offset)
        if isinstance(self.state, int):
            raise StepError("shipped Kafka's heartbeat has flags in place of states with numbers")
        if self.state == "initial":
            raise StepError("shipped Kafka's heartbeat knows no initial state: that is its registration request")
        body = {
            "broker_id": run.id(broker),
            "broker_epoch": epoch,
            "current_metadata_offset": offset,
            "want_fence": self.state == "fenced",
            "want_shut_down": self.state == "shutdown",
        }
        answer = BROKER_HEARTBEAT.ask(connection, body)
        return answered(answer.error_code, sent={"broker_epoch": epoch}, is_fenced=answer.is_fenced)

    def _of_draft(self, connection: Connection, run: Asked, broker: str, epoch: int, offset: int) -> ProbeAnswer:
        """Send it with the endpoints of the real broker: if a lease is granted, its peers get them.

        A port is an int16, so one above 32767 is sent as the negative number of the same bits (D631-22).
        """
        start = int(time.time() * 1000) if self.lease_start_ms is None else self.lease_start_ms
        port = CLIENT_PORT if self.client_port is None else self.client_port
        state = self.state if isinstance(self.state, int) else DraftBrokerState[self.state.upper()]
        body = {
            "target_state": state,
            "broker_id": run.id(broker),
            "broker_epoch": epoch,
            "lease_start_time_ms": start,
            "cur_metadata_offset": offset,
            "listeners": [
                {"name": "INTERNAL", "host": broker, "port": PEER_PORT},
                {"name": "CLIENT", "host": broker, "port": (port ^ 0x8000) - 0x8000},
            ],
            "features": [EVERY_LEVEL] if self.levels == "all" else [],
            "unknown": "not in the draft" if self.unknown_tag else "",
        }
        answer = DRAFT_BROKER_HEARTBEAT.ask(connection, body)
        found: dict[str, object] = {
            "active_controller": answer.active_controller_id,
            "next_state": DraftBrokerState(answer.next_state).name.lower(),
            "broker_epoch": answer.broker_epoch,
            "lease_ms": answer.lease_end_time_ms - start,
        }
        claimed: dict[str, object] = {key: run.value(value) for key, value in self.answer.items()}
        sent = {"broker_epoch": epoch, "lease_start_ms": start}
        return compared(claimed, found, answer.error_code, sent=sent, **found)
