"""Topics' own settings and brokers' addresses, read from a real ZooKeeper."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper.cluster_id import found_cluster
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker.link import BrokerAddresses
from fencepost.cluster_impl.designs.zk_controller.broker.topic_configs import TopicConfigs
from fencepost.cluster_impl.replication.control_plane import BrokerView, ClusterView, Endpoint
from tests.cluster_impl.coordination.clients import client
from tests.cluster_impl.zookeeper import ZooKeeperServer, zookeeper

pytestmark = pytest.mark.integration

TOPIC, ANOTHER, PLAIN = UUID(int=1), UUID(int=2), UUID(int=3)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    with zookeeper(tmp_path_factory.mktemp("zookeeper")) as running:
        yield running


async def test_a_topics_settings_are_read_once_and_reported(server: ZooKeeperServer) -> None:
    known: list[tuple[UUID, Mapping[str, str]]] = []
    async with client(server.connect) as session:
        await found_cluster(session, znodes.ROOTS)
        path = config_znodes.topic_config("t")
        await session.create(path, config_znodes.write_config({"min.insync.replicas": "2"}))
        configs = TopicConfigs(session, lambda topic_id, config: known.append((topic_id, config)))
        assert configs.get(TOPIC) is None
        await asyncio.gather(configs.load("t", TOPIC), configs.load("t", TOPIC))
        assert configs.get(TOPIC) == {"min.insync.replicas": "2"}
        await session.set(path, config_znodes.write_config({}), -1)
        await configs.load("t", TOPIC)
        assert known == [(TOPIC, {"min.insync.replicas": "2"})]
        await configs.load("t", ANOTHER)  # made anew under its name
        assert configs.get(ANOTHER) == {}


@pytest.mark.parametrize("data", [None, b"no JSON"])
async def test_a_topic_whose_settings_cannot_be_read_has_the_defaults(
    server: ZooKeeperServer, data: bytes | None
) -> None:
    async with client(server.connect) as session:
        await found_cluster(session, znodes.ROOTS)
        if data is not None:
            await session.create(config_znodes.topic_config("plain"), data)
        configs = TopicConfigs(session, lambda *_: None)
        await configs.load("plain", PLAIN)
        assert configs.get(PLAIN) == {}


async def test_a_broker_is_found_by_its_znode_and_without_it_where_it_was_last(server: ZooKeeperServer) -> None:
    known = BrokerView(6, {"INTERNAL": Endpoint("node-6", 9090)})
    view = ClusterView("c", -1, {6: known}, {})
    async with client(server.connect) as session:
        await found_cluster(session, znodes.ROOTS)
        at = znodes.BrokerEndpoint("INTERNAL", "node-5", 9090, "PLAINTEXT")
        await session.create(znodes.broker(5), znodes.write_broker(znodes.BrokerInfo(5, (at,), 0)))
        addresses = BrokerAddresses(session, "INTERNAL", lambda: view)
        assert await addresses.find(5) == Endpoint("node-5", 9090)
        assert await addresses.find(6) == Endpoint("node-6", 9090)
        with pytest.raises(ConnectionError, match="the address of broker 7 is unknown"):
            await addresses.find(7)
        await session.delete(znodes.broker(5))
        assert await addresses.find(5) == Endpoint("node-5", 9090)
        addresses.doubt(5)
        with pytest.raises(ConnectionError):
            await addresses.find(5)
