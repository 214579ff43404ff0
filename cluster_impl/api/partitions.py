"""CreatePartitions, ElectLeaders and reassignments, which the control plane decides."""

from __future__ import annotations

from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.partition_refusals import PARTITION_REQUESTS, refused_partitions
from fencepost.cluster_impl.wire.server import Request

_NOT_SERVING = "This broker does not serve clients now."


class PartitionAdministration:
    """Forwards requests to the control plane, and answers with an error if no node responds."""

    def __init__(self, control: ControlPlane) -> None:
        self._control = control

    async def handle(self, body: Message, request: Request) -> Message:
        assert isinstance(body, PARTITION_REQUESTS)
        try:
            return await self._control.forward(body, request.version)
        except (ConnectionError, TimeoutError) as error:
            return refused_partitions(body, Error.REQUEST_TIMED_OUT, str(error))


def refused_while_fenced(body: Message, _: Request) -> Message:
    """Refuse a request while the broker is fenced."""
    assert isinstance(body, PARTITION_REQUESTS)
    return refused_partitions(body, Error.NOT_CONTROLLER, _NOT_SERVING)
