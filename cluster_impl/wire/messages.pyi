# Written by `python -m fencepost.cluster_impl.wire.stubs` from definitions/*.json. Do not edit.
from uuid import UUID

from fencepost.cluster_impl.wire.codec import Buffer, Message, RequestMessage, Tags
from fencepost.cluster_impl.wire.codec import Struct as _Struct
from fencepost.cluster_impl.wire.schema import Definition

DEFINITIONS: list[Definition]

class AccessControlRecord(Message):
    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int
    def __init__(
        self,
        *,
        resource_type: int = ...,
        resource_name: str | None = ...,
        pattern_type: int = ...,
        principal: str = ...,
        host: str = ...,
        operation: int = ...,
        permission_type: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class AddRaftVoterRequest(RequestMessage[AddRaftVoterResponse]):
    class Listener(_Struct):
        name: str
        host: str
        port: int
        def __init__(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    cluster_id: str | None
    timeout_ms: int
    voter_id: int
    voter_directory_id: UUID
    listeners: list[AddRaftVoterRequest.Listener]
    def __init__(
        self,
        *,
        cluster_id: str | None = ...,
        timeout_ms: int = ...,
        voter_id: int = ...,
        voter_directory_id: UUID = ...,
        listeners: list[AddRaftVoterRequest.Listener] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class AddRaftVoterResponse(Message):
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class AlterConfigsRequest(RequestMessage[AlterConfigsResponse]):
    class AlterableConfig(_Struct):
        name: str
        value: str | None
        def __init__(
            self,
            *,
            name: str = ...,
            value: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class AlterConfigsResource(_Struct):
        resource_type: int
        resource_name: str
        configs: list[AlterConfigsRequest.AlterableConfig]
        def __init__(
            self,
            *,
            resource_type: int = ...,
            resource_name: str = ...,
            configs: list[AlterConfigsRequest.AlterableConfig] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    resources: list[AlterConfigsRequest.AlterConfigsResource]
    validate_only: bool
    def __init__(
        self,
        *,
        resources: list[AlterConfigsRequest.AlterConfigsResource] = ...,
        validate_only: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class AlterConfigsResponse(Message):
    class AlterConfigsResourceResponse(_Struct):
        error_code: int
        error_message: str | None
        resource_type: int
        resource_name: str
        def __init__(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            resource_type: int = ...,
            resource_name: str = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    responses: list[AlterConfigsResponse.AlterConfigsResourceResponse]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        responses: list[AlterConfigsResponse.AlterConfigsResourceResponse] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class AlterIsrRequest(RequestMessage[AlterIsrResponse]):
    class PartitionData(_Struct):
        partition_index: int
        leader_epoch: int
        new_isr: list[int]
        current_isr_version: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            leader_epoch: int = ...,
            new_isr: list[int] = ...,
            current_isr_version: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        name: str
        partitions: list[AlterIsrRequest.PartitionData]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[AlterIsrRequest.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    broker_id: int
    broker_epoch: int
    topics: list[AlterIsrRequest.TopicData]
    def __init__(
        self,
        *,
        broker_id: int = ...,
        broker_epoch: int = ...,
        topics: list[AlterIsrRequest.TopicData] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class AlterIsrResponse(Message):
    class PartitionData(_Struct):
        partition_index: int
        error_code: int
        leader_id: int
        leader_epoch: int
        isr: list[int]
        current_isr_version: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            isr: list[int] = ...,
            current_isr_version: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        name: str
        partitions: list[AlterIsrResponse.PartitionData]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[AlterIsrResponse.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    topics: list[AlterIsrResponse.TopicData]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        topics: list[AlterIsrResponse.TopicData] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class AlterPartitionReassignmentsRequest(RequestMessage[AlterPartitionReassignmentsResponse]):
    class ReassignablePartition(_Struct):
        partition_index: int
        replicas: list[int] | None
        def __init__(
            self,
            *,
            partition_index: int = ...,
            replicas: list[int] | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class ReassignableTopic(_Struct):
        name: str
        partitions: list[AlterPartitionReassignmentsRequest.ReassignablePartition]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[AlterPartitionReassignmentsRequest.ReassignablePartition] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    timeout_ms: int
    allow_replication_factor_change: bool
    topics: list[AlterPartitionReassignmentsRequest.ReassignableTopic]
    def __init__(
        self,
        *,
        timeout_ms: int = ...,
        allow_replication_factor_change: bool = ...,
        topics: list[AlterPartitionReassignmentsRequest.ReassignableTopic] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class AlterPartitionReassignmentsResponse(Message):
    class ReassignablePartitionResponse(_Struct):
        partition_index: int
        error_code: int
        error_message: str | None
        def __init__(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class ReassignableTopicResponse(_Struct):
        name: str
        partitions: list[AlterPartitionReassignmentsResponse.ReassignablePartitionResponse]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[AlterPartitionReassignmentsResponse.ReassignablePartitionResponse] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    allow_replication_factor_change: bool
    error_code: int
    error_message: str | None
    responses: list[AlterPartitionReassignmentsResponse.ReassignableTopicResponse]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        allow_replication_factor_change: bool = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        responses: list[AlterPartitionReassignmentsResponse.ReassignableTopicResponse] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ApiVersionsRequest(RequestMessage[ApiVersionsResponse]):
    client_software_name: str
    client_software_version: str
    def __init__(
        self,
        *,
        client_software_name: str = ...,
        client_software_version: str = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ApiVersionsResponse(Message):
    class ApiVersion(_Struct):
        api_key: int
        min_version: int
        max_version: int
        def __init__(
            self,
            *,
            api_key: int = ...,
            min_version: int = ...,
            max_version: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class SupportedFeatureKey(_Struct):
        name: str
        min_version: int
        max_version: int
        def __init__(
            self,
            *,
            name: str = ...,
            min_version: int = ...,
            max_version: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class FinalizedFeatureKey(_Struct):
        name: str
        max_version_level: int
        min_version_level: int
        def __init__(
            self,
            *,
            name: str = ...,
            max_version_level: int = ...,
            min_version_level: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    error_code: int
    api_keys: list[ApiVersionsResponse.ApiVersion]
    throttle_time_ms: int
    supported_features: list[ApiVersionsResponse.SupportedFeatureKey]
    finalized_features_epoch: int
    finalized_features: list[ApiVersionsResponse.FinalizedFeatureKey]
    zk_migration_ready: bool
    def __init__(
        self,
        *,
        error_code: int = ...,
        api_keys: list[ApiVersionsResponse.ApiVersion] = ...,
        throttle_time_ms: int = ...,
        supported_features: list[ApiVersionsResponse.SupportedFeatureKey] = ...,
        finalized_features_epoch: int = ...,
        finalized_features: list[ApiVersionsResponse.FinalizedFeatureKey] = ...,
        zk_migration_ready: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class BeginQuorumEpochRequest(RequestMessage[BeginQuorumEpochResponse]):
    class PartitionData(_Struct):
        partition_index: int
        voter_directory_id: UUID
        leader_id: int
        leader_epoch: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            voter_directory_id: UUID = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        topic_name: str
        partitions: list[BeginQuorumEpochRequest.PartitionData]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partitions: list[BeginQuorumEpochRequest.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class LeaderEndpoint(_Struct):
        name: str
        host: str
        port: int
        def __init__(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    cluster_id: str | None
    voter_id: int
    topics: list[BeginQuorumEpochRequest.TopicData]
    leader_endpoints: list[BeginQuorumEpochRequest.LeaderEndpoint]
    def __init__(
        self,
        *,
        cluster_id: str | None = ...,
        voter_id: int = ...,
        topics: list[BeginQuorumEpochRequest.TopicData] = ...,
        leader_endpoints: list[BeginQuorumEpochRequest.LeaderEndpoint] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class BeginQuorumEpochResponse(Message):
    class PartitionData(_Struct):
        partition_index: int
        error_code: int
        leader_id: int
        leader_epoch: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        topic_name: str
        partitions: list[BeginQuorumEpochResponse.PartitionData]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partitions: list[BeginQuorumEpochResponse.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class NodeEndpoint(_Struct):
        node_id: int
        host: str
        port: int
        def __init__(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    error_code: int
    topics: list[BeginQuorumEpochResponse.TopicData]
    node_endpoints: list[BeginQuorumEpochResponse.NodeEndpoint]
    def __init__(
        self,
        *,
        error_code: int = ...,
        topics: list[BeginQuorumEpochResponse.TopicData] = ...,
        node_endpoints: list[BeginQuorumEpochResponse.NodeEndpoint] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class BrokerHeartbeatRequest(RequestMessage[BrokerHeartbeatResponse]):
    class Listener(_Struct):
        name: str
        host: str
        port: int
        security_protocol: int
        def __init__(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            security_protocol: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class SupportedFeature(_Struct):
        name: str
        min_version: int
        max_version: int
        def __init__(
            self,
            *,
            name: str = ...,
            min_version: int = ...,
            max_version: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    target_state: int
    broker_id: int
    broker_epoch: int
    lease_start_time_ms: int
    cur_metadata_offset: int
    listeners: list[BrokerHeartbeatRequest.Listener]
    rack: str | None
    features: list[BrokerHeartbeatRequest.SupportedFeature]
    def __init__(
        self,
        *,
        target_state: int = ...,
        broker_id: int = ...,
        broker_epoch: int = ...,
        lease_start_time_ms: int = ...,
        cur_metadata_offset: int = ...,
        listeners: list[BrokerHeartbeatRequest.Listener] = ...,
        rack: str | None = ...,
        features: list[BrokerHeartbeatRequest.SupportedFeature] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class BrokerHeartbeatResponse(Message):
    throttle_time_ms: int
    error_code: int
    active_controller_id: int
    next_state: int
    broker_epoch: int
    lease_end_time_ms: int
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        active_controller_id: int = ...,
        next_state: int = ...,
        broker_epoch: int = ...,
        lease_end_time_ms: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class BrokerRecord(Message):
    class BrokerEndpoint(_Struct):
        name: str
        host: str
        port: int
        security_protocol: int
        def __init__(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            security_protocol: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class SupportedFeature(_Struct):
        name: str
        min_version: int
        max_version: int
        def __init__(
            self,
            *,
            name: str = ...,
            min_version: int = ...,
            max_version: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    broker_id: int
    broker_epoch: int
    end_points: list[BrokerRecord.BrokerEndpoint]
    rack: str | None
    since: int
    features: list[BrokerRecord.SupportedFeature]
    def __init__(
        self,
        *,
        broker_id: int = ...,
        broker_epoch: int = ...,
        end_points: list[BrokerRecord.BrokerEndpoint] = ...,
        rack: str | None = ...,
        since: int = ...,
        features: list[BrokerRecord.SupportedFeature] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ConfigRecord(Message):
    resource_type: int
    resource_name: str
    name: str
    value: str | None
    def __init__(
        self,
        *,
        resource_type: int = ...,
        resource_name: str = ...,
        name: str = ...,
        value: str | None = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ControlledShutdownRequest(RequestMessage[ControlledShutdownResponse]):
    broker_id: int
    broker_epoch: int
    def __init__(
        self,
        *,
        broker_id: int = ...,
        broker_epoch: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ControlledShutdownResponse(Message):
    class RemainingPartition(_Struct):
        topic_name: str
        partition_index: int
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    error_code: int
    remaining_partitions: list[ControlledShutdownResponse.RemainingPartition]
    def __init__(
        self,
        *,
        error_code: int = ...,
        remaining_partitions: list[ControlledShutdownResponse.RemainingPartition] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ControllerHeartbeatRequest(RequestMessage[ControllerHeartbeatResponse]):
    class SupportedFeature(_Struct):
        name: str
        min_version: int
        max_version: int
        def __init__(
            self,
            *,
            name: str = ...,
            min_version: int = ...,
            max_version: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    controller_id: int
    last_snapshot_offset: int
    features: list[ControllerHeartbeatRequest.SupportedFeature]
    def __init__(
        self,
        *,
        controller_id: int = ...,
        last_snapshot_offset: int = ...,
        features: list[ControllerHeartbeatRequest.SupportedFeature] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ControllerHeartbeatResponse(Message):
    throttle_time_ms: int
    error_code: int
    start_snapshot: bool
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        start_snapshot: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class CreateAclsRequest(RequestMessage[CreateAclsResponse]):
    class AclCreation(_Struct):
        resource_type: int
        resource_name: str
        resource_pattern_type: int
        principal: str
        host: str
        operation: int
        permission_type: int
        def __init__(
            self,
            *,
            resource_type: int = ...,
            resource_name: str = ...,
            resource_pattern_type: int = ...,
            principal: str = ...,
            host: str = ...,
            operation: int = ...,
            permission_type: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    creations: list[CreateAclsRequest.AclCreation]
    def __init__(
        self,
        *,
        creations: list[CreateAclsRequest.AclCreation] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class CreateAclsResponse(Message):
    class AclCreationResult(_Struct):
        error_code: int
        error_message: str | None
        def __init__(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    results: list[CreateAclsResponse.AclCreationResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        results: list[CreateAclsResponse.AclCreationResult] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class CreatePartitionsRequest(RequestMessage[CreatePartitionsResponse]):
    class CreatePartitionsAssignment(_Struct):
        broker_ids: list[int]
        def __init__(
            self,
            *,
            broker_ids: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class CreatePartitionsTopic(_Struct):
        name: str
        count: int
        assignments: list[CreatePartitionsRequest.CreatePartitionsAssignment] | None
        def __init__(
            self,
            *,
            name: str = ...,
            count: int = ...,
            assignments: list[CreatePartitionsRequest.CreatePartitionsAssignment] | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    topics: list[CreatePartitionsRequest.CreatePartitionsTopic]
    timeout_ms: int
    validate_only: bool
    def __init__(
        self,
        *,
        topics: list[CreatePartitionsRequest.CreatePartitionsTopic] = ...,
        timeout_ms: int = ...,
        validate_only: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class CreatePartitionsResponse(Message):
    class CreatePartitionsTopicResult(_Struct):
        name: str
        error_code: int
        error_message: str | None
        def __init__(
            self,
            *,
            name: str = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    results: list[CreatePartitionsResponse.CreatePartitionsTopicResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        results: list[CreatePartitionsResponse.CreatePartitionsTopicResult] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class CreateTopicsRequest(RequestMessage[CreateTopicsResponse]):
    class CreatableReplicaAssignment(_Struct):
        partition_index: int
        broker_ids: list[int]
        def __init__(
            self,
            *,
            partition_index: int = ...,
            broker_ids: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class CreatableTopicConfig(_Struct):
        name: str
        value: str | None
        def __init__(
            self,
            *,
            name: str = ...,
            value: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class CreatableTopic(_Struct):
        name: str
        num_partitions: int
        replication_factor: int
        assignments: list[CreateTopicsRequest.CreatableReplicaAssignment]
        configs: list[CreateTopicsRequest.CreatableTopicConfig]
        def __init__(
            self,
            *,
            name: str = ...,
            num_partitions: int = ...,
            replication_factor: int = ...,
            assignments: list[CreateTopicsRequest.CreatableReplicaAssignment] = ...,
            configs: list[CreateTopicsRequest.CreatableTopicConfig] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    topics: list[CreateTopicsRequest.CreatableTopic]
    timeout_ms: int
    validate_only: bool
    def __init__(
        self,
        *,
        topics: list[CreateTopicsRequest.CreatableTopic] = ...,
        timeout_ms: int = ...,
        validate_only: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class CreateTopicsResponse(Message):
    class CreatableTopicConfigs(_Struct):
        name: str
        value: str | None
        read_only: bool
        config_source: int
        is_sensitive: bool
        def __init__(
            self,
            *,
            name: str = ...,
            value: str | None = ...,
            read_only: bool = ...,
            config_source: int = ...,
            is_sensitive: bool = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class CreatableTopicResult(_Struct):
        name: str
        topic_id: UUID
        error_code: int
        error_message: str | None
        topic_config_error_code: int
        num_partitions: int
        replication_factor: int
        configs: list[CreateTopicsResponse.CreatableTopicConfigs] | None
        def __init__(
            self,
            *,
            name: str = ...,
            topic_id: UUID = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            topic_config_error_code: int = ...,
            num_partitions: int = ...,
            replication_factor: int = ...,
            configs: list[CreateTopicsResponse.CreatableTopicConfigs] | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    topics: list[CreateTopicsResponse.CreatableTopicResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[CreateTopicsResponse.CreatableTopicResult] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DeleteAccessControlRecord(Message):
    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int
    def __init__(
        self,
        *,
        resource_type: int = ...,
        resource_name: str | None = ...,
        pattern_type: int = ...,
        principal: str = ...,
        host: str = ...,
        operation: int = ...,
        permission_type: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DeleteAclsRequest(RequestMessage[DeleteAclsResponse]):
    class DeleteAclsFilter(_Struct):
        resource_type_filter: int
        resource_name_filter: str | None
        pattern_type_filter: int
        principal_filter: str | None
        host_filter: str | None
        operation: int
        permission_type: int
        def __init__(
            self,
            *,
            resource_type_filter: int = ...,
            resource_name_filter: str | None = ...,
            pattern_type_filter: int = ...,
            principal_filter: str | None = ...,
            host_filter: str | None = ...,
            operation: int = ...,
            permission_type: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    filters: list[DeleteAclsRequest.DeleteAclsFilter]
    def __init__(
        self,
        *,
        filters: list[DeleteAclsRequest.DeleteAclsFilter] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DeleteAclsResponse(Message):
    class DeleteAclsMatchingAcl(_Struct):
        error_code: int
        error_message: str | None
        resource_type: int
        resource_name: str
        pattern_type: int
        principal: str
        host: str
        operation: int
        permission_type: int
        def __init__(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            resource_type: int = ...,
            resource_name: str = ...,
            pattern_type: int = ...,
            principal: str = ...,
            host: str = ...,
            operation: int = ...,
            permission_type: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class DeleteAclsFilterResult(_Struct):
        error_code: int
        error_message: str | None
        matching_acls: list[DeleteAclsResponse.DeleteAclsMatchingAcl]
        def __init__(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            matching_acls: list[DeleteAclsResponse.DeleteAclsMatchingAcl] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    filter_results: list[DeleteAclsResponse.DeleteAclsFilterResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        filter_results: list[DeleteAclsResponse.DeleteAclsFilterResult] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DeleteBrokerRecord(Message):
    id: int
    def __init__(
        self,
        *,
        id: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DeleteGroupsRequest(RequestMessage[DeleteGroupsResponse]):
    groups_names: list[str]
    def __init__(
        self,
        *,
        groups_names: list[str] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DeleteGroupsResponse(Message):
    class DeletableGroupResult(_Struct):
        group_id: str
        error_code: int
        def __init__(
            self,
            *,
            group_id: str = ...,
            error_code: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    results: list[DeleteGroupsResponse.DeletableGroupResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        results: list[DeleteGroupsResponse.DeletableGroupResult] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DeleteRecordsRequest(RequestMessage[DeleteRecordsResponse]):
    class DeleteRecordsPartition(_Struct):
        partition_index: int
        offset: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            offset: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class DeleteRecordsTopic(_Struct):
        name: str
        partitions: list[DeleteRecordsRequest.DeleteRecordsPartition]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[DeleteRecordsRequest.DeleteRecordsPartition] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    topics: list[DeleteRecordsRequest.DeleteRecordsTopic]
    timeout_ms: int
    def __init__(
        self,
        *,
        topics: list[DeleteRecordsRequest.DeleteRecordsTopic] = ...,
        timeout_ms: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DeleteRecordsResponse(Message):
    class DeleteRecordsPartitionResult(_Struct):
        partition_index: int
        low_watermark: int
        error_code: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            low_watermark: int = ...,
            error_code: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class DeleteRecordsTopicResult(_Struct):
        name: str
        partitions: list[DeleteRecordsResponse.DeleteRecordsPartitionResult]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[DeleteRecordsResponse.DeleteRecordsPartitionResult] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    topics: list[DeleteRecordsResponse.DeleteRecordsTopicResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[DeleteRecordsResponse.DeleteRecordsTopicResult] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DeleteTopicRecord(Message):
    name: UUID
    def __init__(
        self,
        *,
        name: UUID = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DeleteTopicsRequest(RequestMessage[DeleteTopicsResponse]):
    class DeleteTopicState(_Struct):
        name: str | None
        topic_id: UUID
        def __init__(
            self,
            *,
            name: str | None = ...,
            topic_id: UUID = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    topics: list[DeleteTopicsRequest.DeleteTopicState]
    topic_names: list[str]
    timeout_ms: int
    def __init__(
        self,
        *,
        topics: list[DeleteTopicsRequest.DeleteTopicState] = ...,
        topic_names: list[str] = ...,
        timeout_ms: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DeleteTopicsResponse(Message):
    class DeletableTopicResult(_Struct):
        name: str | None
        topic_id: UUID
        error_code: int
        error_message: str | None
        def __init__(
            self,
            *,
            name: str | None = ...,
            topic_id: UUID = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    responses: list[DeleteTopicsResponse.DeletableTopicResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        responses: list[DeleteTopicsResponse.DeletableTopicResult] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DescribeAclsRequest(RequestMessage[DescribeAclsResponse]):
    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int
    def __init__(
        self,
        *,
        resource_type_filter: int = ...,
        resource_name_filter: str | None = ...,
        pattern_type_filter: int = ...,
        principal_filter: str | None = ...,
        host_filter: str | None = ...,
        operation: int = ...,
        permission_type: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DescribeAclsResponse(Message):
    class AclDescription(_Struct):
        principal: str
        host: str
        operation: int
        permission_type: int
        def __init__(
            self,
            *,
            principal: str = ...,
            host: str = ...,
            operation: int = ...,
            permission_type: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class DescribeAclsResource(_Struct):
        resource_type: int
        resource_name: str
        pattern_type: int
        acls: list[DescribeAclsResponse.AclDescription]
        def __init__(
            self,
            *,
            resource_type: int = ...,
            resource_name: str = ...,
            pattern_type: int = ...,
            acls: list[DescribeAclsResponse.AclDescription] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    resources: list[DescribeAclsResponse.DescribeAclsResource]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        resources: list[DescribeAclsResponse.DescribeAclsResource] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DescribeClusterRequest(RequestMessage[DescribeClusterResponse]):
    include_cluster_authorized_operations: bool
    endpoint_type: int
    include_fenced_brokers: bool
    def __init__(
        self,
        *,
        include_cluster_authorized_operations: bool = ...,
        endpoint_type: int = ...,
        include_fenced_brokers: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DescribeClusterResponse(Message):
    class DescribeClusterBroker(_Struct):
        broker_id: int
        host: str
        port: int
        rack: str | None
        is_fenced: bool
        def __init__(
            self,
            *,
            broker_id: int = ...,
            host: str = ...,
            port: int = ...,
            rack: str | None = ...,
            is_fenced: bool = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    endpoint_type: int
    cluster_id: str
    controller_id: int
    brokers: list[DescribeClusterResponse.DescribeClusterBroker]
    cluster_authorized_operations: int
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        endpoint_type: int = ...,
        cluster_id: str = ...,
        controller_id: int = ...,
        brokers: list[DescribeClusterResponse.DescribeClusterBroker] = ...,
        cluster_authorized_operations: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DescribeConfigsRequest(RequestMessage[DescribeConfigsResponse]):
    class DescribeConfigsResource(_Struct):
        resource_type: int
        resource_name: str
        configuration_keys: list[str] | None
        def __init__(
            self,
            *,
            resource_type: int = ...,
            resource_name: str = ...,
            configuration_keys: list[str] | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    resources: list[DescribeConfigsRequest.DescribeConfigsResource]
    include_synonyms: bool
    include_documentation: bool
    def __init__(
        self,
        *,
        resources: list[DescribeConfigsRequest.DescribeConfigsResource] = ...,
        include_synonyms: bool = ...,
        include_documentation: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DescribeConfigsResponse(Message):
    class DescribeConfigsSynonym(_Struct):
        name: str
        value: str | None
        source: int
        def __init__(
            self,
            *,
            name: str = ...,
            value: str | None = ...,
            source: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class DescribeConfigsResourceResult(_Struct):
        name: str
        value: str | None
        read_only: bool
        config_source: int
        is_sensitive: bool
        synonyms: list[DescribeConfigsResponse.DescribeConfigsSynonym]
        config_type: int
        documentation: str | None
        def __init__(
            self,
            *,
            name: str = ...,
            value: str | None = ...,
            read_only: bool = ...,
            config_source: int = ...,
            is_sensitive: bool = ...,
            synonyms: list[DescribeConfigsResponse.DescribeConfigsSynonym] = ...,
            config_type: int = ...,
            documentation: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class DescribeConfigsResult(_Struct):
        error_code: int
        error_message: str | None
        resource_type: int
        resource_name: str
        configs: list[DescribeConfigsResponse.DescribeConfigsResourceResult]
        def __init__(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            resource_type: int = ...,
            resource_name: str = ...,
            configs: list[DescribeConfigsResponse.DescribeConfigsResourceResult] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    results: list[DescribeConfigsResponse.DescribeConfigsResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        results: list[DescribeConfigsResponse.DescribeConfigsResult] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DescribeGroupsRequest(RequestMessage[DescribeGroupsResponse]):
    groups: list[str]
    include_authorized_operations: bool
    def __init__(
        self,
        *,
        groups: list[str] = ...,
        include_authorized_operations: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DescribeGroupsResponse(Message):
    class DescribedGroupMember(_Struct):
        member_id: str
        group_instance_id: str | None
        client_id: str
        client_host: str
        member_metadata: bytes
        member_assignment: bytes
        def __init__(
            self,
            *,
            member_id: str = ...,
            group_instance_id: str | None = ...,
            client_id: str = ...,
            client_host: str = ...,
            member_metadata: bytes = ...,
            member_assignment: bytes = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class DescribedGroup(_Struct):
        error_code: int
        group_id: str
        group_state: str
        protocol_type: str
        protocol_data: str
        members: list[DescribeGroupsResponse.DescribedGroupMember]
        authorized_operations: int
        def __init__(
            self,
            *,
            error_code: int = ...,
            group_id: str = ...,
            group_state: str = ...,
            protocol_type: str = ...,
            protocol_data: str = ...,
            members: list[DescribeGroupsResponse.DescribedGroupMember] = ...,
            authorized_operations: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    groups: list[DescribeGroupsResponse.DescribedGroup]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        groups: list[DescribeGroupsResponse.DescribedGroup] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DescribeLogDirsRequest(RequestMessage[DescribeLogDirsResponse]):
    class DescribableLogDirTopic(_Struct):
        topic: str
        partitions: list[int]
        def __init__(
            self,
            *,
            topic: str = ...,
            partitions: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    topics: list[DescribeLogDirsRequest.DescribableLogDirTopic] | None
    def __init__(
        self,
        *,
        topics: list[DescribeLogDirsRequest.DescribableLogDirTopic] | None = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DescribeLogDirsResponse(Message):
    class DescribeLogDirsPartition(_Struct):
        partition_index: int
        partition_size: int
        offset_lag: int
        is_future_key: bool
        def __init__(
            self,
            *,
            partition_index: int = ...,
            partition_size: int = ...,
            offset_lag: int = ...,
            is_future_key: bool = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class DescribeLogDirsTopic(_Struct):
        name: str
        partitions: list[DescribeLogDirsResponse.DescribeLogDirsPartition]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[DescribeLogDirsResponse.DescribeLogDirsPartition] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class DescribeLogDirsResult(_Struct):
        error_code: int
        log_dir: str
        topics: list[DescribeLogDirsResponse.DescribeLogDirsTopic]
        total_bytes: int
        usable_bytes: int
        def __init__(
            self,
            *,
            error_code: int = ...,
            log_dir: str = ...,
            topics: list[DescribeLogDirsResponse.DescribeLogDirsTopic] = ...,
            total_bytes: int = ...,
            usable_bytes: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    results: list[DescribeLogDirsResponse.DescribeLogDirsResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        results: list[DescribeLogDirsResponse.DescribeLogDirsResult] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DescribeQuorumRequest(RequestMessage[DescribeQuorumResponse]):
    class PartitionData(_Struct):
        partition_index: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        topic_name: str
        partitions: list[DescribeQuorumRequest.PartitionData]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partitions: list[DescribeQuorumRequest.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    topics: list[DescribeQuorumRequest.TopicData]
    def __init__(
        self,
        *,
        topics: list[DescribeQuorumRequest.TopicData] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class DescribeQuorumResponse(Message):
    class ReplicaState(_Struct):
        replica_id: int
        replica_directory_id: UUID
        log_end_offset: int
        last_fetch_timestamp: int
        last_caught_up_timestamp: int
        def __init__(
            self,
            *,
            replica_id: int = ...,
            replica_directory_id: UUID = ...,
            log_end_offset: int = ...,
            last_fetch_timestamp: int = ...,
            last_caught_up_timestamp: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class PartitionData(_Struct):
        partition_index: int
        error_code: int
        error_message: str | None
        leader_id: int
        leader_epoch: int
        high_watermark: int
        current_voters: list[DescribeQuorumResponse.ReplicaState]
        observers: list[DescribeQuorumResponse.ReplicaState]
        def __init__(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            high_watermark: int = ...,
            current_voters: list[DescribeQuorumResponse.ReplicaState] = ...,
            observers: list[DescribeQuorumResponse.ReplicaState] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        topic_name: str
        partitions: list[DescribeQuorumResponse.PartitionData]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partitions: list[DescribeQuorumResponse.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class Listener(_Struct):
        name: str
        host: str
        port: int
        def __init__(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class Node(_Struct):
        node_id: int
        listeners: list[DescribeQuorumResponse.Listener]
        def __init__(
            self,
            *,
            node_id: int = ...,
            listeners: list[DescribeQuorumResponse.Listener] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    error_code: int
    error_message: str | None
    topics: list[DescribeQuorumResponse.TopicData]
    nodes: list[DescribeQuorumResponse.Node]
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        topics: list[DescribeQuorumResponse.TopicData] = ...,
        nodes: list[DescribeQuorumResponse.Node] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ElectLeadersRequest(RequestMessage[ElectLeadersResponse]):
    class TopicPartitions(_Struct):
        topic: str
        partitions: list[int]
        def __init__(
            self,
            *,
            topic: str = ...,
            partitions: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    election_type: int
    topic_partitions: list[ElectLeadersRequest.TopicPartitions] | None
    timeout_ms: int
    def __init__(
        self,
        *,
        election_type: int = ...,
        topic_partitions: list[ElectLeadersRequest.TopicPartitions] | None = ...,
        timeout_ms: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ElectLeadersResponse(Message):
    class PartitionResult(_Struct):
        partition_id: int
        error_code: int
        error_message: str | None
        def __init__(
            self,
            *,
            partition_id: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class ReplicaElectionResult(_Struct):
        topic: str
        partition_result: list[ElectLeadersResponse.PartitionResult]
        def __init__(
            self,
            *,
            topic: str = ...,
            partition_result: list[ElectLeadersResponse.PartitionResult] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    replica_election_results: list[ElectLeadersResponse.ReplicaElectionResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        replica_election_results: list[ElectLeadersResponse.ReplicaElectionResult] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class EndQuorumEpochRequest(RequestMessage[EndQuorumEpochResponse]):
    class PartitionData(_Struct):
        partition_index: int
        leader_id: int
        leader_epoch: int
        preferred_successors: list[int]
        def __init__(
            self,
            *,
            partition_index: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            preferred_successors: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        topic_name: str
        partitions: list[EndQuorumEpochRequest.PartitionData]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partitions: list[EndQuorumEpochRequest.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    cluster_id: str | None
    topics: list[EndQuorumEpochRequest.TopicData]
    def __init__(
        self,
        *,
        cluster_id: str | None = ...,
        topics: list[EndQuorumEpochRequest.TopicData] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class EndQuorumEpochResponse(Message):
    class PartitionData(_Struct):
        partition_index: int
        error_code: int
        leader_id: int
        leader_epoch: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        topic_name: str
        partitions: list[EndQuorumEpochResponse.PartitionData]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partitions: list[EndQuorumEpochResponse.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    error_code: int
    topics: list[EndQuorumEpochResponse.TopicData]
    def __init__(
        self,
        *,
        error_code: int = ...,
        topics: list[EndQuorumEpochResponse.TopicData] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class FeatureLevelRecord(Message):
    name: str
    level: int
    def __init__(
        self,
        *,
        name: str = ...,
        level: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class FetchRequest(RequestMessage[FetchResponse]):
    class ReplicaState(_Struct):
        replica_id: int
        replica_epoch: int
        def __init__(
            self,
            *,
            replica_id: int = ...,
            replica_epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class FetchPartition(_Struct):
        partition: int
        current_leader_epoch: int
        fetch_offset: int
        last_fetched_epoch: int
        log_start_offset: int
        partition_max_bytes: int
        replica_directory_id: UUID
        def __init__(
            self,
            *,
            partition: int = ...,
            current_leader_epoch: int = ...,
            fetch_offset: int = ...,
            last_fetched_epoch: int = ...,
            log_start_offset: int = ...,
            partition_max_bytes: int = ...,
            replica_directory_id: UUID = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class FetchTopic(_Struct):
        topic: str
        topic_id: UUID
        partitions: list[FetchRequest.FetchPartition]
        def __init__(
            self,
            *,
            topic: str = ...,
            topic_id: UUID = ...,
            partitions: list[FetchRequest.FetchPartition] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class ForgottenTopic(_Struct):
        topic: str
        topic_id: UUID
        partitions: list[int]
        def __init__(
            self,
            *,
            topic: str = ...,
            topic_id: UUID = ...,
            partitions: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    cluster_id: str | None
    replica_id: int
    replica_state: FetchRequest.ReplicaState | None
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    topics: list[FetchRequest.FetchTopic]
    forgotten_topics_data: list[FetchRequest.ForgottenTopic]
    rack_id: str
    def __init__(
        self,
        *,
        cluster_id: str | None = ...,
        replica_id: int = ...,
        replica_state: FetchRequest.ReplicaState | None = ...,
        max_wait_ms: int = ...,
        min_bytes: int = ...,
        max_bytes: int = ...,
        isolation_level: int = ...,
        session_id: int = ...,
        session_epoch: int = ...,
        topics: list[FetchRequest.FetchTopic] = ...,
        forgotten_topics_data: list[FetchRequest.ForgottenTopic] = ...,
        rack_id: str = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class FetchResponse(Message):
    class EpochEndOffset(_Struct):
        epoch: int
        end_offset: int
        def __init__(
            self,
            *,
            epoch: int = ...,
            end_offset: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class LeaderIdAndEpoch(_Struct):
        leader_id: int
        leader_epoch: int
        def __init__(
            self,
            *,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class SnapshotId(_Struct):
        end_offset: int
        epoch: int
        def __init__(
            self,
            *,
            end_offset: int = ...,
            epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class AbortedTransaction(_Struct):
        producer_id: int
        first_offset: int
        def __init__(
            self,
            *,
            producer_id: int = ...,
            first_offset: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class PartitionData(_Struct):
        partition_index: int
        error_code: int
        high_watermark: int
        last_stable_offset: int
        log_start_offset: int
        diverging_epoch: FetchResponse.EpochEndOffset | None
        current_leader: FetchResponse.LeaderIdAndEpoch | None
        snapshot_id: FetchResponse.SnapshotId | None
        aborted_transactions: list[FetchResponse.AbortedTransaction] | None
        preferred_read_replica: int
        records: Buffer | None
        def __init__(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            high_watermark: int = ...,
            last_stable_offset: int = ...,
            log_start_offset: int = ...,
            diverging_epoch: FetchResponse.EpochEndOffset | None = ...,
            current_leader: FetchResponse.LeaderIdAndEpoch | None = ...,
            snapshot_id: FetchResponse.SnapshotId | None = ...,
            aborted_transactions: list[FetchResponse.AbortedTransaction] | None = ...,
            preferred_read_replica: int = ...,
            records: Buffer | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class FetchableTopicResponse(_Struct):
        topic: str
        topic_id: UUID
        partitions: list[FetchResponse.PartitionData]
        def __init__(
            self,
            *,
            topic: str = ...,
            topic_id: UUID = ...,
            partitions: list[FetchResponse.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class NodeEndpoint(_Struct):
        node_id: int
        host: str
        port: int
        rack: str | None
        def __init__(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            rack: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    session_id: int
    responses: list[FetchResponse.FetchableTopicResponse]
    node_endpoints: list[FetchResponse.NodeEndpoint]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        session_id: int = ...,
        responses: list[FetchResponse.FetchableTopicResponse] = ...,
        node_endpoints: list[FetchResponse.NodeEndpoint] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class FetchSnapshotRequest(RequestMessage[FetchSnapshotResponse]):
    class SnapshotId(_Struct):
        end_offset: int
        epoch: int
        def __init__(
            self,
            *,
            end_offset: int = ...,
            epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class PartitionSnapshot(_Struct):
        partition: int
        current_leader_epoch: int
        snapshot_id: FetchSnapshotRequest.SnapshotId
        position: int
        def __init__(
            self,
            *,
            partition: int = ...,
            current_leader_epoch: int = ...,
            snapshot_id: FetchSnapshotRequest.SnapshotId = ...,
            position: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicSnapshot(_Struct):
        name: str
        partitions: list[FetchSnapshotRequest.PartitionSnapshot]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[FetchSnapshotRequest.PartitionSnapshot] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    cluster_id: str | None
    replica_id: int
    max_bytes: int
    topics: list[FetchSnapshotRequest.TopicSnapshot]
    def __init__(
        self,
        *,
        cluster_id: str | None = ...,
        replica_id: int = ...,
        max_bytes: int = ...,
        topics: list[FetchSnapshotRequest.TopicSnapshot] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class FetchSnapshotResponse(Message):
    class SnapshotId(_Struct):
        end_offset: int
        epoch: int
        def __init__(
            self,
            *,
            end_offset: int = ...,
            epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class LeaderIdAndEpoch(_Struct):
        leader_id: int
        leader_epoch: int
        def __init__(
            self,
            *,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class PartitionSnapshot(_Struct):
        index: int
        error_code: int
        snapshot_id: FetchSnapshotResponse.SnapshotId
        current_leader: FetchSnapshotResponse.LeaderIdAndEpoch | None
        size: int
        position: int
        unaligned_records: Buffer | None
        def __init__(
            self,
            *,
            index: int = ...,
            error_code: int = ...,
            snapshot_id: FetchSnapshotResponse.SnapshotId = ...,
            current_leader: FetchSnapshotResponse.LeaderIdAndEpoch | None = ...,
            size: int = ...,
            position: int = ...,
            unaligned_records: Buffer | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicSnapshot(_Struct):
        name: str
        partitions: list[FetchSnapshotResponse.PartitionSnapshot]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[FetchSnapshotResponse.PartitionSnapshot] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    topics: list[FetchSnapshotResponse.TopicSnapshot]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        topics: list[FetchSnapshotResponse.TopicSnapshot] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class FindCoordinatorRequest(RequestMessage[FindCoordinatorResponse]):
    key: str
    key_type: int
    coordinator_keys: list[str]
    def __init__(
        self,
        *,
        key: str = ...,
        key_type: int = ...,
        coordinator_keys: list[str] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class FindCoordinatorResponse(Message):
    class Coordinator(_Struct):
        key: str
        node_id: int
        host: str
        port: int
        error_code: int
        error_message: str | None
        def __init__(
            self,
            *,
            key: str = ...,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    node_id: int
    host: str
    port: int
    coordinators: list[FindCoordinatorResponse.Coordinator]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        node_id: int = ...,
        host: str = ...,
        port: int = ...,
        coordinators: list[FindCoordinatorResponse.Coordinator] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class HeartbeatRequest(RequestMessage[HeartbeatResponse]):
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None
    def __init__(
        self,
        *,
        group_id: str = ...,
        generation_id: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class HeartbeatResponse(Message):
    throttle_time_ms: int
    error_code: int
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class HistoryRecord(Message):
    partitions_created: int
    deleted_leader_epoch: int
    def __init__(
        self,
        *,
        partitions_created: int = ...,
        deleted_leader_epoch: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class IncrementalAlterConfigsRequest(RequestMessage[IncrementalAlterConfigsResponse]):
    class AlterableConfig(_Struct):
        name: str
        config_operation: int
        value: str | None
        def __init__(
            self,
            *,
            name: str = ...,
            config_operation: int = ...,
            value: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class AlterConfigsResource(_Struct):
        resource_type: int
        resource_name: str
        configs: list[IncrementalAlterConfigsRequest.AlterableConfig]
        def __init__(
            self,
            *,
            resource_type: int = ...,
            resource_name: str = ...,
            configs: list[IncrementalAlterConfigsRequest.AlterableConfig] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    resources: list[IncrementalAlterConfigsRequest.AlterConfigsResource]
    validate_only: bool
    def __init__(
        self,
        *,
        resources: list[IncrementalAlterConfigsRequest.AlterConfigsResource] = ...,
        validate_only: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class IncrementalAlterConfigsResponse(Message):
    class AlterConfigsResourceResponse(_Struct):
        error_code: int
        error_message: str | None
        resource_type: int
        resource_name: str
        def __init__(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            resource_type: int = ...,
            resource_name: str = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    responses: list[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        responses: list[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class InitProducerIdRequest(RequestMessage[InitProducerIdResponse]):
    transactional_id: str | None
    transaction_timeout_ms: int
    producer_id: int
    producer_epoch: int
    def __init__(
        self,
        *,
        transactional_id: str | None = ...,
        transaction_timeout_ms: int = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class InitProducerIdResponse(Message):
    throttle_time_ms: int
    error_code: int
    producer_id: int
    producer_epoch: int
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class IsrChangeRecord(Message):
    partition_id: int
    topic_id: UUID
    isr: list[int]
    leader: int
    leader_epoch: int
    def __init__(
        self,
        *,
        partition_id: int = ...,
        topic_id: UUID = ...,
        isr: list[int] = ...,
        leader: int = ...,
        leader_epoch: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class IsrChangeRequest(RequestMessage[IsrChangeResponse]):
    class PartitionData(_Struct):
        leader_epoch: int
        partition_index: int
        isr_nodes: list[int]
        def __init__(
            self,
            *,
            leader_epoch: int = ...,
            partition_index: int = ...,
            isr_nodes: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        topic_name: str
        partitions: list[IsrChangeRequest.PartitionData]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partitions: list[IsrChangeRequest.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    broker_id: int
    incarnation_id: int
    topics: list[IsrChangeRequest.TopicData]
    def __init__(
        self,
        *,
        broker_id: int = ...,
        incarnation_id: int = ...,
        topics: list[IsrChangeRequest.TopicData] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class IsrChangeResponse(Message):
    class Result(_Struct):
        error_code: int
        error_message: str | None
        def __init__(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    top_level_error_code: int
    top_level_error_message: str | None
    results: list[IsrChangeResponse.Result]
    def __init__(
        self,
        *,
        top_level_error_code: int = ...,
        top_level_error_message: str | None = ...,
        results: list[IsrChangeResponse.Result] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class JoinGroupRequest(RequestMessage[JoinGroupResponse]):
    class JoinGroupRequestProtocol(_Struct):
        name: str
        metadata: bytes
        def __init__(
            self,
            *,
            name: str = ...,
            metadata: bytes = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    group_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str
    protocols: list[JoinGroupRequest.JoinGroupRequestProtocol]
    reason: str | None
    def __init__(
        self,
        *,
        group_id: str = ...,
        session_timeout_ms: int = ...,
        rebalance_timeout_ms: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        protocol_type: str = ...,
        protocols: list[JoinGroupRequest.JoinGroupRequestProtocol] = ...,
        reason: str | None = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class JoinGroupResponse(Message):
    class JoinGroupResponseMember(_Struct):
        member_id: str
        group_instance_id: str | None
        metadata: bytes
        def __init__(
            self,
            *,
            member_id: str = ...,
            group_instance_id: str | None = ...,
            metadata: bytes = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    generation_id: int
    protocol_type: str | None
    protocol_name: str | None
    leader: str
    skip_assignment: bool
    member_id: str
    members: list[JoinGroupResponse.JoinGroupResponseMember]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        generation_id: int = ...,
        protocol_type: str | None = ...,
        protocol_name: str | None = ...,
        leader: str = ...,
        skip_assignment: bool = ...,
        member_id: str = ...,
        members: list[JoinGroupResponse.JoinGroupResponseMember] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class LeaderAndIsrRequest(RequestMessage[LeaderAndIsrResponse]):
    class LeaderAndIsrPartitionState(_Struct):
        topic_name: str
        partition_index: int
        controller_epoch: int
        leader: int
        leader_epoch: int
        isr: list[int]
        partition_epoch: int
        replicas: list[int]
        adding_replicas: list[int]
        removing_replicas: list[int]
        is_new: bool
        leader_recovery_state: int
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            controller_epoch: int = ...,
            leader: int = ...,
            leader_epoch: int = ...,
            isr: list[int] = ...,
            partition_epoch: int = ...,
            replicas: list[int] = ...,
            adding_replicas: list[int] = ...,
            removing_replicas: list[int] = ...,
            is_new: bool = ...,
            leader_recovery_state: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class LeaderAndIsrTopicState(_Struct):
        topic_name: str
        topic_id: UUID
        partition_states: list[LeaderAndIsrRequest.LeaderAndIsrPartitionState]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            topic_id: UUID = ...,
            partition_states: list[LeaderAndIsrRequest.LeaderAndIsrPartitionState] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class LeaderAndIsrLiveLeader(_Struct):
        broker_id: int
        host_name: str
        port: int
        def __init__(
            self,
            *,
            broker_id: int = ...,
            host_name: str = ...,
            port: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    controller_id: int
    is_kraft_controller: bool
    controller_epoch: int
    broker_epoch: int
    type: int
    ungrouped_partition_states: list[LeaderAndIsrRequest.LeaderAndIsrPartitionState]
    topic_states: list[LeaderAndIsrRequest.LeaderAndIsrTopicState]
    live_leaders: list[LeaderAndIsrRequest.LeaderAndIsrLiveLeader]
    def __init__(
        self,
        *,
        controller_id: int = ...,
        is_kraft_controller: bool = ...,
        controller_epoch: int = ...,
        broker_epoch: int = ...,
        type: int = ...,
        ungrouped_partition_states: list[LeaderAndIsrRequest.LeaderAndIsrPartitionState] = ...,
        topic_states: list[LeaderAndIsrRequest.LeaderAndIsrTopicState] = ...,
        live_leaders: list[LeaderAndIsrRequest.LeaderAndIsrLiveLeader] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class LeaderAndIsrResponse(Message):
    class LeaderAndIsrPartitionError(_Struct):
        topic_name: str
        partition_index: int
        error_code: int
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            error_code: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class LeaderAndIsrTopicError(_Struct):
        topic_id: UUID
        partition_errors: list[LeaderAndIsrResponse.LeaderAndIsrPartitionError]
        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partition_errors: list[LeaderAndIsrResponse.LeaderAndIsrPartitionError] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    error_code: int
    partition_errors: list[LeaderAndIsrResponse.LeaderAndIsrPartitionError]
    topics: list[LeaderAndIsrResponse.LeaderAndIsrTopicError]
    def __init__(
        self,
        *,
        error_code: int = ...,
        partition_errors: list[LeaderAndIsrResponse.LeaderAndIsrPartitionError] = ...,
        topics: list[LeaderAndIsrResponse.LeaderAndIsrTopicError] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class LeaderChangeMessage(Message):
    class Voter(_Struct):
        voter_id: int
        def __init__(
            self,
            *,
            voter_id: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    version: int
    leader_id: int
    voters: list[LeaderChangeMessage.Voter]
    granting_voters: list[LeaderChangeMessage.Voter]
    def __init__(
        self,
        *,
        version: int = ...,
        leader_id: int = ...,
        voters: list[LeaderChangeMessage.Voter] = ...,
        granting_voters: list[LeaderChangeMessage.Voter] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class LeaveGroupRequest(RequestMessage[LeaveGroupResponse]):
    class MemberIdentity(_Struct):
        member_id: str
        group_instance_id: str | None
        reason: str | None
        def __init__(
            self,
            *,
            member_id: str = ...,
            group_instance_id: str | None = ...,
            reason: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    group_id: str
    member_id: str
    members: list[LeaveGroupRequest.MemberIdentity]
    def __init__(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        members: list[LeaveGroupRequest.MemberIdentity] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class LeaveGroupResponse(Message):
    class MemberResponse(_Struct):
        member_id: str
        group_instance_id: str | None
        error_code: int
        def __init__(
            self,
            *,
            member_id: str = ...,
            group_instance_id: str | None = ...,
            error_code: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    members: list[LeaveGroupResponse.MemberResponse]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        members: list[LeaveGroupResponse.MemberResponse] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ListGroupsRequest(RequestMessage[ListGroupsResponse]):
    states_filter: list[str]
    def __init__(
        self,
        *,
        states_filter: list[str] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ListGroupsResponse(Message):
    class ListedGroup(_Struct):
        group_id: str
        protocol_type: str
        group_state: str
        def __init__(
            self,
            *,
            group_id: str = ...,
            protocol_type: str = ...,
            group_state: str = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    groups: list[ListGroupsResponse.ListedGroup]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        groups: list[ListGroupsResponse.ListedGroup] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ListOffsetsRequest(RequestMessage[ListOffsetsResponse]):
    class ListOffsetsPartition(_Struct):
        partition_index: int
        current_leader_epoch: int
        timestamp: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            current_leader_epoch: int = ...,
            timestamp: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class ListOffsetsTopic(_Struct):
        name: str
        partitions: list[ListOffsetsRequest.ListOffsetsPartition]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[ListOffsetsRequest.ListOffsetsPartition] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    replica_id: int
    isolation_level: int
    topics: list[ListOffsetsRequest.ListOffsetsTopic]
    def __init__(
        self,
        *,
        replica_id: int = ...,
        isolation_level: int = ...,
        topics: list[ListOffsetsRequest.ListOffsetsTopic] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ListOffsetsResponse(Message):
    class ListOffsetsPartitionResponse(_Struct):
        partition_index: int
        error_code: int
        timestamp: int
        offset: int
        leader_epoch: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            timestamp: int = ...,
            offset: int = ...,
            leader_epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class ListOffsetsTopicResponse(_Struct):
        name: str
        partitions: list[ListOffsetsResponse.ListOffsetsPartitionResponse]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[ListOffsetsResponse.ListOffsetsPartitionResponse] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    topics: list[ListOffsetsResponse.ListOffsetsTopicResponse]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[ListOffsetsResponse.ListOffsetsTopicResponse] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ListPartitionReassignmentsRequest(RequestMessage[ListPartitionReassignmentsResponse]):
    class ListPartitionReassignmentsTopics(_Struct):
        name: str
        partition_indexes: list[int]
        def __init__(
            self,
            *,
            name: str = ...,
            partition_indexes: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    timeout_ms: int
    topics: list[ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics] | None
    def __init__(
        self,
        *,
        timeout_ms: int = ...,
        topics: list[ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics] | None = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ListPartitionReassignmentsResponse(Message):
    class OngoingPartitionReassignment(_Struct):
        partition_index: int
        replicas: list[int]
        adding_replicas: list[int]
        removing_replicas: list[int]
        def __init__(
            self,
            *,
            partition_index: int = ...,
            replicas: list[int] = ...,
            adding_replicas: list[int] = ...,
            removing_replicas: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OngoingTopicReassignment(_Struct):
        name: str
        partitions: list[ListPartitionReassignmentsResponse.OngoingPartitionReassignment]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[ListPartitionReassignmentsResponse.OngoingPartitionReassignment] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    topics: list[ListPartitionReassignmentsResponse.OngoingTopicReassignment]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        topics: list[ListPartitionReassignmentsResponse.OngoingTopicReassignment] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class MetadataHeartbeatRequest(RequestMessage[MetadataHeartbeatResponse]):
    broker_id: int
    incarnation_id: int
    target_state: int
    def __init__(
        self,
        *,
        broker_id: int = ...,
        incarnation_id: int = ...,
        target_state: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class MetadataHeartbeatResponse(Message):
    error_code: int
    error_string: str | None
    broker_id: int
    incarnation_id: int
    current_state: int
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_string: str | None = ...,
        broker_id: int = ...,
        incarnation_id: int = ...,
        current_state: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class MetadataRequest(RequestMessage[MetadataResponse]):
    class MetadataRequestTopic(_Struct):
        topic_id: UUID
        name: str | None
        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            name: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    topics: list[MetadataRequest.MetadataRequestTopic] | None
    allow_auto_topic_creation: bool
    include_cluster_authorized_operations: bool
    include_topic_authorized_operations: bool
    def __init__(
        self,
        *,
        topics: list[MetadataRequest.MetadataRequestTopic] | None = ...,
        allow_auto_topic_creation: bool = ...,
        include_cluster_authorized_operations: bool = ...,
        include_topic_authorized_operations: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class MetadataResponse(Message):
    class MetadataResponseBroker(_Struct):
        node_id: int
        host: str
        port: int
        rack: str | None
        def __init__(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            rack: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class MetadataResponsePartition(_Struct):
        error_code: int
        partition_index: int
        leader_id: int
        leader_epoch: int
        replica_nodes: list[int]
        isr_nodes: list[int]
        offline_replicas: list[int]
        def __init__(
            self,
            *,
            error_code: int = ...,
            partition_index: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            replica_nodes: list[int] = ...,
            isr_nodes: list[int] = ...,
            offline_replicas: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class MetadataResponseTopic(_Struct):
        error_code: int
        name: str | None
        topic_id: UUID
        is_internal: bool
        partitions: list[MetadataResponse.MetadataResponsePartition]
        topic_authorized_operations: int
        def __init__(
            self,
            *,
            error_code: int = ...,
            name: str | None = ...,
            topic_id: UUID = ...,
            is_internal: bool = ...,
            partitions: list[MetadataResponse.MetadataResponsePartition] = ...,
            topic_authorized_operations: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    brokers: list[MetadataResponse.MetadataResponseBroker]
    cluster_id: str | None
    controller_id: int
    topics: list[MetadataResponse.MetadataResponseTopic]
    cluster_authorized_operations: int
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        brokers: list[MetadataResponse.MetadataResponseBroker] = ...,
        cluster_id: str | None = ...,
        controller_id: int = ...,
        topics: list[MetadataResponse.MetadataResponseTopic] = ...,
        cluster_authorized_operations: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class OffsetCommitRequest(RequestMessage[OffsetCommitResponse]):
    class OffsetCommitRequestPartition(_Struct):
        partition_index: int
        committed_offset: int
        committed_leader_epoch: int
        committed_metadata: str | None
        def __init__(
            self,
            *,
            partition_index: int = ...,
            committed_offset: int = ...,
            committed_leader_epoch: int = ...,
            committed_metadata: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OffsetCommitRequestTopic(_Struct):
        name: str
        partitions: list[OffsetCommitRequest.OffsetCommitRequestPartition]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[OffsetCommitRequest.OffsetCommitRequestPartition] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    group_id: str
    generation_id_or_member_epoch: int
    member_id: str
    group_instance_id: str | None
    retention_time_ms: int
    topics: list[OffsetCommitRequest.OffsetCommitRequestTopic]
    def __init__(
        self,
        *,
        group_id: str = ...,
        generation_id_or_member_epoch: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        retention_time_ms: int = ...,
        topics: list[OffsetCommitRequest.OffsetCommitRequestTopic] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class OffsetCommitResponse(Message):
    class OffsetCommitResponsePartition(_Struct):
        partition_index: int
        error_code: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OffsetCommitResponseTopic(_Struct):
        name: str
        partitions: list[OffsetCommitResponse.OffsetCommitResponsePartition]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[OffsetCommitResponse.OffsetCommitResponsePartition] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    topics: list[OffsetCommitResponse.OffsetCommitResponseTopic]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[OffsetCommitResponse.OffsetCommitResponseTopic] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class OffsetDeleteRequest(RequestMessage[OffsetDeleteResponse]):
    class OffsetDeleteRequestPartition(_Struct):
        partition_index: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OffsetDeleteRequestTopic(_Struct):
        name: str
        partitions: list[OffsetDeleteRequest.OffsetDeleteRequestPartition]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[OffsetDeleteRequest.OffsetDeleteRequestPartition] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    group_id: str
    topics: list[OffsetDeleteRequest.OffsetDeleteRequestTopic]
    def __init__(
        self,
        *,
        group_id: str = ...,
        topics: list[OffsetDeleteRequest.OffsetDeleteRequestTopic] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class OffsetDeleteResponse(Message):
    class OffsetDeleteResponsePartition(_Struct):
        partition_index: int
        error_code: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OffsetDeleteResponseTopic(_Struct):
        name: str
        partitions: list[OffsetDeleteResponse.OffsetDeleteResponsePartition]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[OffsetDeleteResponse.OffsetDeleteResponsePartition] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    error_code: int
    throttle_time_ms: int
    topics: list[OffsetDeleteResponse.OffsetDeleteResponseTopic]
    def __init__(
        self,
        *,
        error_code: int = ...,
        throttle_time_ms: int = ...,
        topics: list[OffsetDeleteResponse.OffsetDeleteResponseTopic] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class OffsetFetchRequest(RequestMessage[OffsetFetchResponse]):
    class OffsetFetchRequestTopic(_Struct):
        name: str
        partition_indexes: list[int]
        def __init__(
            self,
            *,
            name: str = ...,
            partition_indexes: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OffsetFetchRequestTopics(_Struct):
        name: str
        partition_indexes: list[int]
        def __init__(
            self,
            *,
            name: str = ...,
            partition_indexes: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OffsetFetchRequestGroup(_Struct):
        group_id: str
        member_id: str | None
        member_epoch: int
        topics: list[OffsetFetchRequest.OffsetFetchRequestTopics] | None
        def __init__(
            self,
            *,
            group_id: str = ...,
            member_id: str | None = ...,
            member_epoch: int = ...,
            topics: list[OffsetFetchRequest.OffsetFetchRequestTopics] | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    group_id: str
    topics: list[OffsetFetchRequest.OffsetFetchRequestTopic] | None
    groups: list[OffsetFetchRequest.OffsetFetchRequestGroup]
    require_stable: bool
    def __init__(
        self,
        *,
        group_id: str = ...,
        topics: list[OffsetFetchRequest.OffsetFetchRequestTopic] | None = ...,
        groups: list[OffsetFetchRequest.OffsetFetchRequestGroup] = ...,
        require_stable: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class OffsetFetchResponse(Message):
    class OffsetFetchResponsePartition(_Struct):
        partition_index: int
        committed_offset: int
        committed_leader_epoch: int
        metadata: str | None
        error_code: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            committed_offset: int = ...,
            committed_leader_epoch: int = ...,
            metadata: str | None = ...,
            error_code: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OffsetFetchResponseTopic(_Struct):
        name: str
        partitions: list[OffsetFetchResponse.OffsetFetchResponsePartition]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[OffsetFetchResponse.OffsetFetchResponsePartition] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OffsetFetchResponsePartitions(_Struct):
        partition_index: int
        committed_offset: int
        committed_leader_epoch: int
        metadata: str | None
        error_code: int
        def __init__(
            self,
            *,
            partition_index: int = ...,
            committed_offset: int = ...,
            committed_leader_epoch: int = ...,
            metadata: str | None = ...,
            error_code: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OffsetFetchResponseTopics(_Struct):
        name: str
        partitions: list[OffsetFetchResponse.OffsetFetchResponsePartitions]
        def __init__(
            self,
            *,
            name: str = ...,
            partitions: list[OffsetFetchResponse.OffsetFetchResponsePartitions] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OffsetFetchResponseGroup(_Struct):
        group_id: str
        topics: list[OffsetFetchResponse.OffsetFetchResponseTopics]
        error_code: int
        def __init__(
            self,
            *,
            group_id: str = ...,
            topics: list[OffsetFetchResponse.OffsetFetchResponseTopics] = ...,
            error_code: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    topics: list[OffsetFetchResponse.OffsetFetchResponseTopic]
    error_code: int
    groups: list[OffsetFetchResponse.OffsetFetchResponseGroup]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[OffsetFetchResponse.OffsetFetchResponseTopic] = ...,
        error_code: int = ...,
        groups: list[OffsetFetchResponse.OffsetFetchResponseGroup] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class OffsetForLeaderEpochRequest(RequestMessage[OffsetForLeaderEpochResponse]):
    class OffsetForLeaderPartition(_Struct):
        partition: int
        current_leader_epoch: int
        leader_epoch: int
        def __init__(
            self,
            *,
            partition: int = ...,
            current_leader_epoch: int = ...,
            leader_epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OffsetForLeaderTopic(_Struct):
        topic: str
        partitions: list[OffsetForLeaderEpochRequest.OffsetForLeaderPartition]
        def __init__(
            self,
            *,
            topic: str = ...,
            partitions: list[OffsetForLeaderEpochRequest.OffsetForLeaderPartition] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    replica_id: int
    topics: list[OffsetForLeaderEpochRequest.OffsetForLeaderTopic]
    def __init__(
        self,
        *,
        replica_id: int = ...,
        topics: list[OffsetForLeaderEpochRequest.OffsetForLeaderTopic] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class OffsetForLeaderEpochResponse(Message):
    class EpochEndOffset(_Struct):
        error_code: int
        partition: int
        leader_epoch: int
        end_offset: int
        def __init__(
            self,
            *,
            error_code: int = ...,
            partition: int = ...,
            leader_epoch: int = ...,
            end_offset: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class OffsetForLeaderTopicResult(_Struct):
        topic: str
        partitions: list[OffsetForLeaderEpochResponse.EpochEndOffset]
        def __init__(
            self,
            *,
            topic: str = ...,
            partitions: list[OffsetForLeaderEpochResponse.EpochEndOffset] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    topics: list[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class PartitionRecord(Message):
    partition_id: int
    topic_id: UUID
    replicas: list[int]
    isr: list[int]
    removing_replicas: list[int]
    adding_replicas: list[int]
    leader: int
    leader_epoch: int
    leader_term_epoch: int
    joined: list[int]
    def __init__(
        self,
        *,
        partition_id: int = ...,
        topic_id: UUID = ...,
        replicas: list[int] = ...,
        isr: list[int] = ...,
        removing_replicas: list[int] = ...,
        adding_replicas: list[int] = ...,
        leader: int = ...,
        leader_epoch: int = ...,
        leader_term_epoch: int = ...,
        joined: list[int] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ProduceRequest(RequestMessage[ProduceResponse]):
    class PartitionProduceData(_Struct):
        index: int
        records: Buffer | None
        def __init__(
            self,
            *,
            index: int = ...,
            records: Buffer | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicProduceData(_Struct):
        name: str
        partition_data: list[ProduceRequest.PartitionProduceData]
        def __init__(
            self,
            *,
            name: str = ...,
            partition_data: list[ProduceRequest.PartitionProduceData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    transactional_id: str | None
    acks: int
    timeout_ms: int
    topic_data: list[ProduceRequest.TopicProduceData]
    def __init__(
        self,
        *,
        transactional_id: str | None = ...,
        acks: int = ...,
        timeout_ms: int = ...,
        topic_data: list[ProduceRequest.TopicProduceData] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ProduceResponse(Message):
    class BatchIndexAndErrorMessage(_Struct):
        batch_index: int
        batch_index_error_message: str | None
        def __init__(
            self,
            *,
            batch_index: int = ...,
            batch_index_error_message: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class LeaderIdAndEpoch(_Struct):
        leader_id: int
        leader_epoch: int
        def __init__(
            self,
            *,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class PartitionProduceResponse(_Struct):
        index: int
        error_code: int
        base_offset: int
        log_append_time_ms: int
        log_start_offset: int
        record_errors: list[ProduceResponse.BatchIndexAndErrorMessage]
        error_message: str | None
        current_leader: ProduceResponse.LeaderIdAndEpoch | None
        def __init__(
            self,
            *,
            index: int = ...,
            error_code: int = ...,
            base_offset: int = ...,
            log_append_time_ms: int = ...,
            log_start_offset: int = ...,
            record_errors: list[ProduceResponse.BatchIndexAndErrorMessage] = ...,
            error_message: str | None = ...,
            current_leader: ProduceResponse.LeaderIdAndEpoch | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicProduceResponse(_Struct):
        name: str
        partition_responses: list[ProduceResponse.PartitionProduceResponse]
        def __init__(
            self,
            *,
            name: str = ...,
            partition_responses: list[ProduceResponse.PartitionProduceResponse] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class NodeEndpoint(_Struct):
        node_id: int
        host: str
        port: int
        rack: str | None
        def __init__(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            rack: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    responses: list[ProduceResponse.TopicProduceResponse]
    throttle_time_ms: int
    node_endpoints: list[ProduceResponse.NodeEndpoint]
    def __init__(
        self,
        *,
        responses: list[ProduceResponse.TopicProduceResponse] = ...,
        throttle_time_ms: int = ...,
        node_endpoints: list[ProduceResponse.NodeEndpoint] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class QuorumVotersRecord(Message):
    class Voter(_Struct):
        voter_id: int
        host: str
        port: int
        def __init__(
            self,
            *,
            voter_id: int = ...,
            host: str = ...,
            port: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    version: int
    voters: list[QuorumVotersRecord.Voter]
    def __init__(
        self,
        *,
        version: int = ...,
        voters: list[QuorumVotersRecord.Voter] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class RemoveRaftVoterRequest(RequestMessage[RemoveRaftVoterResponse]):
    cluster_id: str | None
    voter_id: int
    voter_directory_id: UUID
    def __init__(
        self,
        *,
        cluster_id: str | None = ...,
        voter_id: int = ...,
        voter_directory_id: UUID = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class RemoveRaftVoterResponse(Message):
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ReplicaStateEventRequest(RequestMessage[ReplicaStateEventResponse]):
    class PartitionData(_Struct):
        partition_id: int
        leader_epoch: int
        def __init__(
            self,
            *,
            partition_id: int = ...,
            leader_epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        topic: str
        partitions: list[ReplicaStateEventRequest.PartitionData] | None
        def __init__(
            self,
            *,
            topic: str = ...,
            partitions: list[ReplicaStateEventRequest.PartitionData] | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    broker_id: int
    broker_epoch: int
    event_type: int
    event_reason: str | None
    topics: list[ReplicaStateEventRequest.TopicData] | None
    def __init__(
        self,
        *,
        broker_id: int = ...,
        broker_epoch: int = ...,
        event_type: int = ...,
        event_reason: str | None = ...,
        topics: list[ReplicaStateEventRequest.TopicData] | None = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class ReplicaStateEventResponse(Message):
    class PartitionData(_Struct):
        partition_id: int
        error_code: int
        def __init__(
            self,
            *,
            partition_id: int = ...,
            error_code: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        topic: str
        partitions: list[ReplicaStateEventResponse.PartitionData]
        def __init__(
            self,
            *,
            topic: str = ...,
            partitions: list[ReplicaStateEventResponse.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    error_code: int
    topics: list[ReplicaStateEventResponse.TopicData]
    def __init__(
        self,
        *,
        error_code: int = ...,
        topics: list[ReplicaStateEventResponse.TopicData] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class SaslAuthenticateRequest(RequestMessage[SaslAuthenticateResponse]):
    auth_bytes: bytes
    def __init__(
        self,
        *,
        auth_bytes: bytes = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class SaslAuthenticateResponse(Message):
    error_code: int
    error_message: str | None
    auth_bytes: bytes
    session_lifetime_ms: int
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        auth_bytes: bytes = ...,
        session_lifetime_ms: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class SaslHandshakeRequest(RequestMessage[SaslHandshakeResponse]):
    mechanism: str
    def __init__(
        self,
        *,
        mechanism: str = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class SaslHandshakeResponse(Message):
    error_code: int
    mechanisms: list[str]
    def __init__(
        self,
        *,
        error_code: int = ...,
        mechanisms: list[str] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class SnapshotFooterRecord(Message):
    version: int
    def __init__(
        self,
        *,
        version: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class SnapshotHeaderRecord(Message):
    version: int
    last_contained_log_timestamp: int
    def __init__(
        self,
        *,
        version: int = ...,
        last_contained_log_timestamp: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class StopReplicaRequest(RequestMessage[StopReplicaResponse]):
    class StopReplicaPartitionV0(_Struct):
        topic_name: str
        partition_index: int
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class StopReplicaTopicV1(_Struct):
        name: str
        partition_indexes: list[int]
        def __init__(
            self,
            *,
            name: str = ...,
            partition_indexes: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class StopReplicaPartitionState(_Struct):
        partition_index: int
        leader_epoch: int
        delete_partition: bool
        def __init__(
            self,
            *,
            partition_index: int = ...,
            leader_epoch: int = ...,
            delete_partition: bool = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class StopReplicaTopicState(_Struct):
        topic_name: str
        partition_states: list[StopReplicaRequest.StopReplicaPartitionState]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partition_states: list[StopReplicaRequest.StopReplicaPartitionState] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    controller_id: int
    is_kraft_controller: bool
    controller_epoch: int
    broker_epoch: int
    delete_partitions: bool
    ungrouped_partitions: list[StopReplicaRequest.StopReplicaPartitionV0]
    topics: list[StopReplicaRequest.StopReplicaTopicV1]
    topic_states: list[StopReplicaRequest.StopReplicaTopicState]
    def __init__(
        self,
        *,
        controller_id: int = ...,
        is_kraft_controller: bool = ...,
        controller_epoch: int = ...,
        broker_epoch: int = ...,
        delete_partitions: bool = ...,
        ungrouped_partitions: list[StopReplicaRequest.StopReplicaPartitionV0] = ...,
        topics: list[StopReplicaRequest.StopReplicaTopicV1] = ...,
        topic_states: list[StopReplicaRequest.StopReplicaTopicState] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class StopReplicaResponse(Message):
    class StopReplicaPartitionError(_Struct):
        topic_name: str
        partition_index: int
        error_code: int
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            error_code: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    error_code: int
    partition_errors: list[StopReplicaResponse.StopReplicaPartitionError]
    def __init__(
        self,
        *,
        error_code: int = ...,
        partition_errors: list[StopReplicaResponse.StopReplicaPartitionError] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class SyncGroupRequest(RequestMessage[SyncGroupResponse]):
    class SyncGroupRequestAssignment(_Struct):
        member_id: str
        assignment: bytes
        def __init__(
            self,
            *,
            member_id: str = ...,
            assignment: bytes = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str | None
    protocol_name: str | None
    assignments: list[SyncGroupRequest.SyncGroupRequestAssignment]
    def __init__(
        self,
        *,
        group_id: str = ...,
        generation_id: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        protocol_type: str | None = ...,
        protocol_name: str | None = ...,
        assignments: list[SyncGroupRequest.SyncGroupRequestAssignment] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class SyncGroupResponse(Message):
    throttle_time_ms: int
    error_code: int
    protocol_type: str | None
    protocol_name: str | None
    assignment: bytes
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        protocol_type: str | None = ...,
        protocol_name: str | None = ...,
        assignment: bytes = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class TopicRecord(Message):
    name: str
    topic_id: UUID
    deleting: bool
    def __init__(
        self,
        *,
        name: str = ...,
        topic_id: UUID = ...,
        deleting: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class UpdateFeaturesRequest(RequestMessage[UpdateFeaturesResponse]):
    class FeatureUpdateKey(_Struct):
        feature: str
        max_version_level: int
        allow_downgrade: bool
        upgrade_type: int
        def __init__(
            self,
            *,
            feature: str = ...,
            max_version_level: int = ...,
            allow_downgrade: bool = ...,
            upgrade_type: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    timeout_ms: int
    feature_updates: list[UpdateFeaturesRequest.FeatureUpdateKey]
    validate_only: bool
    def __init__(
        self,
        *,
        timeout_ms: int = ...,
        feature_updates: list[UpdateFeaturesRequest.FeatureUpdateKey] = ...,
        validate_only: bool = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class UpdateFeaturesResponse(Message):
    class UpdatableFeatureResult(_Struct):
        feature: str
        error_code: int
        error_message: str | None
        def __init__(
            self,
            *,
            feature: str = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    results: list[UpdateFeaturesResponse.UpdatableFeatureResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        results: list[UpdateFeaturesResponse.UpdatableFeatureResult] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class UpdateMetadataRequest(RequestMessage[UpdateMetadataResponse]):
    class UpdateMetadataPartitionState(_Struct):
        topic_name: str
        partition_index: int
        controller_epoch: int
        leader: int
        leader_epoch: int
        isr: list[int]
        zk_version: int
        replicas: list[int]
        offline_replicas: list[int]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            controller_epoch: int = ...,
            leader: int = ...,
            leader_epoch: int = ...,
            isr: list[int] = ...,
            zk_version: int = ...,
            replicas: list[int] = ...,
            offline_replicas: list[int] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class UpdateMetadataTopicState(_Struct):
        topic_name: str
        topic_id: UUID
        partition_states: list[UpdateMetadataRequest.UpdateMetadataPartitionState]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            topic_id: UUID = ...,
            partition_states: list[UpdateMetadataRequest.UpdateMetadataPartitionState] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class UpdateMetadataEndpoint(_Struct):
        port: int
        host: str
        listener: str
        security_protocol: int
        def __init__(
            self,
            *,
            port: int = ...,
            host: str = ...,
            listener: str = ...,
            security_protocol: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class UpdateMetadataBroker(_Struct):
        id: int
        v0_host: str
        v0_port: int
        endpoints: list[UpdateMetadataRequest.UpdateMetadataEndpoint]
        rack: str | None
        broker_epoch: int
        def __init__(
            self,
            *,
            id: int = ...,
            v0_host: str = ...,
            v0_port: int = ...,
            endpoints: list[UpdateMetadataRequest.UpdateMetadataEndpoint] = ...,
            rack: str | None = ...,
            broker_epoch: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    controller_id: int
    is_kraft_controller: bool
    type: int
    controller_epoch: int
    broker_epoch: int
    ungrouped_partition_states: list[UpdateMetadataRequest.UpdateMetadataPartitionState]
    topic_states: list[UpdateMetadataRequest.UpdateMetadataTopicState]
    live_brokers: list[UpdateMetadataRequest.UpdateMetadataBroker]
    def __init__(
        self,
        *,
        controller_id: int = ...,
        is_kraft_controller: bool = ...,
        type: int = ...,
        controller_epoch: int = ...,
        broker_epoch: int = ...,
        ungrouped_partition_states: list[UpdateMetadataRequest.UpdateMetadataPartitionState] = ...,
        topic_states: list[UpdateMetadataRequest.UpdateMetadataTopicState] = ...,
        live_brokers: list[UpdateMetadataRequest.UpdateMetadataBroker] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class UpdateMetadataResponse(Message):
    error_code: int
    def __init__(
        self,
        *,
        error_code: int = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class VoteRequest(RequestMessage[VoteResponse]):
    class PartitionData(_Struct):
        partition_index: int
        candidate_epoch: int
        candidate_id: int
        replica_directory_id: UUID
        voter_directory_id: UUID
        last_offset_epoch: int
        last_offset: int
        pre_vote: bool
        def __init__(
            self,
            *,
            partition_index: int = ...,
            candidate_epoch: int = ...,
            candidate_id: int = ...,
            replica_directory_id: UUID = ...,
            voter_directory_id: UUID = ...,
            last_offset_epoch: int = ...,
            last_offset: int = ...,
            pre_vote: bool = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        topic_name: str
        partitions: list[VoteRequest.PartitionData]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partitions: list[VoteRequest.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    cluster_id: str | None
    voter_id: int
    topics: list[VoteRequest.TopicData]
    def __init__(
        self,
        *,
        cluster_id: str | None = ...,
        voter_id: int = ...,
        topics: list[VoteRequest.TopicData] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...

class VoteResponse(Message):
    class PartitionData(_Struct):
        partition_index: int
        error_code: int
        leader_id: int
        leader_epoch: int
        vote_granted: bool
        def __init__(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            vote_granted: bool = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class TopicData(_Struct):
        topic_name: str
        partitions: list[VoteResponse.PartitionData]
        def __init__(
            self,
            *,
            topic_name: str = ...,
            partitions: list[VoteResponse.PartitionData] = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    class NodeEndpoint(_Struct):
        node_id: int
        host: str
        port: int
        def __init__(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            unknown_tags: Tags = ...,
        ) -> None: ...

    error_code: int
    topics: list[VoteResponse.TopicData]
    node_endpoints: list[VoteResponse.NodeEndpoint]
    def __init__(
        self,
        *,
        error_code: int = ...,
        topics: list[VoteResponse.TopicData] = ...,
        node_endpoints: list[VoteResponse.NodeEndpoint] = ...,
        unknown_tags: Tags = ...,
    ) -> None: ...
