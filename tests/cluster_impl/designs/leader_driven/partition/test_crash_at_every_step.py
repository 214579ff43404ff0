"""A leader dies between any two of its operations; the next leader finds a tree from which all goes on.

`Watcher` checks after each operation: epochs never go back, there is one leader per epoch, elected within the ISR and
in the ISR when it serves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from fencepost.cluster_impl.coordination.steps import Operation
from fencepost.cluster_impl.designs.leader_driven import znodes
from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster, partition

MOST = 250
"""Operations of one broker in any of these procedures."""


class _Killed(Exception):
    pass


class Case(NamedTuple):
    name: str
    begin: Callable[[MemoryCluster], None]
    victim: int


def _fail_over(cluster: MemoryCluster) -> None:
    cluster.kill(4)


CASES = [
    Case("the next leader of a failed one", _fail_over, 5),
    Case("its follower", _fail_over, 6),
    Case("leader that moves to others", lambda cluster: cluster.reassign("t-0", 5, 6, 7), 4),
    Case("leader that stays", lambda cluster: cluster.reassign("t-0", 4, 7), 4),
    Case("leader that is preferred no more", lambda cluster: cluster.reassign("t-0", 6, 4), 4),
    Case("replica that comes", lambda cluster: cluster.reassign("t-0", 7, 4, 5), 7),
    Case("replica that goes", lambda cluster: cluster.reassign("t-0", 4, 5), 6),
    Case("leader of what is deleted", lambda cluster: cluster.delete_topic("t"), 4),
    Case("follower of what is deleted", lambda cluster: cluster.delete_topic("t"), 5),
]


def play(case: Case, operations: int, *, expires_only: bool) -> bool:
    """Kill the victim after so many operations; return whether there were so many."""
    cluster = MemoryCluster(4, 5, 6, 7, seed=operations)
    cluster.create_topic("t", [4, 5, 6])
    cluster.pass_time(2.0)
    cluster.watcher.at_rest()
    cluster.brokers[4].data_plane.append(partition("t-0"))
    cluster.pass_time(0.5)
    victim, left = cluster.brokers[case.victim].session, operations
    is_over = False

    def count(operation: Operation, session: int) -> None:
        nonlocal left, is_over
        if session == victim and not is_over:
            if left == 0:
                is_over = True
                cluster.expire(case.victim) if expires_only else None
                raise _Killed
            left -= 1

    cluster.before = count
    try:
        case.begin(cluster)
        cluster.pass_time(8.0)
    except _Killed:
        if expires_only:
            cluster.brokers[case.victim].lose_session()
        else:
            cluster.kill(case.victim)
    victim = 0
    cluster.pass_time(6.0)
    for broker_id in (4, 5, 6, 7):
        if broker_id not in cluster.brokers:
            cluster.start(broker_id)
    cluster.pass_time(8.0)
    cluster.watcher.at_rest()
    assert cluster.partitions() == [partition("t-0")][: cluster.tree.exists(znodes.topic("t"))]
    return is_over


@pytest.mark.requirement("LD-03", "LD-76", "DLD-04", "DLD-10", "DLD-26")
@pytest.mark.parametrize("expires_only", [False, True], ids=["killed", "session ended"])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_was_cut_anywhere_is_completed(case: Case, expires_only: bool) -> None:
    for operations in range(MOST):
        if not play(case, operations, expires_only=expires_only):
            assert operations > 5
            return
    raise AssertionError("the procedure never ended")
