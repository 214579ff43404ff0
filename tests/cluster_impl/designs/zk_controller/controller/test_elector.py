"""Elections on a real ZooKeeper: one controller at a time, and no epoch twice."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from fencepost.cluster_impl.coordination.errors import CoordinationError
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.elector import NO_CONTROLLER, Elector, WonElection
from fencepost.cluster_impl.designs.zk_controller.znodes import CONTROLLER, CONTROLLER_EPOCH
from tests.cluster_impl.coordination.clients import Client, client
from tests.cluster_impl.coordination.relay import Relay
from tests.cluster_impl.zookeeper import CLIENT_PORT, ZooKeeperServer, zookeeper
from tests.waiting import until

pytestmark = pytest.mark.integration


def candidate(client: Client, broker_id: int, heard: list[int] | None = None) -> Elector:
    return Elector(client, broker_id, (heard if heard is not None else []).append)


async def no_controller(client: Client) -> None:
    await until_gone(client)
    if await client.exists(CONTROLLER_EPOCH) is not None:
        await client.delete(CONTROLLER_EPOCH)


async def until_gone(client: Client) -> None:
    gone = asyncio.Event()
    while await client.exists(CONTROLLER, lambda _: gone.set()) is not None:
        await gone.wait()
        gone.clear()


async def test_the_first_controller_of_all_has_epoch_one(tmp_path: Path) -> None:
    async def test(server: ZooKeeperServer) -> None:
        async with client(server.connect) as first:
            assert await candidate(first, 4).stand() == WonElection(epoch=1, epoch_version=1)
            assert (await first.get(CONTROLLER_EPOCH)).data == b"1"
            found = await first.get(CONTROLLER)
            assert found.stat.ephemeral_owner == first.session_id
            said = json.loads(found.data)
            assert said.pop("timestamp").isdecimal()
            assert said == {"version": 2, "brokerid": 4, "kraftControllerEpoch": -1}

    with zookeeper(tmp_path) as server:
        await test(server)


@pytest.mark.requirement("INT-01", "INT-65")
async def test_of_many_candidates_one_is_elected_and_the_others_know_it(server: ZooKeeperServer) -> None:
    async with client(server.connect) as shared:
        await no_controller(shared)
        clients = [Client(server.connect, 5.0) for _ in range(6)]
        await asyncio.gather(*(each.start(20) for each in clients))
        electors = [candidate(each, 10 + at) for at, each in enumerate(clients)]
        won = await asyncio.gather(*(elector.stand() for elector in electors))
        winners = [10 + at for at, elected in enumerate(won) if elected is not None]
        assert len(winners) == 1
        assert {elector.controller for elector in electors} == set(winners)
        await asyncio.gather(*(each.close() for each in clients))


@pytest.mark.requirement("INT-05", "INT-66")
async def test_every_candidate_hears_of_the_end_and_one_takes_over_at_a_higher_epoch(server: ZooKeeperServer) -> None:
    async with client(server.connect) as a, client(server.connect) as b, client(server.connect) as c:
        await no_controller(a)
        heard: list[int] = []
        first, second, third = candidate(a, 4), candidate(b, 5, heard), candidate(c, 6)
        won = await first.stand()
        assert won is not None
        assert await second.stand() is None
        assert await third.stand() is None
        await a.close()
        await asyncio.gather(second.until_changed(), third.until_changed())
        again = [each for each in await asyncio.gather(second.stand(), third.stand()) if each is not None]
        assert again == [WonElection(won.epoch + 1, won.epoch_version + 1)]
        assert heard[:2] == [4, NO_CONTROLLER]
        assert second.controller == third.controller


async def test_a_controller_that_resigns_is_followed_at_once_and_may_be_elected_again(server: ZooKeeperServer) -> None:
    async with client(server.connect) as a, client(server.connect) as b:
        await no_controller(a)
        first, second = candidate(a, 4), candidate(b, 5)
        one = await first.stand()
        assert one is not None
        assert await first.holds(one)
        await first.resign(one)
        assert not await first.holds(one)
        two = await second.stand()
        assert two is not None
        assert not await first.holds(one)
        await first.resign(one)
        assert await second.holds(two)
        await second.resign(two)
        three = await first.stand()
        assert three is not None
        assert [one.epoch + 1, one.epoch + 2] == [two.epoch, three.epoch]


async def test_a_controller_whose_epoch_was_raised_by_another_gives_up_its_own_znode(server: ZooKeeperServer) -> None:
    async with client(server.connect) as a:
        await no_controller(a)
        elector = candidate(a, 4)
        won = await elector.stand()
        assert won is not None
        await a.set(CONTROLLER_EPOCH, b"41", won.epoch_version)
        assert not await elector.holds(won)
        again = await elector.stand()
        assert again == WonElection(42, won.epoch_version + 2)
        assert await elector.holds(again)


@pytest.mark.requirement("INT-62", "INT-63")
async def test_a_controller_whose_session_expired_is_not_the_controller_and_stands_again(
    server: ZooKeeperServer,
) -> None:
    async with (
        Relay(server.address, CLIENT_PORT) as relay,
        client(server.connect) as other,
        client(relay.connect, session_timeout=0.5) as a,
    ):
        await no_controller(other)
        elector = candidate(a, 4)
        won = await elector.stand()
        assert won is not None
        relay.cut()
        await until_gone(other)
        relay.heal()
        await elector.until_changed()
        assert elector.controller == NO_CONTROLLER
        await until(lambda: SessionState.EXPIRED in a.states)
        await a.until_connected()
        assert not await elector.holds(won)
        again = await elector.stand()
        assert again is not None
        assert again.epoch == won.epoch + 1


async def test_no_epoch_is_used_twice_by_candidates_whose_links_break_all_the_time(server: ZooKeeperServer) -> None:
    """Each election is in doubt again and again; a candidate that believes it won is the only one at that epoch."""

    async with client(server.connect) as shared:
        await no_controller(shared)
        terms: list[int] = []

        async def stand_and_resign(broker_id: int) -> None:
            async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect, 20) as own:
                elector = candidate(own, broker_id)

                async def break_links() -> None:
                    pause = 0.008 * (broker_id % 3)
                    while True:
                        await own.until_connected()
                        await asyncio.sleep(pause)
                        pause *= 1.1  # in the end long enough for an election on any machine
                        relay.cut()
                        await until(lambda: own.state is not SessionState.CONNECTED)
                        relay.heal()

                breaking = asyncio.create_task(break_links())
                while len(terms) < 12:
                    try:
                        await own.until_connected()
                        won = await elector.stand()
                        if won is None:
                            await elector.until_changed()
                        else:
                            terms.append(won.epoch)
                            await elector.resign(won)
                    except CoordinationError:
                        pass
                breaking.cancel()

        await asyncio.gather(*(stand_and_resign(broker_id) for broker_id in (4, 5, 6)))
        assert len(set(terms)) == len(terms)
        assert terms == sorted(terms)
