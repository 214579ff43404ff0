"""One table of all APIs: how each is processed, and how it is refused by a broker that may not process it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from fencepost.cluster_impl.api.configs import Configs
from fencepost.cluster_impl.api.delete_records import DeleteRecords
from fencepost.cluster_impl.api.fetch import Fetch
from fencepost.cluster_impl.api.groups import deletion, membership, offsets
from fencepost.cluster_impl.api.groups.coordinator import Coordinator
from fencepost.cluster_impl.api.log_dirs import LogDirsDescription
from fencepost.cluster_impl.api.metadata import ClusterDescription
from fencepost.cluster_impl.api.offsets import Offsets
from fencepost.cluster_impl.api.produce import InitProducerIdApi, Produce, refused_produce
from fencepost.cluster_impl.api.serving import (
    Answer,
    Body,
    body_of,
    close_connection,
    forwarded,
    refused,
    when_serving,
)
from fencepost.cluster_impl.api.topics import WantedTopics
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.config.settings import Setting
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import PARTITION_REQUESTS, refusal
from fencepost.cluster_impl.wire.server import Handler, Request

AclRequest = m.CreateAclsRequest | m.DescribeAclsRequest | m.DeleteAclsRequest

_NOT_SERVING = "This broker does not serve clients now."
_NO_ACLS = "This broker keeps no access control entries: it has no authorizer.class.name."


class BrokerApis:
    """`handlers` by API key, for a broker's listeners. Runs on the replica manager's event loop.

    `settings` are all those of the broker's property file; `keeps_acls` says that the control plane keeps access
    control entries.
    """

    def __init__(
        self,
        control: ControlPlane,
        replicas: ReplicaManager,
        config: DataPlaneConfig,
        settings: Collection[Setting],
        *,
        keeps_acls: bool = False,
    ) -> None:
        self._control = control
        self._replicas = replicas
        self._config = config
        self._settings = settings
        self._keeps_acls = keeps_acls
        self._topics = WantedTopics(control)
        self._coordinator = Coordinator(replicas, config)
        self._handlers: dict[int, Handler] = {}
        self._add_records()
        self._add_cluster()
        self._add_groups()

    @property
    def handlers(self) -> Mapping[int, Handler]:
        return self._handlers

    def close(self) -> None:
        """Let go of requests that wait for a group or a topic."""
        self._coordinator.close()
        self._topics.close()

    def _acls(self, body: AclRequest, request: Request) -> Answer:
        if not self._keeps_acls:
            return refusal(body, Error.SECURITY_DISABLED, _NO_ACLS)
        return forwarded(self._control, body, request)

    def _add(
        self,
        kind: type[Body],
        process: Callable[[Body, Request], Answer],
        refuse: Callable[[Body, Request], Message | None],
    ) -> None:
        self._handlers[kind.API_KEY] = when_serving(self._control, kind, process, refuse)

    def _forward(self, error: Error, message: str | None, *kinds: type[Message]) -> None:
        """Leave requests to the control plane; `error` and `message` refuse them while this broker does not serve."""
        for kind in kinds:
            self._add(kind, partial(forwarded, self._control), refused(error, message))

    def _add_records(self) -> None:
        self._offsets = Offsets(self._replicas)
        not_leader = refused(Error.NOT_LEADER_OR_FOLLOWER)
        self._add(m.ProduceRequest, Produce(self._replicas).handle, refused_produce)
        self._add(m.DeleteRecordsRequest, DeleteRecords(self._replicas).handle, not_leader)
        self._add(m.ListOffsetsRequest, self._offsets.list_offsets, not_leader)
        producers = InitProducerIdApi(self._control)
        self._add(m.InitProducerIdRequest, producers.handle, refused(Error.COORDINATOR_NOT_AVAILABLE))
        # Followers send these two as well; only for a client's request the broker has to serve.
        self._handlers[m.FetchRequest.API_KEY] = Fetch(self._replicas).handle
        self._handlers[m.OffsetForLeaderEpochRequest.API_KEY] = self._offset_for_leader_epoch

    def _offset_for_leader_epoch(self, request: Request) -> Answer:
        body = body_of(request, m.OffsetForLeaderEpochRequest)
        if body.replica_id < 0 and not self._control.serving():
            return refusal(body, Error.NOT_LEADER_OR_FOLLOWER)
        return self._offsets.end_of_epochs(request)

    def _add_cluster(self) -> None:
        description = ClusterDescription(self._control, self._topics, self._config)
        self._add(m.MetadataRequest, description.metadata, close_connection)
        self._add(m.DescribeClusterRequest, description.describe_cluster, close_connection)
        unavailable = refused(Error.BROKER_NOT_AVAILABLE)
        self._add(m.DescribeConfigsRequest, Configs(self._control, self._settings).handle, unavailable)
        self._add(m.DescribeLogDirsRequest, LogDirsDescription(self._replicas).handle, unavailable)
        self._add(m.CreateAclsRequest, self._acls, unavailable)
        self._add(m.DescribeAclsRequest, self._acls, unavailable)
        self._add(m.DeleteAclsRequest, self._acls, unavailable)
        self._forward(Error.BROKER_NOT_AVAILABLE, None, m.UpdateFeaturesRequest)
        self._forward(Error.NOT_CONTROLLER, None, m.CreateTopicsRequest, m.DeleteTopicsRequest)
        self._forward(Error.NOT_CONTROLLER, None, m.AlterConfigsRequest, m.IncrementalAlterConfigsRequest)
        self._forward(Error.NOT_CONTROLLER, _NOT_SERVING, *PARTITION_REQUESTS)

    def _add_groups(self) -> None:
        finder = offsets.CoordinatorFinder(self._control, self._topics, self._config)
        members = membership.Membership(self._coordinator)
        of_groups = offsets.GroupOffsets(self._control, self._coordinator)
        removal = deletion.GroupDeletion(self._coordinator)
        unavailable = refused(Error.COORDINATOR_NOT_AVAILABLE)
        self._add(m.FindCoordinatorRequest, finder.handle, offsets.refused_finder)
        self._add(m.JoinGroupRequest, members.join, membership.refused_join)
        self._add(m.SyncGroupRequest, members.sync, unavailable)
        self._add(m.HeartbeatRequest, members.heartbeat, unavailable)
        self._add(m.LeaveGroupRequest, members.leave, unavailable)
        self._add(m.ListGroupsRequest, members.list_groups, unavailable)
        self._add(m.DescribeGroupsRequest, members.describe_groups, unavailable)
        self._add(m.OffsetCommitRequest, of_groups.commit, unavailable)
        self._add(m.OffsetFetchRequest, of_groups.fetch, offsets.refused_offset_fetch)
        self._add(m.DeleteGroupsRequest, removal.delete_groups, unavailable)
        self._add(m.OffsetDeleteRequest, removal.delete_offsets, unavailable)
