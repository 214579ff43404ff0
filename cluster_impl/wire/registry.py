"""The APIs of each listener, with their versions.

One registry for each dialect: draft messages use keys that shipped Kafka has since given to others (50, 51, 56), so
they live on listeners between nodes only and are never advertised to ordinary clients. Drafts without a key of their
own have private ones (1343, 1344, 1589), with the same rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message


@dataclass(frozen=True)
class Api:
    """`min_version` to `max_version` are advertised; fewer versions may be defined (see Produce)."""

    key: int
    name: str
    request: type[Message]
    response: type[Message]
    min_version: int
    max_version: int

    def request_is_flexible(self, version: int) -> bool:
        return version >= self.request.FLEXIBLE_FROM

    def request_header_has_client_id(self, version: int) -> bool:
        """Return False for ControlledShutdown v0 only, which is older than the client id in request headers."""
        return version > 0 or self.key != CONTROLLED_SHUTDOWN

    def response_header_is_flexible(self, version: int) -> bool:
        """Return False for ApiVersions, whose responses keep the old header, so that any client can read them."""
        return version >= self.response.FLEXIBLE_FROM and self.key != API_VERSIONS


Registry = Mapping[int, Api]

CONTROLLED_SHUTDOWN = 7
SASL_HANDSHAKE = 17
API_VERSIONS = 18
SASL_AUTHENTICATE = 36


def _api(request: type[Message], response: type[Message], advertised_from: int | None = None) -> Api:
    name = request.__name__.removesuffix("Request")
    low = request.MIN_VERSION if advertised_from is None else advertised_from
    return Api(request.API_KEY, name, request, response, low, request.MAX_VERSION)


def _registry(*apis: Api) -> Registry:
    return MappingProxyType({api.key: api for api in sorted(apis, key=lambda api: api.key)})


_API_VERSIONS = _api(m.ApiVersionsRequest, m.ApiVersionsResponse)
_FETCH = _api(m.FetchRequest, m.FetchResponse)
_CREATE_TOPICS = _api(m.CreateTopicsRequest, m.CreateTopicsResponse)
_DELETE_TOPICS = _api(m.DeleteTopicsRequest, m.DeleteTopicsResponse)

_SASL = (
    _api(m.SaslHandshakeRequest, m.SaslHandshakeResponse),
    _api(m.SaslAuthenticateRequest, m.SaslAuthenticateResponse),
)

_PARTITIONS = (
    _api(m.CreatePartitionsRequest, m.CreatePartitionsResponse),
    _api(m.ElectLeadersRequest, m.ElectLeadersResponse),
    _api(m.AlterPartitionReassignmentsRequest, m.AlterPartitionReassignmentsResponse),
    _api(m.ListPartitionReassignmentsRequest, m.ListPartitionReassignmentsResponse),
)

_CONFIGS = (
    _api(m.AlterConfigsRequest, m.AlterConfigsResponse),
    _api(m.IncrementalAlterConfigsRequest, m.IncrementalAlterConfigsResponse),
)

_ACLS = (
    _api(m.DescribeAclsRequest, m.DescribeAclsResponse),
    _api(m.CreateAclsRequest, m.CreateAclsResponse),
    _api(m.DeleteAclsRequest, m.DeleteAclsResponse),
)

KAFKA = _registry(
    # From version 0, although only 3 and later are served: librdkafka before 2.5 takes a higher minimum for a broker
    # that cannot read gzip, snappy and lz4, and silently sends uncompressed.
    _api(m.ProduceRequest, m.ProduceResponse, advertised_from=0),
    _FETCH,
    _api(m.ListOffsetsRequest, m.ListOffsetsResponse),
    _api(m.MetadataRequest, m.MetadataResponse),
    _api(m.OffsetCommitRequest, m.OffsetCommitResponse),
    _api(m.OffsetFetchRequest, m.OffsetFetchResponse),
    _api(m.FindCoordinatorRequest, m.FindCoordinatorResponse),
    _api(m.JoinGroupRequest, m.JoinGroupResponse),
    _api(m.HeartbeatRequest, m.HeartbeatResponse),
    _api(m.LeaveGroupRequest, m.LeaveGroupResponse),
    _api(m.SyncGroupRequest, m.SyncGroupResponse),
    _api(m.DescribeGroupsRequest, m.DescribeGroupsResponse),
    _api(m.ListGroupsRequest, m.ListGroupsResponse),
    *_SASL,
    _API_VERSIONS,
    _CREATE_TOPICS,
    _DELETE_TOPICS,
    *_PARTITIONS,
    _api(m.DeleteRecordsRequest, m.DeleteRecordsResponse),
    _api(m.InitProducerIdRequest, m.InitProducerIdResponse),
    _api(m.OffsetForLeaderEpochRequest, m.OffsetForLeaderEpochResponse),
    *_ACLS,
    *_CONFIGS,
    _api(m.DescribeConfigsRequest, m.DescribeConfigsResponse),
    _api(m.DescribeLogDirsRequest, m.DescribeLogDirsResponse),
    _api(m.DeleteGroupsRequest, m.DeleteGroupsResponse),
    _api(m.OffsetDeleteRequest, m.OffsetDeleteResponse),
    _api(m.DescribeClusterRequest, m.DescribeClusterResponse),
)
"""Brokers' listeners, CLIENT and INTERNAL: all that the CLIENT listener has where no other registry says so."""

