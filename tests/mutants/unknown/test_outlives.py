"""State that outlives a snapshot, a failover, a restart."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

from fencepost.cluster_impl.api.groups.coordinator import Shard
from fencepost.cluster_impl.api.groups.offset_records import CommittedOffset, encode_key, encode_value
from fencepost.cluster_impl.designs.on_zookeeper.producer_ids import ProducerIds
from fencepost.cluster_impl.designs.quorum.controller import controller
from fencepost.cluster_impl.designs.quorum.controller.reassignment import list_reassignments
from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd
from fencepost.cluster_impl.designs.quorum.raft.snapshot_files import SnapshotFiles
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.batches import Record
from tests.cluster_impl.designs.on_zookeeper.memory_zookeeper import MemoryZooKeeper
from tests.cluster_impl.designs.quorum.controller_model import Model


class ZooKeeperOfBlocks(MemoryZooKeeper):
    async def create(self, path: str, data: bytes) -> None:
        self.put(path, data)

    async def set(self, path: str, data: bytes, version: int) -> None:
        self.put(path, data)


def through_a_snapshot(image: MetadataImage) -> MetadataImage:
    snapshot = controller.QuorumController(1, frozenset({1}), 1.0, cast("Any", None), 1, 1.0)
    snapshot.committed = image
    loaded = controller.QuorumController(1, frozenset({1}), 1.0, cast("Any", None), 1, 1.0)
    loaded.on_snapshot(list(snapshot.snapshot()), image.offset + 1)
    return loaded.committed


def test_a_broker_keeps_its_rack_in_a_snapshot() -> None:
    image = MetadataImage()
    image.replay(m.BrokerRecord(broker_id=4, broker_epoch=0, rack="r"), 0)
    assert through_a_snapshot(image).brokers[4].rack == "r"


def test_a_topic_made_again_begins_above_the_deleted_one_after_a_snapshot() -> None:
    model = Model()
    model.join(4, 5)
    model.topic("t", 4, 5)
    model.leave(4)
    reached = model.partition("t").leader_epoch
    model.delete("t")
    assert through_a_snapshot(model.image).first_leader_epoch() > reached


def test_a_new_term_knows_the_reassignments_under_way() -> None:
    model = Model()
    model.join(4, 5)
    model.topic("t", 4)
    model.reassign("t", [5])
    model.state.image = model.image.copy()
    moves = list_reassignments(model.state, m.ListPartitionReassignmentsRequest(topics=None)).reply
    assert [topic.name for topic in moves.topics] == ["t"]


def test_a_coordinator_loads_offsets_with_their_metadata() -> None:
    shard, partition, committed = Shard(cast("Any", None)), TopicPartition("t", 0), CommittedOffset(7, 3, "mine", 1)
    shard._replay(Record(0, 1, encode_key("g", partition), encode_value(committed)))
    assert shard.offsets == {"g": {partition: committed}}


def test_a_snapshot_holds_the_set_of_voters(tmp_path: Path) -> None:
    files, voters = SnapshotFiles(tmp_path), VoterSet.of({1: ("127.0.0.1", 9090), 4: ("127.0.0.4", 9090)})
    files.write(EpochEnd(1, 5), [b"value"], voters)
    assert files.find().voters == voters


def test_no_producer_id_is_given_twice_by_a_broker_that_restarts() -> None:
    async def first_id(zookeeper: MemoryZooKeeper) -> int:
        ids = ProducerIds(cast("Any", zookeeper), broker_id=4)
        await ids._take()
        return ids.next()

    async def both() -> tuple[int, int]:
        zookeeper = ZooKeeperOfBlocks()
        return await first_id(zookeeper), await first_id(zookeeper)

    first, second = asyncio.run(both())
    assert first != second
