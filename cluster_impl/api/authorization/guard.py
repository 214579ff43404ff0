"""The rule of each API, and the handlers behind their rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fencepost.cluster_impl.api.authorization import administration, groups, records
from fencepost.cluster_impl.api.authorization.records import TopicName
from fencepost.cluster_impl.api.authorization.rules import Asker, Rule
from fencepost.cluster_impl.api.serving import Answer
from fencepost.cluster_impl.security.access_control import AccessControl
from fencepost.cluster_impl.security.entries import AclOperation
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.server import CloseConnection, Handler, Request


def rules(topic_name: TopicName) -> Mapping[int, Rule]:
    """Return the rules by API key. `topic_name` returns the name of a topic id, None if it is unknown."""
    return {
        m.ProduceRequest.API_KEY: records.produce,
        m.FetchRequest.API_KEY: records.fetch(topic_name),
        m.ListOffsetsRequest.API_KEY: records.list_offsets,
        m.OffsetForLeaderEpochRequest.API_KEY: records.offset_for_leader_epoch,
        m.DeleteRecordsRequest.API_KEY: records.delete_records,
        m.InitProducerIdRequest.API_KEY: records.init_producer_id,
        m.FindCoordinatorRequest.API_KEY: groups.find_coordinator,
        m.JoinGroupRequest.API_KEY: groups.join,
        m.SyncGroupRequest.API_KEY: groups.sync,
        m.HeartbeatRequest.API_KEY: groups.heartbeat,
        m.LeaveGroupRequest.API_KEY: groups.leave,
        m.DescribeGroupsRequest.API_KEY: groups.describe_groups,
        m.ListGroupsRequest.API_KEY: groups.list_groups,
        m.OffsetCommitRequest.API_KEY: groups.offset_commit,
        m.OffsetFetchRequest.API_KEY: groups.offset_fetch,
        m.MetadataRequest.API_KEY: administration.metadata,
        m.DescribeClusterRequest.API_KEY: administration.describe_cluster,
        m.CreateTopicsRequest.API_KEY: administration.create_topics,
        m.DeleteTopicsRequest.API_KEY: administration.delete_topics(topic_name),
        m.DescribeConfigsRequest.API_KEY: administration.describe_configs,
        m.AlterConfigsRequest.API_KEY: administration.alter_configs,
        m.IncrementalAlterConfigsRequest.API_KEY: administration.incremental_alter_configs,
        m.DescribeAclsRequest.API_KEY: administration.describe_acls,
        m.CreateAclsRequest.API_KEY: administration.create_acls,
        m.DeleteAclsRequest.API_KEY: administration.delete_acls,
        m.UpdateFeaturesRequest.API_KEY: administration.update_features,
        m.CreatePartitionsRequest.API_KEY: administration.create_partitions,
        m.ElectLeadersRequest.API_KEY: administration.elect_leaders,
        m.AlterPartitionReassignmentsRequest.API_KEY: administration.alter_reassignments,
        m.ListPartitionReassignmentsRequest.API_KEY: administration.list_reassignments,
        m.DescribeQuorumRequest.API_KEY: administration.describe_quorum,
        m.DescribeLogDirsRequest.API_KEY: administration.describe_log_dirs,
        m.DeleteGroupsRequest.API_KEY: groups.delete_groups,
        m.OffsetDeleteRequest.API_KEY: groups.offset_delete,
    }


def authorized(
    handlers: Mapping[int, Handler], access: AccessControl, topic_name: TopicName, checked: Collection[int] = ()
) -> Mapping[int, Handler]:
    """Return the handlers, each behind its rule; those of `checked` keys ask for CLUSTER_ACTION themselves.

    An API without a rule needs ALTER on the cluster, so that a new one is not open to all.
    """
    by_key = rules(topic_name)
    return {
        key: handler
        if key in checked and key not in by_key
        else _behind(by_key.get(key, _administrators), access, handler)
        for key, handler in handlers.items()
    }


def _behind(rule: Rule, access: AccessControl, handler: Handler) -> Handler:
    def handle(request: Request) -> Answer:
        return rule(request, Asker.of(access, request), handler)

    return handle


def _administrators(request: Request, asker: Asker, handler: Handler) -> Answer:
    if asker.cluster(AclOperation.ALTER):
        return handler(request)
    raise CloseConnection(f"{asker.principal} may not send {request.api.name}, which needs ALTER on the cluster")
