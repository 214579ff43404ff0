"""Snapshots of nodes over real sockets and files."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from fencepost.cluster_impl.designs.quorum.raft.log_shape import LogGap
from fencepost.cluster_impl.designs.quorum.raft.node import RaftNode
from tests.cluster_impl.designs.quorum.raft.local_quorum import Quorum
from tests.waiting import until

pytestmark = pytest.mark.integration


async def snapshot(quorum: Quorum, node: RaftNode, *values: bytes) -> int:
    """Commit some values and have a node make a snapshot of them; return its end offset."""
    last = await quorum.commit(*values)
    await until(lambda: node.last_stable_offset > last, "the node has the values")
    before = node.snapshot_offset
    node.start_snapshot()
    await until(lambda: node.snapshot_offset > before, "the snapshot is written")
    return node.snapshot_offset


def folder(quorum: Quorum, node_id: int) -> Path:
    return quorum.folder / str(node_id) / "__kafka_metadata-0"


def names(quorum: Quorum, node_id: int, pattern: str) -> list[str]:
    return sorted(path.name for path in folder(quorum, node_id).glob(pattern))


def values(quorum: Quorum, node_id: int) -> list[bytes]:
    return [value for _, value in quorum.heard[node_id].records]


@pytest.mark.requirement("K631-23", "D631-30")
async def test_a_node_starts_from_its_newest_snapshot_and_its_log_is_cut_behind_the_one_before(tmp_path: Path) -> None:
    async with Quorum(tmp_path, size=1) as quorum:
        node = quorum.nodes[1]
        ends = [await snapshot(quorum, node, value) for value in (b"a", b"b", b"c")]
        assert len(names(quorum, 1, "*.checkpoint")) == 2
        (first, *_) = names(quorum, 1, "*.log")
        assert 0 < int(first.removesuffix(".log")) <= ends[1]
        await quorum.commit(b"d")
    async with quorum:
        await quorum.commit(b"e")
        assert quorum.heard[1].loaded == [ends[2]]
        assert values(quorum, 1) == [b"a", b"b", b"c", b"d", b"e"]


@pytest.mark.requirement("D631-29")
async def test_a_damaged_snapshot_costs_nothing_while_the_one_before_is_good(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Quorum(tmp_path, size=1) as quorum:
        ends = [await snapshot(quorum, quorum.nodes[1], value) for value in (b"a", b"b", b"c")]
        await quorum.commit(b"d")
    newest = folder(quorum, 1) / names(quorum, 1, "*.checkpoint")[-1]
    newest.write_bytes(newest.read_bytes()[:-3])
    with caplog.at_level(logging.ERROR):
        async with quorum:
            await quorum.commit(b"e")
            assert quorum.heard[1].loaded == [ends[1]]
            assert values(quorum, 1) == [b"a", b"b", b"c", b"d", b"e"]
    assert newest.name in caplog.text
    for path in folder(quorum, 1).glob("*.checkpoint"):
        path.write_bytes(b"")
    with pytest.raises(LogGap, match="no snapshot is good"):
        await quorum.start(1)


@pytest.mark.requirement("K631-23", "D631-30")
async def test_a_follower_that_is_too_far_behind_fetches_a_snapshot(tmp_path: Path) -> None:
    async with Quorum(tmp_path) as quorum:
        await quorum.commit(b"first")
        leader = await quorum.leader()
        behind = next(node_id for node_id in quorum.nodes if node_id != leader.leader_id)
        await quorum.stop(behind)
        large = [bytes([number]) * 100_000 for number in range(30)]
        for value in large:
            await quorum.commit(value)
        ends = [await snapshot(quorum, leader, value) for value in (b"a", b"b")]
        last = await quorum.commit(b"c")
        await quorum.start(behind)
        await until(lambda: quorum.nodes[behind].last_stable_offset > last, "the follower has caught up")
        assert quorum.heard[behind].loaded == [ends[1]]
        assert values(quorum, behind) == [b"first", *large, b"a", b"b", b"c"]
        assert quorum.nodes[behind].snapshot_offset == ends[1]
        assert names(quorum, behind, "*.part") == []
        # It is a voter like any other: with it, a majority commits without the third.
        await quorum.stop(next(node_id for node_id in quorum.nodes if node_id not in (behind, leader.leader_id)))
        await quorum.commit(b"d")
        await quorum.stop(behind)
        await quorum.start(behind)
        await quorum.commit(b"e")
        await until(lambda: values(quorum, behind)[-2:] == [b"d", b"e"], "it goes on from its own disk")
        assert quorum.heard[behind].loaded == [ends[1]]


async def test_a_snapshot_that_would_say_nothing_new_is_not_written(tmp_path: Path) -> None:
    async with Quorum(tmp_path, size=1) as quorum:
        end = await snapshot(quorum, quorum.nodes[1], b"a")
        quorum.nodes[1].start_snapshot()
        await quorum.commit(b"b")
        assert quorum.nodes[1].snapshot_offset == end
        assert len(names(quorum, 1, "*.checkpoint")) == 1
