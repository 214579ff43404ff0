"""Voters that join and leave a quorum of real nodes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.raft.local_quorum import CLUSTER_ID, TIMEOUT_S, Quorum
from tests.waiting import until

pytestmark = pytest.mark.integration


async def add(quorum: Quorum, node_id: int) -> Error:
    host, port = quorum.voters[node_id]
    listener = m.AddRaftVoterRequest.Listener(name="CONTROLLER", host=host, port=port)
    request = m.AddRaftVoterRequest(cluster_id=CLUSTER_ID, timeout_ms=10_000, voter_id=node_id, listeners=[listener])
    leader = await quorum.leader()
    assert leader.leader_id is not None
    return Error((await quorum.ask(leader.leader_id, request, 0)).error_code)


async def remove(quorum: Quorum, node_id: int) -> Error:
    request = m.RemoveRaftVoterRequest(cluster_id=CLUSTER_ID, voter_id=node_id)
    leader = await quorum.leader()
    assert leader.leader_id is not None
    return Error((await quorum.ask(leader.leader_id, request, 0)).error_code)


@pytest.mark.requirement("K631-06")
async def test_a_voter_takes_the_place_of_another_and_the_quorum_outlives_restarts(tmp_path: Path) -> None:
    async with Quorum(tmp_path, spares=1) as quorum:
        await quorum.commit(b"a")
        assert await add(quorum, 4) is Error.NONE
        assert await add(quorum, 4) is Error.DUPLICATE_VOTER
        assert await remove(quorum, 3) is Error.NONE
        assert await remove(quorum, 3) is Error.VOTER_NOT_FOUND
        await quorum.stop(3)
        await until(lambda: all(heard.voters == {1, 2, 4} for heard in quorum.heard.values()), "all know the voters")
        # Of 1, 2 and 4 one may fail, though 3 is gone too.
        await quorum.stop(1)
        await quorum.commit(b"b")
        await quorum.start(1)
        for node_id in (1, 2, 4):
            await quorum.stop(node_id)
            await quorum.start(node_id)
        await quorum.commit(b"c")
        await until(lambda: all(heard.voters == {1, 2, 4} for heard in quorum.heard.values()), "the log names them")
        await until(lambda: [value for _, value in quorum.heard[4].records] == [b"a", b"b", b"c"], "4 has all records")


@pytest.mark.requirement("K631-06")
async def test_every_voter_can_be_replaced_and_the_first_three_are_needed_no_more(tmp_path: Path) -> None:
    async with Quorum(tmp_path, spares=3) as quorum:
        await quorum.commit(b"a")
        for new, old in ((4, 1), (5, 2), (6, 3)):
            assert await add(quorum, new) is Error.NONE
            assert await remove(quorum, old) is Error.NONE
            await quorum.stop(old)
        await quorum.commit(b"b")
        assert (await quorum.leader()).leader_id in (4, 5, 6)


async def test_a_removed_leader_commits_its_removal_and_lets_another_lead(tmp_path: Path) -> None:
    async with Quorum(tmp_path) as quorum:
        await quorum.commit(b"a")
        old = await quorum.leader()
        removed = old.leader_id
        assert removed is not None
        assert await remove(quorum, removed) is Error.NONE
        await until(lambda: old.leader_id not in (None, removed), "another leads", TIMEOUT_S)
        await quorum.commit(b"b")
        await until(lambda: len(quorum.heard[removed].records) == 2, "it follows without a vote")
        assert (await quorum.leader()).leader_id != removed


async def test_a_controller_that_never_fetched_is_not_made_a_voter(tmp_path: Path) -> None:
    async with Quorum(tmp_path) as quorum:
        await quorum.commit(b"a")
        quorum.voters[9] = ("127.0.0.1", 1)
        leader = await quorum.leader()
        assert leader.leader_id is not None
        listener = m.AddRaftVoterRequest.Listener(name="CONTROLLER", host="127.0.0.1", port=1)
        request = m.AddRaftVoterRequest(cluster_id=None, timeout_ms=200, voter_id=9, listeners=[listener])
        response = await quorum.ask(leader.leader_id, request, 0)
        assert Error(response.error_code) is Error.REQUEST_TIMED_OUT
        assert leader.voters.ids == {1, 2, 3}


async def test_a_snapshot_names_the_voters_to_a_node_that_starts_from_it(tmp_path: Path) -> None:
    async with Quorum(tmp_path, spares=1) as quorum:
        await quorum.commit(b"a")
        assert await add(quorum, 4) is Error.NONE
        for number in range(3):
            # The log is cut behind the older of two snapshots, and the record of the voters with it.
            await quorum.commit(b"%d" % number)
            for node in quorum.nodes.values():
                before = node.snapshot_offset
                node.start_snapshot()
                async with asyncio.timeout(TIMEOUT_S):
                    while node.snapshot_offset == before:
                        node.start_snapshot()
                        await asyncio.sleep(0.01)
        for node_id in (1, 2, 3, 4):
            await quorum.stop(node_id)
            await quorum.start(node_id)
        await quorum.commit(b"after")
        await until(lambda: all(heard.voters == {1, 2, 3, 4} for heard in quorum.heard.values()), "all know the voters")
