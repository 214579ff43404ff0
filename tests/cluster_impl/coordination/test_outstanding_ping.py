"""Connections to a ZooKeeper server that is slow, and to one that is silent."""

from __future__ import annotations

import asyncio

import pytest

from fencepost.cluster_impl.coordination.outstanding_ping import OutstandingPing
from fencepost.cluster_impl.coordination.session_state import SessionState
from tests.cluster_impl.coordination.clients import client
from tests.cluster_impl.coordination.relay import Relay
from tests.cluster_impl.zookeeper import CLIENT_PORT, ZooKeeperServer

SESSION_S = 1.5


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ping(clock: Clock) -> OutstandingPing:
    return OutstandingPing(SESSION_S, clock)


@pytest.mark.requirement("DINT-14")
def test_a_connection_ends_after_two_thirds_of_the_session_in_silence(ping: OutstandingPing, clock: Clock) -> None:
    clock.now = 0.4
    ping.set()
    clock.now = 0.99
    assert not ping.is_set()
    assert ping.left() == pytest.approx(0.01)
    clock.now = 1.0
    assert ping.is_set()


def test_later_pings_do_not_extend_the_timeout(ping: OutstandingPing, clock: Clock) -> None:
    for clock.now in (0.4, 0.8, 0.99):
        ping.set()
    clock.now = 1.01
    assert ping.is_set()


def test_anything_that_the_server_sends_extends_it(ping: OutstandingPing, clock: Clock) -> None:
    ping.set()
    clock.now = 0.9
    ping.heard()
    clock.now = 1.8
    assert not ping.is_set()
    clock.now = 2.0
    assert ping.is_set()


def test_a_ping_that_a_busy_process_sends_late_is_waited_for(ping: OutstandingPing, clock: Clock) -> None:
    clock.now = 5.0
    assert not ping.is_set()
    assert ping.left() is None
    ping.set()
    clock.now = 5.4
    assert not ping.is_set()
    clock.now = 5.51
    assert ping.is_set()


def test_an_answered_ping_is_waited_for_no_longer(ping: OutstandingPing, clock: Clock) -> None:
    ping.set()
    ping.clear()
    clock.now = 9.0
    assert not ping.is_set()


@pytest.mark.integration
@pytest.mark.requirement("DINT-14")
async def test_a_server_that_answers_within_half_a_session_keeps_its_connections(server: ZooKeeperServer) -> None:
    """A broker that starts needs a dozen round trips; with a connection that breaks meanwhile it never gets to the end.

    kazoo's own timeout is 0.1 to 0.9 s.
    """
    async with (
        Relay(server.address, CLIENT_PORT, delay=0.3) as relay,
        client(relay.connect, SESSION_S) as zk,
        asyncio.timeout(60),
    ):
        for _ in range(4):
            assert await zk.exists("/zookeeper") is not None
            await asyncio.sleep(0.9)  # idle: the connection is held by pings
        assert zk.states == [SessionState.CONNECTED]


@pytest.mark.integration
async def test_a_silent_server_loses_its_connection_before_the_session_ends(server: ZooKeeperServer) -> None:
    async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect, 3.0) as zk:
        loop = asyncio.get_running_loop()
        suspended = asyncio.Event()
        zk.listeners.append(lambda state: suspended.set() if state is SessionState.SUSPENDED else None)
        stalled_at = loop.time()
        relay.stall()
        async with asyncio.timeout(20):
            await suspended.wait()
        assert loop.time() - stalled_at < 3.0
        relay.heal()
