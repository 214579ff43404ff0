"""One table of all APIs: how each is processed, and how it is refused by a broker that may not process it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from fencepost.cluster_impl.api.acls import Acls, refused_acls
from fencepost.cluster_impl.api.config_changes import ConfigChanges, refused_changes
from fencepost.cluster_impl.api.configs import Configs, refused_configs
from fencepost.cluster_impl.api.delete_records import DeleteRecords, refused_delete_records
from fencepost.cluster_impl.api.features import Features, refused_features
from fencepost.cluster_impl.api.fetch import Fetch
from fencepost.cluster_impl.api.groups import deletion, membership, offsets
from fencepost.cluster_impl.api.groups.coordinator import Coordinator
from fencepost.cluster_impl.api.log_dirs import LogDirsDescription, refused_log_dirs
from fencepost.cluster_impl.api.metadata import ClusterDescription
from fencepost.cluster_impl.api.offsets import Offsets, refused_epochs, refused_list_offsets
from fencepost.cluster_impl.api.partitions import PartitionAdministration, refused_while_fenced
from fencepost.cluster_impl.api.produce import InitProducerIdApi, Produce, refused_produce, refused_producer_id
from fencepost.cluster_impl.api.serving import Answer, Body, body_of, close_connection, when_serving
from fencepost.cluster_impl.api.topics import Administration, refused_create_topics, refused_delete_topics
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.config.settings import Setting
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.partition_refusals import PARTITION_REQUESTS
from fencepost.cluster_impl.wire.server import Handler, Request


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
        self._administration = Administration(control)
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
        self._administration.close()

    def _add(
        self,
        kind: type[Body],
        process: Callable[[Body, Request], Answer],
        refuse: Callable[[Body, Request], Message | None],
    ) -> None:
        self._handlers[kind.API_KEY] = when_serving(self._control, kind, process, refuse)

    def _add_records(self) -> None:
        self._offsets = Offsets(self._replicas)
        self._add(m.ProduceRequest, Produce(self._replicas).handle, refused_produce)
        self._add(m.InitProducerIdRequest, InitProducerIdApi(self._control).handle, refused_producer_id)
        self._add(m.DeleteRecordsRequest, DeleteRecords(self._replicas).handle, refused_delete_records)
        self._add(m.ListOffsetsRequest, self._offsets.list_offsets, refused_list_offsets)
        # Followers send these two as well; only for a client's request the broker has to serve.
        self._handlers[m.FetchRequest.API_KEY] = Fetch(self._replicas).handle
        self._handlers[m.OffsetForLeaderEpochRequest.API_KEY] = self._offset_for_leader_epoch

    def _offset_for_leader_epoch(self, request: Request) -> Answer:
        body = body_of(request, m.OffsetForLeaderEpochRequest)
        if body.replica_id < 0 and not self._control.serving():
            return refused_epochs(body)
        return self._offsets.end_of_epochs(request)

    def _add_cluster(self) -> None:
        description = ClusterDescription(self._control, self._administration, self._config)
        self._add(m.MetadataRequest, description.metadata, close_connection)
        self._add(m.DescribeClusterRequest, description.describe_cluster, close_connection)
        self._add(m.DescribeConfigsRequest, Configs(self._control, self._settings).handle, refused_configs)
        changes = ConfigChanges(self._control)
        self._add(m.DescribeLogDirsRequest, LogDirsDescription(self._replicas).handle, refused_log_dirs)
        self._add(m.AlterConfigsRequest, changes.handle, refused_changes)
        self._add(m.IncrementalAlterConfigsRequest, changes.handle, refused_changes)
        self._add(m.UpdateFeaturesRequest, Features(self._control).update, refused_features)
        acls = Acls(self._control, enabled=self._keeps_acls)
        self._add(m.CreateAclsRequest, acls.handle, refused_acls)
        self._add(m.DescribeAclsRequest, acls.handle, refused_acls)
        self._add(m.DeleteAclsRequest, acls.handle, refused_acls)
        self._add(m.CreateTopicsRequest, self._administration.create_topics, refused_create_topics)
        self._add(m.DeleteTopicsRequest, self._administration.delete_topics, refused_delete_topics)
        partitions = PartitionAdministration(self._control)
        for kind in PARTITION_REQUESTS:
            self._add(kind, partitions.handle, refused_while_fenced)

    def _add_groups(self) -> None:
        finder = offsets.CoordinatorFinder(self._control, self._administration, self._config)
        members = membership.Membership(self._coordinator)
        of_groups = offsets.GroupOffsets(self._coordinator)
        self._add(m.FindCoordinatorRequest, finder.handle, offsets.refused_finder)
        self._add(m.JoinGroupRequest, members.join, membership.refused_join)
        self._add(m.SyncGroupRequest, members.sync, membership.refused_sync)
        self._add(m.HeartbeatRequest, members.heartbeat, membership.refused_heartbeat)
        self._add(m.LeaveGroupRequest, members.leave, membership.refused_leave)
        self._add(m.ListGroupsRequest, members.list_groups, membership.refused_list_groups)
        self._add(m.DescribeGroupsRequest, members.describe_groups, membership.refused_describe_groups)
        self._add(m.OffsetCommitRequest, of_groups.commit, offsets.refused_commit)
        self._add(m.OffsetFetchRequest, of_groups.fetch, offsets.refused_offset_fetch)
        removal = deletion.GroupDeletion(self._coordinator)
        self._add(m.DeleteGroupsRequest, removal.delete_groups, deletion.refused_groups)
        self._add(m.OffsetDeleteRequest, removal.delete_offsets, deletion.refused_offsets)
