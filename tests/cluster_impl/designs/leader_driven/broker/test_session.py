"""The znodes that a broker of this design keeps for itself: claim and registration; and the confirmation of its
session."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time

import pytest

from fencepost.cluster_impl.config.values import Listener
from fencepost.cluster_impl.coordination.errors import SessionExpired
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.broker.broker import SessionConfirmation
from fencepost.cluster_impl.designs.leader_driven.broker.claim import IdClaim
from fencepost.cluster_impl.designs.leader_driven.broker.live_brokers import LiveBrokers
from fencepost.cluster_impl.designs.leader_driven.broker.registration import BrokerIdRegistration
from fencepost.cluster_impl.designs.on_zookeeper.cluster_id import found_cluster
from fencepost.cluster_impl.failures import NodeFailure, StartupError
from fencepost.cluster_impl.replication.control_plane import NO_EPOCH, Endpoint
from tests.cluster_impl.coordination.clients import client
from tests.cluster_impl.coordination.relay import Relay
from tests.cluster_impl.zookeeper import CLIENT_PORT, ZooKeeperServer
from tests.waiting import until

pytestmark = pytest.mark.integration

LISTENERS = (Listener("INTERNAL", "node-4", 9090), Listener("CLIENT", "node-4", 9092))


def relay(server: ZooKeeperServer) -> Relay:
    return Relay(server.address, CLIENT_PORT)


@pytest.mark.requirement("DLD-01")
async def test_a_claim_names_the_process_that_has_the_id_and_another_is_refused_in_a_message(
    server: ZooKeeperServer,
) -> None:
    async with client(server.connect, 1.0) as first, client(server.connect, 1.0) as second:
        await IdClaim(first, 7).first()
        claimed = json.loads((await first.get("/brokers/claims/7")).data)
        assert claimed == {"pid": os.getpid(), "host": socket.gethostname()}
        with pytest.raises(StartupError, match=rf"broker id 7 is claimed by another process \(pid {os.getpid()} "):
            await IdClaim(second, 7).first()


@pytest.mark.requirement("DLD-01")
async def test_the_claim_of_a_process_that_died_is_waited_for(server: ZooKeeperServer) -> None:
    async with relay(server) as link, client(link.connect, 1.0) as dead, client(server.connect, 1.0) as successor:
        await IdClaim(dead, 8).first()
        link.stall()
        await IdClaim(successor, 8).first()
        found = await successor.exists("/brokers/claims/8")
        assert found is not None and found.ephemeral_owner == successor.session_id


@pytest.mark.requirement("DLD-01")
async def test_a_broker_that_finds_its_id_claimed_after_its_session_expired_ends(server: ZooKeeperServer) -> None:
    async with relay(server) as link, client(link.connect, 1.0) as original, client(server.connect, 1.0) as younger:
        claim = IdClaim(original, 9)
        await claim.first()
        await claim.again()  # it is its own
        link.stall()
        await IdClaim(younger, 9).first()
        link.heal()
        await until(lambda: SessionState.EXPIRED in original.states)
        await original.until_connected()
        with pytest.raises(NodeFailure, match=r"broker id 9 was claimed by another process \(pid "):
            await claim.again()


@pytest.mark.requirement("LD-10", "DLD-02")
async def test_a_registration_names_the_listeners_and_its_transaction_is_the_broker_epoch(
    server: ZooKeeperServer,
) -> None:
    async with client(server.connect) as zookeeper, client(server.connect) as other:
        await found_cluster(zookeeper, znodes.ROOTS)
        registration = BrokerIdRegistration(zookeeper, 4, LISTENERS, "r1")
        assert registration.epoch == NO_EPOCH
        live = LiveBrokers(other)
        watching = asyncio.create_task(live.run())
        await live.known.wait()
        assert live.epochs == {}
        await registration.register()
        await until(lambda: live.epochs == {4: registration.epoch})
        assert live.views[4].endpoints == {
            "INTERNAL": Endpoint("node-4", 9090),
            "CLIENT": Endpoint("node-4", 9092),
        }
        assert live.views[4].rack == "r1"
        stat = await other.exists("/brokers/ids/4")
        assert stat is not None and stat.ephemeral_owner == zookeeper.session_id
        registration.lost()
        assert registration.epoch == NO_EPOCH
        await zookeeper.close()
        await until(lambda: live.epochs == {})
        watching.cancel()


async def test_a_registration_that_cannot_be_read_is_no_live_broker(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:
        await found_cluster(zookeeper, znodes.ROOTS)
        await zookeeper.create("/brokers/ids/5", b"{}", ephemeral=True)
        await zookeeper.create("/brokers/ids/someone", b"", ephemeral=True)
        live = LiveBrokers(zookeeper)
        await live.read()
        assert live.epochs == {}


@pytest.mark.requirement("DLD-15")
async def test_a_session_is_confirmed_while_the_servers_answer_and_for_its_time_after(server: ZooKeeperServer) -> None:
    async with relay(server) as link, client(link.connect, 1.5) as zookeeper:
        confirmation = SessionConfirmation(zookeeper)
        assert not confirmation.holds()
        asking = asyncio.create_task(confirmation.run())
        await until(confirmation.holds)
        began = asyncio.get_running_loop().time()
        while asyncio.get_running_loop().time() < began + 2.0:
            assert confirmation.holds()
            await asyncio.sleep(0.05)
        link.stall()
        stalled = time.monotonic()
        assert confirmation.holds()
        await until(lambda: not confirmation.holds())
        assert zookeeper.synced_at <= stalled < zookeeper.synced_at + 1.5 <= time.monotonic()
        link.heal()
        await until(confirmation.holds)
        asking.cancel()


async def test_a_registration_in_a_session_that_ends_is_none(server: ZooKeeperServer) -> None:
    async with relay(server) as link, client(link.connect, 1.0) as zookeeper, client(server.connect) as other:
        await found_cluster(other, znodes.ROOTS)
        await other.create("/brokers/ids/6", b"", ephemeral=True)
        registration = BrokerIdRegistration(zookeeper, 6, LISTENERS, None)
        registering = asyncio.create_task(registration.register())
        await until(lambda: zookeeper.watches > 0)
        link.stall()
        await until(lambda: not server.has_session(zookeeper.session_id))
        link.heal()
        with pytest.raises(SessionExpired):
            await registering
        assert registration.epoch == NO_EPOCH
