"""A session among three servers."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import suppress

import pytest

from fencepost.cluster_impl.coordination.errors import ConnectionLost
from fencepost.cluster_impl.coordination.session_state import SessionState
from tests.cluster_impl.coordination.clients import Client, client
from tests.cluster_impl.zookeeper import Ensemble, ensemble
from tests.waiting import until

pytestmark = [pytest.mark.integration, pytest.mark.requirement("DINT-14")]


@pytest.fixture
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ensemble]:
    with ensemble(tmp_path_factory.mktemp("ensemble"), size=3) as running:
        yield running


@pytest.mark.requirement("INT-61")
async def test_a_session_moves_to_another_server_when_its_own_stands_still(three: Ensemble) -> None:
    async with client(three.connect, session_timeout=3) as zk:
        first = zk.session_id
        await zk.create("/moved", b"", ephemeral=True)
        three.servers[0].signal(signal.SIGSTOP)
        try:
            await until(lambda: zk.states.count(SessionState.CONNECTED) >= 2)
            assert await _is_there(zk, "/moved")
            assert zk.session_id == first
            assert SessionState.EXPIRED not in zk.states
        finally:
            three.servers[0].signal(signal.SIGCONT)


@pytest.mark.requirement("DINT-16")
async def test_a_session_outlives_a_time_without_a_quorum(three: Ensemble) -> None:
    async with client(three.connect, session_timeout=15) as zk:
        first = zk.session_id
        await zk.create("/kept", b"", ephemeral=True)
        for server in three.servers[:2]:
            server.kill()
        await until(lambda: zk.state is SessionState.SUSPENDED)
        for server in three.servers[:2]:
            server.start()
        assert await _is_there(zk, "/kept")
        assert zk.session_id == first


async def _is_there(zk: Client, path: str) -> bool:
    """A server that has found its leader may lose it once more."""
    while True:
        await zk.until_connected()
        with suppress(ConnectionLost):
            return await zk.exists(path) is not None
