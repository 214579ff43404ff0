"""A controller's heartbeat of the draft."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.plan.step_error import StepError
from fencepost.harness.wire.versions import DRAFT_CONTROLLER_HEARTBEAT


class ControllerHeartbeatProbe(KafkaRequest):
    """A controller's heartbeat of the draft, in the name of `controller`."""

    phrase = "Send {node} a heartbeat in the name of {controller}"
    request: Literal["controller-heartbeat"] = "controller-heartbeat"
    controller: NodeRef
    snapshot_offset: Annotated[int, Field(ge=0)] = 0
    """The end of the newest snapshot that the request reports; 0: there is none."""

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        if run.dialect is not Dialect.KIP_631:
            raise StepError("only the draft has heartbeats of controllers")
        body = {"controller_id": run.quorum_id(self.controller), "last_snapshot_offset": self.snapshot_offset}
        answer = DRAFT_CONTROLLER_HEARTBEAT.ask(connection, body)
        return answered(answer.error_code, start_snapshot=answer.start_snapshot)
