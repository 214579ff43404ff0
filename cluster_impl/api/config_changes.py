"""AlterConfigs and IncrementalAlterConfigs, which the control plane decides, and the shape of their responses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request

AlterRequest = m.AlterConfigsRequest | m.IncrementalAlterConfigsRequest
AlterResponse = m.AlterConfigsResponse | m.IncrementalAlterConfigsResponse


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one resource of a request."""

    type: int
    name: str
    error: Error = Error.NONE
    message: str | None = None


class ConfigChanges:
    """Forwards requests to the control plane, and answers with an error if no node responds."""

    def __init__(self, control: ControlPlane) -> None:
        self._control = control

    async def handle(self, body: AlterRequest, request: Request) -> Message:
        try:
            return await self._control.forward(body, request.version)
        except (ConnectionError, TimeoutError) as error:
            return refused_changes(body, request, Error.REQUEST_TIMED_OUT, str(error))


def response_to(request: AlterRequest, outcomes: Iterable[Outcome]) -> AlterResponse:
    """Return the response of the request's kind."""
    if isinstance(request, m.AlterConfigsRequest):
        replaced = m.AlterConfigsResponse.AlterConfigsResourceResponse
        return m.AlterConfigsResponse(
            responses=[
                replaced(resource_type=at.type, resource_name=at.name, error_code=at.error, error_message=at.message)
                for at in outcomes
            ]
        )
    changed = m.IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
    return m.IncrementalAlterConfigsResponse(
        responses=[
            changed(resource_type=at.type, resource_name=at.name, error_code=at.error, error_message=at.message)
            for at in outcomes
        ]
    )


def refused_changes(
    body: AlterRequest, request: Request | None = None, error: Error = Error.NOT_CONTROLLER, message: str | None = None
) -> AlterResponse:
    """Refuse every resource of a request."""
    return response_to(body, [Outcome(at.resource_type, at.resource_name, error, message) for at in body.resources])
