"""CreateAcls, DescribeAcls and DeleteAcls, which the control plane decides where entries are kept."""

from __future__ import annotations

from fencepost.cluster_impl.api.serving import Answer, forwarded
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import refusal
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
            return refusal(body, Error.SECURITY_DISABLED, _DISABLED)
        return forwarded(self._control, body, request)
