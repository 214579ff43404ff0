from __future__ import annotations

import pytest

from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster


@pytest.fixture
def cluster() -> MemoryCluster:
    """Brokers 4 to 7; partition t-0 is on 4, 5 and 6, led by 4 at epoch 0, and all are in sync."""
    cluster = MemoryCluster(4, 5, 6, 7)
    cluster.create_topic("t", [4, 5, 6])
    cluster.pass_time(2.0)
    cluster.watcher.at_rest()
    return cluster