_HEARTBEATS = (
    _api(m.BrokerHeartbeatRequest, m.BrokerHeartbeatResponse),
    _api(m.ControllerHeartbeatRequest, m.ControllerHeartbeatResponse),
)

_UPDATE_FEATURES = _api(m.UpdateFeaturesRequest, m.UpdateFeaturesResponse)
_DESCRIBE_QUORUM = _api(m.DescribeQuorumRequest, m.DescribeQuorumResponse)

QUORUM_CLIENTS = _registry(*KAFKA.values(), _UPDATE_FEATURES, _DESCRIBE_QUORUM)
"""The CLIENT listener of brokers of the `quorum` design."""

QUORUM_BROKER = _registry(*QUORUM_CLIENTS.values(), *_HEARTBEATS)
"""Their INTERNAL listener, which answers heartbeats with NOT_CONTROLLER."""

ZK_BROKER = _registry(
    *KAFKA.values(),
    _api(m.LeaderAndIsrRequest, m.LeaderAndIsrResponse),
    _api(m.StopReplicaRequest, m.StopReplicaResponse),
    _api(m.UpdateMetadataRequest, m.UpdateMetadataResponse),
    _api(m.ControlledShutdownRequest, m.ControlledShutdownResponse),
    _api(m.MetadataHeartbeatRequest, m.MetadataHeartbeatResponse),
    _api(m.IsrChangeRequest, m.IsrChangeResponse),
    _api(m.ReplicaStateEventRequest, m.ReplicaStateEventResponse),
)
"""The INTERNAL listener of nodes of the `zk-controller` design."""

LEADER_DRIVEN_BROKER = KAFKA
"""Both listeners of brokers of the `leader-driven` design: every broker administers the cluster."""

QUORUM_CONTROLLER = _registry(
    _FETCH,
    *_SASL,
    _API_VERSIONS,
    _CREATE_TOPICS,
    _DELETE_TOPICS,
    *_PARTITIONS,
    *_CONFIGS,
    *_ACLS,
    _UPDATE_FEATURES,
    _api(m.VoteRequest, m.VoteResponse),
    _api(m.BeginQuorumEpochRequest, m.BeginQuorumEpochResponse),
    _api(m.EndQuorumEpochRequest, m.EndQuorumEpochResponse),
    _DESCRIBE_QUORUM,
    _api(m.FetchSnapshotRequest, m.FetchSnapshotResponse),
    _api(m.AddRaftVoterRequest, m.AddRaftVoterResponse),
    _api(m.RemoveRaftVoterRequest, m.RemoveRaftVoterResponse),
    *_HEARTBEATS,
    _api(m.AlterIsrRequest, m.AlterIsrResponse),
)
"""Controllers' listeners of the `quorum` design."""
