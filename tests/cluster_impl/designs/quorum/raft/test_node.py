"""Nodes over real sockets and files."""

import asyncio
import errno
import json
from pathlib import Path

import pytest

from fencepost.cluster_impl.designs.quorum.raft.core import NotLeader
from fencepost.cluster_impl.designs.quorum.raft.metadata_log import MetadataLog
from fencepost.cluster_impl.designs.quorum.raft.waiting import LostLeadership
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.raft.local_quorum import CLUSTER_ID, TIMEOUT_S, Quorum
from tests.waiting import until

pytestmark = pytest.mark.integration


async def test_committed_records_reach_every_listener_in_order_and_outlive_restarts(tmp_path: Path) -> None:
    async with Quorum(tmp_path) as quorum:
        await quorum.commit(b"a", b"b")
        first = await quorum.leader()
        leader_id, epoch = first.leader_id, first.epoch
        assert leader_id is not None
        await quorum.stop(leader_id)
        await quorum.commit(b"c")
        assert (await quorum.leader()).epoch > epoch
        await quorum.start(leader_id)
        await quorum.commit(b"d")
        for heard in quorum.heard.values():
            await until(lambda heard=heard: len(heard.records) == 4, "a node has all records")  # type: ignore[misc]
            assert [value for _, value in heard.records] == [b"a", b"b", b"c", b"d"]
        offsets = {tuple(offset for offset, _ in heard.records) for heard in quorum.heard.values()}
        assert len(offsets) == 1


async def test_all_restart_and_go_on(tmp_path: Path) -> None:
    async with Quorum(tmp_path) as quorum:
        await quorum.commit(b"before")
        epoch = (await quorum.leader()).epoch
    async with quorum:
        await quorum.commit(b"after")
        leader = await quorum.leader()
        assert leader.epoch > epoch
        assert leader.leader_id is not None
        assert [value for _, value in quorum.heard[leader.leader_id].records] == [b"before", b"after"]


async def test_the_vote_and_the_epoch_are_in_the_file_of_kafkas_name(tmp_path: Path) -> None:
    async with Quorum(tmp_path) as quorum:
        await quorum.commit(b"a")
        leader = await quorum.leader()
        content = json.loads((tmp_path / str(leader.leader_id) / "__kafka_metadata-0" / "quorum-state").read_text())
        assert content["leaderEpoch"] == leader.epoch
        assert content["votedId"] == content["leaderId"] == leader.leader_id


async def test_a_majority_confirms_leadership_and_without_one_it_is_lost_within_the_fetch_timeout(
    tmp_path: Path,
) -> None:
    async with Quorum(tmp_path) as quorum:
        leader = await quorum.leader()
        async with asyncio.timeout(TIMEOUT_S):
            await asyncio.gather(*(leader.confirm_leadership() for _ in range(10)))
        for node_id in list(quorum.nodes):
            if node_id != leader.leader_id:
                await quorum.stop(node_id)
        with pytest.raises(LostLeadership):
            async with asyncio.timeout(TIMEOUT_S):
                await leader.confirm_leadership()
        assert leader.leader_id is None
        assert sum(heard.resigned for heard in quorum.heard.values()) == 1


async def test_what_is_appended_without_a_majority_is_never_reported_as_committed(tmp_path: Path) -> None:
    async with Quorum(tmp_path) as quorum:
        await quorum.commit(b"a")
        leader = await quorum.leader()
        leader_id, epoch = leader.leader_id, leader.epoch
        assert leader_id is not None
        others = [node_id for node_id in quorum.nodes if node_id != leader_id]
        for node_id in others:
            await quorum.stop(node_id)
        offset = leader.append([b"lost"], epoch)
        with pytest.raises(LostLeadership):
            async with asyncio.timeout(TIMEOUT_S):
                await leader.committed(offset, epoch)
        await quorum.stop(leader_id)
        for node_id in others:
            await quorum.start(node_id)
        await quorum.commit(b"b")
        await quorum.start(leader_id)
        await until(lambda: len(quorum.heard[leader_id].records) == 2, "the old leader has caught up")
        assert [value for _, value in quorum.heard[leader_id].records] == [b"a", b"b"]


@pytest.mark.requirement("D631-35")
async def test_a_vote_from_a_foreign_cluster_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    async with Quorum(tmp_path) as quorum:
        leader = await quorum.leader()
        epoch = leader.epoch
        partition = m.VoteRequest.PartitionData(candidate_epoch=epoch + 5, candidate_id=1, last_offset=1000)
        topic = m.VoteRequest.TopicData(topic_name="__kafka_metadata", partitions=[partition])
        for node_id in quorum.nodes:
            answer = await quorum.ask(node_id, m.VoteRequest(cluster_id="another", topics=[topic]), 0)
            assert answer.error_code == Error.INCONSISTENT_CLUSTER_ID
            assert quorum.nodes[node_id].epoch == epoch
        other = m.VoteRequest.TopicData(topic_name="t", partitions=[partition])
        answer = await quorum.ask(1, m.VoteRequest(cluster_id=CLUSTER_ID, topics=[other]), 0)
        assert answer.error_code == Error.INVALID_REQUEST
        assert await quorum.leader() is leader


@pytest.mark.requirement("K631-11")
async def test_every_controller_describes_the_quorum_as_it_sees_it(tmp_path: Path) -> None:
    async with Quorum(tmp_path) as quorum:
        await quorum.commit(b"a")
        leader = await quorum.leader()
        topic = m.DescribeQuorumRequest.TopicData(
            topic_name="__kafka_metadata", partitions=[m.DescribeQuorumRequest.PartitionData(partition_index=0)]
        )
        for node_id, node in quorum.nodes.items():
            await until(lambda node=node: node.leader_id == leader.leader_id, "a node knows the leader")  # type: ignore[misc]
            answer = await quorum.ask(node_id, m.DescribeQuorumRequest(topics=[topic]), 1)
            (seen,) = answer.topics[0].partitions
            assert (seen.leader_id, seen.leader_epoch) == (leader.leader_id, leader.epoch)
            assert seen.error_code == (0 if node is leader else Error.NOT_LEADER_OR_FOLLOWER)
            assert [voter.replica_id for voter in seen.current_voters] == [1, 2, 3]


async def test_a_node_whose_disk_fails_stops_and_fails_what_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: MetadataLog) -> None:
        raise OSError(errno.EIO, "the disk is gone")

    async with Quorum(tmp_path) as quorum:
        leader = await quorum.leader()
        epoch = leader.epoch
        with monkeypatch.context() as patch:
            patch.setattr(MetadataLog, "flush", fails)
            offset = leader.append([b"a"], epoch)
            async with asyncio.timeout(TIMEOUT_S):
                with pytest.raises(LostLeadership):
                    await leader.committed(offset, epoch)
                with pytest.raises(OSError, match="the disk is gone"):
                    await leader.failed()
        with pytest.raises(NotLeader):
            leader.append([b"b"], epoch)
        with pytest.raises(LostLeadership):
            await leader.confirm_leadership()
