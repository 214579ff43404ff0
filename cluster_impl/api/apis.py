"""One table of all APIs: how each is processed, and how it is refused by a broker that may not process it."""

from __future__ import annotations

from collections.abc import Mapping

from cluster_impl.api.config import ApiConfig
from cluster_impl.api.configs import Configs, refused_configs
from cluster_impl.api.fetch import Fetch
from cluster_impl.api.groups import membership, offsets
from cluster_impl.api.groups.coordinator import Coordinator
from cluster_impl.api.metadata import ClusterDescription
from cluster_impl.api.offsets import Offsets, refused_epochs, refused_list_offsets
from cluster_impl.api.produce import Produce, ProducerIds, refused_produce, refused_producer_id
from cluster_impl.api.serving import Answer, body_of, close_connection, guarded
from cluster_impl.api.topics import Administration, refused_create_topics, refused_delete_topics
from cluster_impl.replication.control_plane import ControlPlane
from cluster_impl.replication.manager import ReplicaManager
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error
from cluster_impl.wire.server import Handler, Request


class BrokerApis:
    """`handlers` by API key, for a broker's listeners. Runs on the replica manager's event loop."""

    def __init__(self, control: ControlPlane, replicas: ReplicaManager, config: ApiConfig) -> None:
        self._control = control
        self._administration = Administration(control)
        self._coordinator = Coordinator(replicas, config)
        self._offsets = Offsets(replicas)
        self._fetch = Fetch(replicas)
        self._produce = Produce(replicas)
        self._producer_ids = ProducerIds(control)
        self._description = ClusterDescription(control, self._administration, config)
        self._configs = Configs(control, config)
        self._membership = membership.Membership(self._coordinator)
        self._group_offsets = offsets.GroupOffsets(self._coordinator)
        self._finder = offsets.CoordinatorFinder(control, self._administration, config)
        self.handlers: Mapping[int, Handler] = {
            **self._record_handlers(),
            **self._cluster_handlers(),
            **self._group_handlers(),
        }

    def close(self) -> None:
        """Let go of requests that wait for a group or a topic."""
        self._coordinator.close()
        self._administration.close()

    def _record_handlers(self) -> Mapping[int, Handler]:
        control = self._control
        return {
            m.ProduceRequest.API_KEY: guarded(control, m.ProduceRequest, self._produce.handle, refused_produce),
            m.FetchRequest.API_KEY: self._fetch.handle,
            m.ListOffsetsRequest.API_KEY: guarded(
                control, m.ListOffsetsRequest, self._offsets.list_offsets, refused_list_offsets
            ),
            m.OffsetForLeaderEpochRequest.API_KEY: self._offset_for_leader_epoch,
            m.InitProducerIdRequest.API_KEY: guarded(
                control, m.InitProducerIdRequest, self._producer_ids.handle, lambda body, request: refused_producer_id()
            ),
        }

    def _cluster_handlers(self) -> Mapping[int, Handler]:
        control = self._control
        return {
            m.MetadataRequest.API_KEY: guarded(
                control, m.MetadataRequest, self._description.metadata, close_connection
            ),
            m.DescribeClusterRequest.API_KEY: guarded(
                control, m.DescribeClusterRequest, self._description.describe_cluster, close_connection
            ),
            m.DescribeConfigsRequest.API_KEY: guarded(
                control, m.DescribeConfigsRequest, self._configs.handle, refused_configs
            ),
            m.CreateTopicsRequest.API_KEY: guarded(
                control,
                m.CreateTopicsRequest,
                self._administration.create_topics,
                lambda body, request: refused_create_topics(body, Error.NOT_CONTROLLER),
            ),
            m.DeleteTopicsRequest.API_KEY: guarded(
                control,
                m.DeleteTopicsRequest,
                self._administration.delete_topics,
                lambda body, request: refused_delete_topics(body, Error.NOT_CONTROLLER),
            ),
        }

    def _group_handlers(self) -> Mapping[int, Handler]:
        control, members, group_offsets = self._control, self._membership, self._group_offsets
        return {
            m.FindCoordinatorRequest.API_KEY: guarded(
                control, m.FindCoordinatorRequest, self._finder.handle, offsets.refused_finder
            ),
            m.JoinGroupRequest.API_KEY: guarded(control, m.JoinGroupRequest, members.join, membership.refused_join),
            m.SyncGroupRequest.API_KEY: guarded(control, m.SyncGroupRequest, members.sync, membership.refused_sync),
            m.HeartbeatRequest.API_KEY: guarded(
                control, m.HeartbeatRequest, members.heartbeat, membership.refused_heartbeat
            ),
            m.LeaveGroupRequest.API_KEY: guarded(control, m.LeaveGroupRequest, members.leave, membership.refused_leave),
            m.ListGroupsRequest.API_KEY: guarded(
                control, m.ListGroupsRequest, members.list_groups, membership.refused_list_groups
            ),
            m.DescribeGroupsRequest.API_KEY: guarded(
                control, m.DescribeGroupsRequest, members.describe_groups, membership.refused_describe_groups
            ),
            m.OffsetCommitRequest.API_KEY: guarded(
                control, m.OffsetCommitRequest, group_offsets.commit, offsets.refused_commit
            ),
            m.OffsetFetchRequest.API_KEY: guarded(
                control, m.OffsetFetchRequest, group_offsets.fetch, offsets.refused_offset_fetch
            ),
        }

    def _offset_for_leader_epoch(self, request: Request) -> Answer:
        """Asked by followers too, who are no clients: a fenced leader still answers them."""
        body = body_of(request, m.OffsetForLeaderEpochRequest)
        if body.replica_id < 0 and not self._control.serving():
            return refused_epochs(body)
        return self._offsets.end_of_epochs(request)
