"""Nodes that are cut off from the others, or fenced, and what they do not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.designs.quorum.controller.acls import describe_acls
from fencepost.cluster_impl.designs.quorum.controller.controller import QuorumController
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.api.test_coordinator import commit, committed, coordinator, join
from tests.cluster_impl.designs.quorum.controller.test_controller import Quorum as ScriptedQuorum
from tests.cluster_impl.designs.quorum.raft.local_quorum import CLUSTER_ID, Quorum
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster


@contextmanager
def cluster_of_three(folder: Path) -> Iterator[StaticCluster]:
    with static_cluster(folder, 3, DataPlaneConfig(lag_limit=60.0, fetch_wait=0.1)) as cluster:
        yield cluster


def fence(cluster: StaticCluster, broker_id: int) -> int:
    """Let a broker lose its lease, and know of no successor."""
    cluster.world.brokers[broker_id].control.fenced = True
    return broker_id


def test_a_coordinator_without_its_followers_commits_no_offset(tmp_path: Path) -> None:
    with cluster_of_three(tmp_path) as cluster:
        cluster.create("t", [[1, 2, 3]])
        leader = coordinator(cluster)
        assert commit(cluster, leader, 1) == Error.NONE
        for broker_id in {1, 2, 3} - {leader}:
            cluster.kill(broker_id)
        assert commit(cluster, leader, 2) != Error.NONE


def test_a_fenced_coordinator_shows_no_offsets(tmp_path: Path) -> None:
    with cluster_of_three(tmp_path) as cluster:
        cluster.create("t", [[1, 2, 3]])
        leader = coordinator(cluster)
        assert commit(cluster, leader, 1) == Error.NONE
        assert committed(cluster, fence(cluster, leader))[0] != Error.NONE


def test_a_fenced_coordinator_answers_no_member(tmp_path: Path) -> None:
    with cluster_of_three(tmp_path) as cluster:
        leader = coordinator(cluster)
        assert join(cluster, fence(cluster, leader)).error_code == Error.COORDINATOR_NOT_AVAILABLE


def test_a_fenced_leader_lists_no_offsets(tmp_path: Path) -> None:
    with cluster_of_three(tmp_path) as cluster:
        cluster.create("t", [[1, 2, 3]])
        latest = m.ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=-1)
        topic = m.ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=[latest])
        answer = cluster.ask(fence(cluster, 1), m.ListOffsetsRequest(topics=[topic]), 5)
        assert answer.topics[0].partitions[0].error_code == Error.NOT_LEADER_OR_FOLLOWER


def test_a_controller_without_a_majority_describes_nothing() -> None:
    async def answered() -> bool:
        controller = QuorumController(1, frozenset({1, 2, 3}), 10.0, ScriptedQuorum(), 100, 5.0)
        controller.on_elected(1)
        request = m.DescribeAclsRequest(resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1)
        asking = asyncio.create_task(controller.run(lambda state: describe_acls(state, request), 0.0))
        done, _ = await asyncio.wait({asking}, timeout=0.2)
        asking.cancel()
        controller.close()
        return bool(done)

    assert not asyncio.run(answered())


def test_a_change_of_voters_is_answered_by_a_majority(tmp_path: Path) -> None:
    async def removal() -> Error:
        async with Quorum(tmp_path, size=3) as quorum:
            leader = (await quorum.leader()).leader_id
            assert leader is not None
            others = [node_id for node_id in (1, 2, 3) if node_id != leader]
            for node_id in others:
                await quorum.stop(node_id)
            request = m.RemoveRaftVoterRequest(cluster_id=CLUSTER_ID, voter_id=others[0])
            return Error((await quorum.ask(leader, request, 0)).error_code)

    assert asyncio.run(removal()) is not Error.NONE
