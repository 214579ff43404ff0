"""A broker's znode, its cluster's id and its producer ids, on a real ZooKeeper."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from fencepost.cluster_impl.config.nodes import ZkControllerNodeConfig
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper.cluster_id import found_cluster
from fencepost.cluster_impl.designs.on_zookeeper.producer_ids import BLOCK, ProducerIds
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker.registration import ZnodeRegistration, broker_info
from fencepost.cluster_impl.failures import NodeFailure, StartupError
from fencepost.cluster_impl.replication.control_plane import ProducerIdsUnavailable
from tests.cluster_impl.configs import config_of
from tests.cluster_impl.coordination.clients import Client, client
from tests.cluster_impl.zookeeper import ZooKeeperServer, zookeeper
from tests.waiting import until

pytestmark = pytest.mark.integration

TIMEOUT = 20.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    with zookeeper(tmp_path_factory.mktemp("zookeeper")) as running:
        yield running


def config(broker_id: int, level: str = "2.6") -> ZkControllerNodeConfig:
    return config_of(
        ZkControllerNodeConfig,
        {
            "broker.id": str(broker_id),
            "zookeeper.connect": "zk-1:2181",
            "listeners": "INTERNAL://127.0.0.4:9090,CLIENT://127.0.0.4:9092",
            "advertised.listeners": "CLIENT://node-4:9092",
            "log.dirs": "/data",
            "inter.broker.protocol.version": level,
        },
    )


class Registered(ZnodeRegistration):
    """Records its notifications."""

    def __init__(self, on: ZooKeeper, broker_id: int, level: str = "2.6") -> None:
        self.epochs: list[int] = []
        self.losses = 0
        made = config(broker_id, level)
        ibp = made.controller.ibp
        super().__init__(
            on,
            broker_id,
            lambda: broker_info(made.advertised(), made.security, ibp, made.rack),
            self.epochs.append,
            self._count_loss,
        )

    def _count_loss(self) -> None:
        self.losses += 1


async def expire(session: Client) -> None:
    """End its session at the servers, without its knowing: what they do when they hear nothing of it."""
    assert session._session is not None
    other = KazooSession(session)
    await asyncio.to_thread(other.end)
    await until(lambda: SessionState.EXPIRED in session.states)


class KazooSession:
    """A second client on the same session, which it closes."""

    def __init__(self, session: Client) -> None:
        assert session._session is not None
        kazoo = session._session._client
        self._id = kazoo.client_id
        self._hosts = session._servers

    def end(self) -> None:
        from kazoo.client import KazooClient

        twin = KazooClient(hosts=",".join(self._hosts), client_id=self._id)
        twin.start(timeout=10)
        twin.stop()
        twin.close()


@asynccontextmanager
async def keeping(registration: ZnodeRegistration, *, waits: bool) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(registration.keep(waits=waits))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.requirement("INT-50", "INT-52", "K343-07", "K343-59", "K343-60", "DINT-09")
@pytest.mark.parametrize(("level", "version"), [("2.0", 4), ("2.1", 5)])
async def test_a_broker_says_where_it_listens_and_its_czxid_is_its_epoch(
    server: ZooKeeperServer, level: str, version: int
) -> None:
    async with client(server.connect) as session:
        registration = Registered(session, 4, level)
        await registration.first(TIMEOUT)
        found = await session.get("/brokers/ids/4")
        assert registration.epoch == found.stat.czxid
        assert registration.epochs == [found.stat.czxid]
        assert found.stat.ephemeral_owner == session.session_id
        said = json.loads(found.data)
        assert said.pop("timestamp").isdecimal()
        assert said == {
            "version": version,
            "host": "127.0.0.4",
            "port": 9090,
            "jmx_port": -1,
            "endpoints": ["INTERNAL://127.0.0.4:9090", "CLIENT://node-4:9092"],
            "listener_security_protocol_map": {"INTERNAL": "PLAINTEXT", "CLIENT": "PLAINTEXT"},
        }


@pytest.mark.requirement("DINT-17")
async def test_a_broker_waits_for_the_end_of_the_session_that_has_its_id(server: ZooKeeperServer) -> None:
    async with client(server.connect) as second:
        async with client(server.connect) as first:
            original = Registered(first, 5)
            await original.first(TIMEOUT)
            younger = Registered(second, 5)
            waiting = asyncio.create_task(younger.first(TIMEOUT))
            await asyncio.sleep(0.2)
            assert not waiting.done()
        await waiting
        assert younger.epoch > original.epochs[0]


@pytest.mark.requirement("DINT-17")
async def test_a_broker_whose_id_stays_taken_says_so_and_does_not_start(server: ZooKeeperServer) -> None:
    async with client(server.connect) as first, client(server.connect) as second:
        await Registered(first, 6).first(TIMEOUT)
        with pytest.raises(StartupError, match="broker id 6 is registered by another ZooKeeper session"):
            await Registered(second, 6).first(0.3)


@pytest.mark.requirement("INT-51")
async def test_a_broker_is_registered_anew_after_its_session_has_expired(server: ZooKeeperServer) -> None:
    async with client(server.connect) as session:
        registration = Registered(session, 7)
        await registration.first(TIMEOUT)
        async with keeping(registration, waits=False):
            await expire(session)
            await until(lambda: len(registration.epochs) == 2)
        assert registration.losses == 1
        assert registration.epochs[1] > registration.epochs[0]
        assert (await session.get("/brokers/ids/7")).stat.czxid == registration.epoch


@pytest.mark.requirement("D343-16", "DINT-18")
@pytest.mark.parametrize("waits", [True, False])
async def test_an_id_that_was_taken_meanwhile_is_waited_for_or_ends_the_broker(
    server: ZooKeeperServer, waits: bool
) -> None:
    async def test() -> None:
        async with client(server.connect) as session, client(server.connect) as rival_session:
            registration = Registered(session, 8)
            await registration.first(TIMEOUT)
            await expire(session)  # no task keeps the registration yet
            rival = Registered(rival_session, 8)
            await rival.first(TIMEOUT)
            async with keeping(registration, waits=waits) as kept:
                if not waits:
                    with pytest.raises(NodeFailure, match="broker id 8 was registered by another process"):
                        await kept
                    return
                await asyncio.sleep(0.2)
                assert registration.epoch == -1
                await rival_session.close()
                await until(lambda: registration.epoch > rival.epochs[0])

    await test()


async def test_all_nodes_of_a_cluster_find_the_id_that_the_first_has_made(server: ZooKeeperServer) -> None:
    async with client(server.connect) as one, client(server.connect) as other:
        ids = await asyncio.gather(found_cluster(one, znodes.ROOTS), found_cluster(other, znodes.ROOTS))
        assert len(set(ids)) == 1
        assert json.loads((await one.get("/cluster/id")).data) == {"version": "1", "id": ids[0]}
        assert await one.exists(znodes.ISR_CHANGES) is not None


async def test_no_two_brokers_give_out_the_same_producer_id(server: ZooKeeperServer) -> None:
    async with client(server.connect) as session:
        brokers = [ProducerIds(session, broker) for broker in (4, 5, 6)]
        with pytest.raises(ProducerIdsUnavailable):
            brokers[0].next()
        given: list[int] = []
        for broker in brokers:
            broker.prepare()
        while len(given) < 5 * BLOCK:
            for broker in brokers:
                try:
                    given.append(broker.next())
                except ProducerIdsUnavailable:
                    await asyncio.sleep(0.005)
        assert len(set(given)) == len(given)
        block = json.loads((await session.get("/latest_producer_id_block")).data)
        assert block["version"] == 1
        assert int(block["block_end"]) - int(block["block_start"]) == BLOCK - 1
