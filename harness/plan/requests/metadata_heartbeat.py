"""KIP-343's heartbeat of a broker."""

from __future__ import annotations

from typing import Literal

from kio.static.primitive import i8, i32, i64
from pydantic import Field

from fencepost.harness.plan.answers import ProbeAnswer, compared
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, Value
from fencepost.harness.plan.requests.request import KafkaRequest, named
from fencepost.harness.wire import kip_343


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
        request = kip_343.MetadataHeartbeatRequest(
            broker_id=i32(broker),
            incarnation_id=i64(incarnation),
            target_state=i8(kip_343.HeartbeatState[self.state.upper()]),
        )
        answer = connection.call(request, kip_343.MetadataHeartbeatResponse)
        found = {
            "broker": answer.broker_id,
            "incarnation": answer.incarnation_id,
            "state": _state(answer.current_state),
        }
        claimed: dict[str, object] = {key: run.value(value) for key, value in self.answer.items()}
        sent = {"broker": broker, "incarnation": incarnation, "state": self.state}
        return compared(claimed, found, answer.error_code, message=answer.error_string, **found, sent=sent)


def _state(number: int) -> str:
    known = set(kip_343.HeartbeatState)
    return kip_343.HeartbeatState(number).name.lower() if number in known else str(number)
