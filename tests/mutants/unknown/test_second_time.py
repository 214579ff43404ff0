"""The second time is as the first."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from fencepost.cluster_impl.designs.zk_controller.broker.topic_configs import TopicConfigs
from fencepost.cluster_impl.wire import messages as m
from tests.cluster_impl.designs.on_zookeeper.memory_zookeeper import MemoryZooKeeper
from tests.cluster_impl.designs.quorum.controller_model import Model
from tests.cluster_impl.designs.quorum.raft.local_quorum import Quorum
from tests.cluster_impl.designs.quorum.raft.test_core import FETCH_TIMEOUT, Voter
from tests.cluster_impl.replication.test_log_start import bounds, delete, produce
from tests.cluster_impl.static_cluster import static_cluster
from tests.waiting import until


def test_a_second_move_that_is_cancelled_leaves_the_first_replicas() -> None:
    model = Model()
    model.join(4, 5, 6)
    model.topic("t", 4)
    for target in ([5], [6], None):
        assert model.reassign("t", target) == 0
    assert model.partition("t").replicas == (4,)


async def snapshot(quorum: Quorum, value: bytes) -> None:
    node = quorum.nodes[1]
    last, before = await quorum.commit(value), node.snapshot_offset
    await until(lambda: node.last_stable_offset > last, "the node has the value")
    node.start_snapshot()
    await until(lambda: node.snapshot_offset > before, "the snapshot is written", within=5.0)


def test_a_controller_writes_a_second_snapshot(tmp_path: Path) -> None:
    async def twice() -> None:
        async with Quorum(tmp_path, size=1) as quorum:
            await snapshot(quorum, b"a")
            await snapshot(quorum, b"b")

    asyncio.run(twice())


def test_a_controller_that_was_a_voter_fetches_before_it_is_one_again() -> None:
    voter = Voter()
    voter.lead()
    voter.fetch(2, voter.core.log.end)
    voter.fetch(3, voter.core.log.end)
    addresses = {node_id: ("127.0.0.1", node_id) for node_id in (1, 2)}
    voter.core.change_voters(VoterSet.of(addresses), voter.now)
    end = voter.core.log.high_watermark
    assert voter.core.caught_up(3, end, voter.now)
    assert not RaftCore.caught_up(voter.core, 3, end, voter.now + FETCH_TIMEOUT + 1)


def test_a_second_deletion_below_the_first_brings_nothing_back(tmp_path: Path) -> None:
    with static_cluster(tmp_path, 1) as cluster:
        cluster.create("t", [[1]])
        produce(cluster, 1, 10)
        assert [delete(cluster, 1, before).low_watermark for before in (7, 3)] == [7, 7]
        cluster.stop(1)
        cluster.start(1)
        assert bounds(cluster, 1) == (7, 10)


def test_a_topic_made_again_has_its_own_settings_alone() -> None:
    model = Model()
    model.join(4)
    config = m.CreateTopicsRequest.CreatableTopicConfig(name="retention.ms", value="5")
    topic = m.CreateTopicsRequest.CreatableTopic
    model.create(topic(name="t", num_partitions=1, replication_factor=1, configs=[config]))
    model.delete("t")
    model.create(topic(name="t", num_partitions=1, replication_factor=1))
    assert model.image.config_of("t") == {}


def test_a_setting_that_is_changed_back_takes_effect() -> None:
    applied: list[Mapping[str, str]] = []

    async def there_and_back() -> None:
        zookeeper, topic_id = MemoryZooKeeper(), UUID(int=1)
        configs = TopicConfigs(cast("Any", zookeeper), lambda _, config: applied.append(config))
        for value in ("2", "1", "2"):
            settings = {"min.insync.replicas": value}
            zookeeper.put(config_znodes.topic_config("t"), config_znodes.write_config(settings))
            await (configs.read_again(["t"]) if applied else configs.load("t", topic_id))

    asyncio.run(there_and_back())
    assert [config["min.insync.replicas"] for config in applied] == ["2", "1", "2"]
