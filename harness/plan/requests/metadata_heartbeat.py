"""KIP-343's heartbeat of a broker."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

from pydantic import Field

from fencepost.harness.plan.answers import ProbeAnswer, compared
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, Value
from fencepost.harness.plan.requests.request import KafkaRequest, named
from fencepost.harness.wire.versions import METADATA_HEARTBEAT


class HeartbeatState(IntEnum):
    """KIP-343, BrokerState Enum."""

    INITIAL = 0
    INACTIVE = 1
    ACTIVE = 2
    STOPPING = 3


class MetadataHeartbeatProbe(KafkaRequest):
    """KIP-343's heartbeat in the name of `broker`; `answer` claims values of its response."""

    phrase = "Send {node} a heartbeat in the name of {broker}"
    request: Literal["metadata-heartbeat"] = "metadata-heartbeat"
    broker: NodeRef
    incarnation: Value = "current"
    state: Literal["initial", "inactive", "active", "stopping"] = "active"
    answer: dict[Literal["broker", "incarnation", "state"], str | int] = Field(default_factory=dict)
    """Values of the response. With another value the outcome is `different`."""

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        broker, incarnation = named(self.broker, self.incarnation, run)
        state = HeartbeatState[self.state.upper()]
        body = {"broker_id": broker, "incarnation_id": incarnation, "target_state": state}
        answer = METADATA_HEARTBEAT.ask(connection, body)
        found = {
            "broker": answer.broker_id,
            "incarnation": answer.incarnation_id,
            "state": _state(answer.current_state),
        }
        claimed: dict[str, object] = {key: run.value(value) for key, value in self.answer.items()}
        sent = {"broker": broker, "incarnation": incarnation, "state": self.state}
        return compared(claimed, found, answer.error_code, message=answer.error_string, **found, sent=sent)


def _state(number: int) -> str:
    known = set(HeartbeatState)
    return HeartbeatState(number).name.lower() if number in known else str(number)
