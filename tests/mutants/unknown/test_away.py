"""Moves, and changes of voters, while one that they concern is away."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeStage
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange
from fencepost.cluster_impl.designs.shared.strays import Strays
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.records import encode_record
from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster as LeaderDrivenCluster
from tests.cluster_impl.designs.quorum.broker import test_metadata as broker_metadata
from tests.cluster_impl.designs.quorum.controller_model import Model
from tests.cluster_impl.designs.quorum.raft.local_quorum import CLUSTER_ID, Quorum
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import MemoryCluster as ZkCluster


def without_5() -> Model:
    """The topic t on 4 and 5, broker 6, and 5 away."""
    model = Model()
    model.join(4, 5, 6)
    model.topic("t", 4, 5)
    model.leave(5)
    return model


def test_no_replica_is_removed_while_one_that_stays_is_away() -> None:
    model = without_5()
    model.reassign("t", [6, 5])
    model.joins_isr("t", 6)
    assert model.partition("t").removing == (4,)


def test_a_replica_is_added_while_one_that_stays_is_away() -> None:
    model = without_5()
    model.reassign("t", [4, 5, 6])
    model.joins_isr("t", 6)
    assert not model.partition("t").is_reassigned


def test_a_broker_that_returns_removes_each_replica_that_it_lost() -> None:
    directory = SimpleNamespace(held={("t", 0), ("t", 1)})
    strays = Strays(cast("Any", [directory]), cast("Any", None))
    assert strays.beside({TopicPartition("t", 0)}) == [TopicPartition("t", 1)]


def test_a_voter_that_is_gone_can_be_removed(tmp_path: Path) -> None:
    async def removal() -> Error:
        async with Quorum(tmp_path, size=3) as quorum:
            leader = (await quorum.leader()).leader_id
            assert leader is not None
            lost = next(node_id for node_id in (1, 2, 3) if node_id != leader)
            await quorum.stop(lost)
            await asyncio.sleep(quorum.config().fetch_timeout + 0.2)
            request = m.RemoveRaftVoterRequest(cluster_id=CLUSTER_ID, voter_id=lost)
            return Error((await quorum.ask(leader, request, 0)).error_code)

    assert asyncio.run(removal()) is Error.NONE


def test_a_leader_waits_for_each_replica_of_the_target() -> None:
    cluster = LeaderDrivenCluster(4, 5, 6, 7)
    cluster.create_topic("t", [4, 5, 6])
    cluster.pass_time(2.0)
    cluster.kill(7)
    cluster.reassign("t-0", 4, 7)
    cluster.pass_time(8.0)
    requested = cluster.brokers[4].monitor.counts
    assert requested[StateChangeStage.REQUESTED, StateChange.START_REPLICA] == 1
    assert requested[StateChangeStage.REQUESTED, StateChange.CLOSE_REPLICA] == 0


def test_a_replica_that_a_snapshot_does_not_have_is_removed() -> None:
    broker, topic = broker_metadata.BrokerUnderTest(), UUID(int=1)
    broker.fetch(
        broker_metadata.registered(0),
        m.TopicRecord(name="t", topic_id=topic),
        broker_metadata.partition([4, 5], leader=4),
    )
    broker.granted(0)
    moved = (
        broker_metadata.registered(0),
        m.TopicRecord(name="t", topic_id=topic),
        broker_metadata.partition([5], leader=5),
    )
    broker.metadata.on_snapshot([encode_record(record) for record in moved], 20)
    assert broker.applied == [(4, 0), "removed"]


def test_a_controller_waits_for_each_replica_of_the_target() -> None:
    cluster = ZkCluster(brokers=(1, 2, 3, 4))
    cluster.elect()
    cluster.add_topic("t", (1, 2))
    cluster.settle()
    cluster.reassign({"t-0": (3, 1)})
    cluster.kill(3)
    cluster.settle()
    cluster.kill(2)
    cluster.settle()
    assert cluster.assignment("t-0").is_reassigned
