"""UpdateFeatures, which the control plane decides."""

from __future__ import annotations

from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request


class Features:
    """Forwards requests to the control plane, and answers with an error if no node responds."""

    def __init__(self, control: ControlPlane) -> None:
        self._control = control

    async def update(self, body: m.UpdateFeaturesRequest, request: Request) -> Message:
        try:
            return await self._control.forward(body, request.version)
        except (ConnectionError, TimeoutError) as error:
            return refused_features(body, request, Error.REQUEST_TIMED_OUT, str(error))


def refused_features(
    body: m.UpdateFeaturesRequest,
    request: Request,
    error: Error = Error.BROKER_NOT_AVAILABLE,
    message: str | None = None,
) -> m.UpdateFeaturesResponse:
    return m.UpdateFeaturesResponse(error_code=error, error_message=message)
