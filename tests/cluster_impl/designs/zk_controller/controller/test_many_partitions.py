"""The controller's own work must not grow faster than the number of partitions."""

from __future__ import annotations

import sys

from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.events import ZnodeChange
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import MemoryCluster


class Calls:
    """Counts the calls of functions while it is entered: work that no busy machine makes more."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> None:
        sys.setprofile(self._note)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: object, event: str, argument: object) -> None:
        self.count += event in ("call", "c_call")


def calls_to_fail_over(partitions: int) -> int:
    """Count the controller's calls for the death of one of three brokers, with requests and without znodes."""
    cluster = MemoryCluster(brokers=(1, 2, 3))
    cluster.elect()
    layout = [(at % 3 + 1, (at + 1) % 3 + 1, (at + 2) % 3 + 1) for at in range(partitions)]
    cluster.add_topic("t", *layout)
    cluster.watches()
    cluster.kill(1)
    controller = cluster.controller
    assert controller is not None
    steps = controller.handle(ZnodeChange(znodes.BROKER_IDS, cluster.now))
    calls = Calls()
    with calls:
        batch = next(steps, None)
    while batch is not None:
        outcomes = cluster.tree.execute(batch)
        with calls:
            try:
                batch = steps.send(outcomes)
            except StopIteration:
                batch = None
    with calls:
        requests = controller.drain()
    assert len(requests) == 4
    assert all(cluster.state(f"t-{at}").leader in (2, 3) for at in range(0, partitions, 97))
    return calls.count


def test_ten_times_the_partitions_of_a_broker_that_dies_are_ten_times_the_work() -> None:
    assert calls_to_fail_over(2000) < 12 * calls_to_fail_over(200)
