"""What of a node's configuration the data plane and the client APIs get, whatever the design."""

from __future__ import annotations

from dataclasses import replace

from cluster_impl.api.config import ApiConfig
from cluster_impl.config import NodeConfig
from cluster_impl.replication.config import ReplicationConfig
from cluster_impl.replication.rules import REPLICATION_V2
from cluster_impl.security.configured import login_of


def replication_config(config: NodeConfig) -> ReplicationConfig:
    shared = ReplicationConfig(
        inter_broker_listener=config.inter_broker_listener,
        lag_limit=config.replica_lag_time,
        fetch_wait=config.replica_fetch_wait,
        fetch_max_bytes=config.replica_fetch_max_bytes,
        min_isr=config.min_insync_replicas,
        message_max_bytes=config.message_max_bytes,
        segment_bytes=config.segment_bytes,
        checkpoint_interval=config.high_watermark_checkpoint_interval,
        login=login_of(config.security, config.inter_broker_listener),
    )
    design = config.leader_driven
    if design is None:
        return shared
    return replace(
        shared,
        lag_limit=design.keep_in_sync,
        isr_check_interval=design.tick,
        notes_empty_replicas=True,
        rules=REPLICATION_V2,
    )


def api_config(config: NodeConfig) -> ApiConfig:
    return ApiConfig(
        auto_create_topics=config.auto_create_topics,
        num_partitions=config.num_partitions,
        default_replication_factor=config.default_replication_factor,
        offsets_topic_num_partitions=config.offsets_partitions,
        offsets_topic_replication_factor=config.offsets_replication_factor,
        group_initial_rebalance_delay=config.group_initial_rebalance_delay,
        min_isr=config.min_insync_replicas,
        message_max_bytes=config.message_max_bytes,
    )
