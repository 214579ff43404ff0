"""The ZooKeeper session of a node."""

from __future__ import annotations

from fencepost.cluster_impl.config.zookeeper import ZooKeeperConfig
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.shared.node_shell import NodeShell


async def open_session(shell: NodeShell, config: ZooKeeperConfig, broker_id: int) -> ZooKeeper:
    """Return a connected session, which closes with the shell. Raises TimeoutError with a message."""
    # Each broker tries the servers in another order, so that the sessions are spread over them.
    zookeeper = ZooKeeper(config.connect_string, config.session_timeout, shell.hosts, first=broker_id)
    await zookeeper.start(config.connection_timeout)
    shell.closing.push_async_callback(zookeeper.close)
    return zookeeper
