"""The administrative requests of clients: in this design every broker carries them out."""

from __future__ import annotations

from fencepost.cluster_impl.designs.leader_driven.admin.administrator import Administrator
from fencepost.cluster_impl.designs.leader_driven.admin.partition_requests import PartitionRequests
from fencepost.cluster_impl.designs.leader_driven.admin.topic_requests import TopicRequests
from fencepost.cluster_impl.designs.on_zookeeper.config_writes import ConfigWriter
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message


class AdminRequests:
    """Answers the requests that `ControlPlane.forward` passes on, for one broker."""

    def __init__(self, administrator: Administrator, settings: ConfigWriter) -> None:
        self._settings = settings
        self._topics = TopicRequests(administrator)
        self._partitions = PartitionRequests(administrator)

    async def forward(self, request: Message, version: int) -> Message:
        """Carry out a request. Does not raise for a request that some broker serves."""
        match request:
            case m.CreateTopicsRequest():
                return await self._topics.create(request)
            case m.DeleteTopicsRequest():
                return await self._topics.delete(request, version)
            case m.CreatePartitionsRequest():
                return await self._partitions.create(request)
            case m.ElectLeadersRequest():
                return await self._partitions.elect(request)
            case m.AlterPartitionReassignmentsRequest():
                return await self._partitions.reassign(request)
            case m.ListPartitionReassignmentsRequest():
                return await self._partitions.list_reassignments(request)
            case m.AlterConfigsRequest() | m.IncrementalAlterConfigsRequest():
                return await self._settings.alter(request)
        raise TypeError(f"{type(request).__name__} is not an administrative request.")
