"""CreateAcls, DescribeAcls and DeleteAcls, which the control plane decides where entries are kept."""

from __future__ import annotations

from fencepost.cluster_impl.api.serving import Answer
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request

AclRequest = m.CreateAclsRequest | m.DescribeAclsRequest | m.DeleteAclsRequest

_DISABLED = "This broker keeps no access control entries: it has no authorizer.class.name."


class Acls:
    """Forwards requests; `enabled` is False for a broker that keeps no entries."""

    def __init__(self, control: ControlPlane, *, enabled: bool) -> None:
        self._control = control
        self._enabled = enabled

    def handle(self, body: AclRequest, request: Request) -> Answer:
        if not self._enabled:
            return refused_acls(body, request, Error.SECURITY_DISABLED, _DISABLED)
        return self._forward(body, request)

    async def _forward(self, body: AclRequest, request: Request) -> Message:
        try:
            return await self._control.forward(body, request.version)
        except (ConnectionError, TimeoutError) as error:
            return refused_acls(body, request, Error.REQUEST_TIMED_OUT, str(error))


def refused_acls(
    body: AclRequest,
    request: Request | None = None,
    error: Error = Error.BROKER_NOT_AVAILABLE,
    message: str | None = None,
) -> m.CreateAclsResponse | m.DescribeAclsResponse | m.DeleteAclsResponse:
    """Refuse a whole request, in each of its results."""
    if isinstance(body, m.CreateAclsRequest):
        created = m.CreateAclsResponse.AclCreationResult
        return m.CreateAclsResponse(results=[created(error_code=error, error_message=message) for _ in body.creations])
    if isinstance(body, m.DeleteAclsRequest):
        deleted = m.DeleteAclsResponse.DeleteAclsFilterResult
        return m.DeleteAclsResponse(
            filter_results=[deleted(error_code=error, error_message=message) for _ in body.filters]
        )
    return m.DescribeAclsResponse(error_code=error, error_message=message)
