"""The controller's own work must not grow faster than the number of partitions."""

from __future__ import annotations

import time

from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller.events import ZnodeChanged
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import MemoryCluster


def time_to_fail_over(partitions: int) -> float:
    """CPU seconds of the core for the death of one of three brokers, requests included, znodes left out."""
    cluster = MemoryCluster(brokers=(1, 2, 3))
    cluster.elect()
    layout = [(at % 3 + 1, (at + 1) % 3 + 1, (at + 2) % 3 + 1) for at in range(partitions)]
    cluster.add_topic("t", *layout)
    cluster.watches()
    cluster.kill(1)
    controller = cluster.controller
    assert controller is not None
    steps = controller.handle(ZnodeChanged(znodes.BROKER_IDS, cluster.now))
    spent = 0.0
    begun = time.process_time()
    try:
        batch = next(steps)
        while True:
            spent += time.process_time() - begun
            outcomes = cluster.tree.execute(batch)
            begun = time.process_time()
            batch = steps.send(outcomes)
    except StopIteration:
        pass
    requests = controller.drain()
    spent += time.process_time() - begun
    assert len(requests) == 4
    assert all(cluster.state(f"t-{at}").leader in (2, 3) for at in range(0, partitions, 97))
    return spent


def test_a_broker_with_thousands_of_partitions_dies_in_time() -> None:
    """Ten times the partitions, well below a hundred times the work. 10,000 of them take 0.4 s of a core."""
    few = min(time_to_fail_over(200) for _ in range(3))
    many = min(time_to_fail_over(2000) for _ in range(2))
    assert many < 30 * few
    assert many < 2.0
