"""The cluster metadata for clients, read from a real ZooKeeper; and shared reads."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import cast

import pytest

from fencepost.cluster_impl.coordination.znodes import Stat, Znode
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.broker.cluster_view import ClusterViews, SharedReads
from fencepost.cluster_impl.designs.leader_driven.broker.live_brokers import LiveBrokers
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import MetricsFile
from fencepost.cluster_impl.designs.on_zookeeper.cluster_id import found_cluster
from fencepost.cluster_impl.replication.control_plane import NO_EPOCH, NO_LEADER, PartitionView, TopicPartition
from tests.cluster_impl.coordination.clients import client
from tests.cluster_impl.coordination.relay import Relay
from tests.cluster_impl.zookeeper import CLIENT_PORT, ZooKeeperServer
from tests.waiting import until


async def write(
    zookeeper: ZooKeeper, at: TopicPartition, replicas: bytes, leader: bytes = b"", isr: bytes = b""
) -> None:
    for path, data in ((znodes.replicas(at), replicas), (znodes.leader(at), leader), (znodes.isr(at), isr)):
        if data:
            await zookeeper.create(path, data, make_parents=True)


@pytest.mark.integration
@pytest.mark.requirement("DLD-19", "DLD-18", "DLD-17")
async def test_a_client_is_shown_what_is_there_when_it_asks_and_the_asked_broker_as_controller(
    server: ZooKeeperServer,
) -> None:
    async with client(server.connect) as zookeeper:
        cluster_id = await found_cluster(zookeeper, znodes.ROOTS)
        made = await zookeeper.create("/brokers/topics/t", b'{"config":{"min.insync.replicas":"2"}}')
        await zookeeper.create("/brokers/topics/empty", b'{"config":{}}')
        await write(zookeeper, TopicPartition("t", 0), b"[4,5]", b'{"broker":4,"epoch":3}', b'{"isr":[4,5],"epoch":3}')
        await write(zookeeper, TopicPartition("t", 1), b"[5,4]")
        await write(zookeeper, TopicPartition("t", 2), b"[5,4]", b'{"broker":5,"epoch":-1}', b'{"isr":[4],"epoch":3}')
        await write(zookeeper, TopicPartition("t", 3), b"[5,4]", b'{"broker":5,"epoch":0}', b'{"isr":[],"epoch":0}')
        await write(zookeeper, TopicPartition("t", 4), b"", b'{"broker":5,"epoch":0}')
        await write(zookeeper, TopicPartition("t", 5), b"[5")
        views = ClusterViews(zookeeper, cluster_id, 4, LiveBrokers(zookeeper))
        assert views.view.topics == {}
        await views.look(["t", "absent"])
        topic = views.view.topics["t"]
        assert (views.view.cluster_id, views.view.controller_id) == (cluster_id, 4)
        assert topic.topic_id == znodes.topic_id(topic.name, made.stat.czxid)
        assert topic.config == {"min.insync.replicas": "2"}
        assert topic.partitions == {
            0: PartitionView((4, 5), (4, 5), 4, 3),
            1: PartitionView((5, 4), (), NO_LEADER, NO_EPOCH),
            2: PartitionView((5, 4), (4,), NO_LEADER, 3),
            3: PartitionView((5, 4), (), NO_LEADER, 0),
        }
        await views.look(None)
        assert views.view.topics.keys() == {"t"}
        await zookeeper.delete(znodes.leader(TopicPartition("t", 0)))
        await views.look(["t"])
        assert views.view.topics["t"].partitions[0].leader == NO_LEADER
        assert zookeeper.watches == 0
        views.close()


@pytest.mark.integration
async def test_what_cannot_be_read_is_shown_as_it_was(
    server: ZooKeeperServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with Relay(server.address, CLIENT_PORT) as link, client(link.connect, 2.0) as zookeeper:
        cluster_id = await found_cluster(zookeeper, znodes.ROOTS)
        at = TopicPartition("kept", 0)
        await zookeeper.create("/brokers/topics/kept", b'{"config":{}}')
        await write(zookeeper, at, b"[4]")
        views = ClusterViews(zookeeper, cluster_id, 4, LiveBrokers(zookeeper))
        await views.look(["kept"])
        link.stall()
        async with asyncio.timeout(20):
            await views.look(["kept"])
        assert "kept" in views.view.topics
        assert "may be out of date: ZooKeeper does not answer in time" in caplog.text
        views.close()


class Slow:
    """Stands in for `ZooKeeper`: topics of one partition, led by a broker at epoch 0. The first list of topics is given
    out late."""

    session_timeout = 10.0

    def __init__(self) -> None:
        self.leader = 4
        self.go_on = asyncio.Event()
        self.listed = asyncio.Event()

    async def children(self, path: str) -> list[str]:
        return ["t", "u"]

    async def children_of_many(self, paths: Sequence[str]) -> list[list[str]]:
        return [["0"] for _ in paths]

    async def get_many(self, paths: Sequence[str]) -> list[Znode | None]:
        found: list[Znode | None] = [self._znode(path) for path in paths]
        if len(paths) > 3:
            self.listed.set()
            await self.go_on.wait()
        return found

    def _znode(self, path: str) -> Znode:
        data = {
            "replicas": b"[4,5]",
            "leader": b'{"broker":%d,"epoch":0}' % self.leader,
            "ISR": b'{"isr":[4,5],"epoch":0}',
        }
        return Znode(data.get(path.rpartition("/")[2], b"{}"), Stat(1, 1, 1, 0, 0))


@pytest.mark.requirement("DLD-19")
async def test_what_was_read_of_one_topic_is_not_replaced_by_what_a_read_of_all_had_found_before() -> None:
    zookeeper = Slow()
    views = ClusterViews(cast("ZooKeeper", zookeeper), "cluster", 4, LiveBrokers(cast("ZooKeeper", zookeeper)))
    everything = asyncio.create_task(views.look(None))
    await zookeeper.listed.wait()
    zookeeper.leader = 5
    await views.look(["t"])
    assert views.view.topics["t"].partitions[0].leader == 5
    zookeeper.go_on.set()
    await everything
    assert {name: topic.partitions[0].leader for name, topic in views.view.topics.items()} == {"t": 5, "u": 4}
    views.close()


async def test_callers_during_a_read_share_the_next_one() -> None:
    begun: list[set[str]] = []
    go_on = asyncio.Event()

    async def read(wanted: Collection[str]) -> None:
        begun.append(set(wanted))
        await go_on.wait()

    reads = SharedReads(read)
    first = asyncio.create_task(reads.share(["a"]))
    await until(lambda: len(begun) == 1)
    others = [asyncio.create_task(reads.share([name])) for name in ("a", "b", "c")]
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(first, *others)
    assert begun == [{"a"}, {"a", "b", "c"}]


async def test_a_read_that_fails_fails_for_the_callers_that_share_it_and_for_no_other() -> None:
    failures = [ConnectionError("once")]

    async def read(_: Collection[str]) -> None:
        if failures:
            raise failures.pop()

    reads = SharedReads(read)
    with pytest.raises(ConnectionError, match="once"):
        await reads.share(["a"])
    await reads.share(["a"])


def test_the_metrics_file_is_replaced_as_a_whole_and_a_disk_that_takes_nothing_ends_no_broker(tmp_path: Path) -> None:
    numbers = iter(range(10))
    written = MetricsFile(tmp_path / "metrics.json", lambda: {"n": next(numbers)})
    written.write()
    written.write()
    assert (tmp_path / "metrics.json").read_text() == '{"n": 1}\n'
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.json"]
    MetricsFile(tmp_path / "absent" / "metrics.json", lambda: {"n": 0}).write()
