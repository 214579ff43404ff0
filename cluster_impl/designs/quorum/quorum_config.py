"""What of a node's configuration concerns the metadata quorum, for those who vote in it and those who follow it."""

from __future__ import annotations

from cluster_impl.config import NodeConfig
from cluster_impl.designs.quorum.raft.config import RaftConfig
from cluster_impl.security.configured import login_of


def raft_config(config: NodeConfig) -> RaftConfig:
    return RaftConfig(
        node_id=config.node_id,
        voters={voter.id: (voter.host, voter.port) for voter in config.voters},
        cluster_id=config.cluster_id,
        election_timeout=config.election_timeout,
        fetch_timeout=config.fetch_timeout,
        request_timeout=config.request_timeout,
        login=login_of(config.security, config.controller_listeners[0]) if config.controller_listeners else None,
    )
