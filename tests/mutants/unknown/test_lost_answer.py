"""Requests that are repeated because their answer was lost."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from fencepost.cluster_impl.api.groups.group import Group
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper.config_writes import ConfigWriter
from fencepost.cluster_impl.designs.quorum.controller.snapshot_schedule import SnapshotSchedule
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.shared.isr_proposals import IsrProposals
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker.broker_settings import TOPIC_ZNODES
from fencepost.cluster_impl.replication.control_plane import IsrOutcome, IsrRefused, IsrUnknown
from fencepost.cluster_impl.replication.rules import KIP_101
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.api.test_group import SESSION, stable, synced
from tests.cluster_impl.designs.on_zookeeper.memory_zookeeper import MemoryZooKeeper
from tests.cluster_impl.designs.on_zookeeper.test_config_writes import MIN_ISR, SET, steps
from tests.cluster_impl.designs.quorum.controller_model import Model
from tests.cluster_impl.designs.shared.test_isr_proposals import PROPOSAL, Controller
from tests.cluster_impl.replication.direct import Replicas
from tests.cluster_impl.requests import batch


def test_the_refusal_of_a_repeated_isr_change_decides_nothing() -> None:
    async def outcome() -> IsrOutcome:
        controller = Controller(IsrUnknown("no answer"), IsrRefused(Error.INVALID_UPDATE_VERSION))
        return await IsrProposals(controller.send).change(PROPOSAL, 5.0)

    assert isinstance(asyncio.run(outcome()), IsrUnknown)


def test_a_repeated_sync_gets_the_assignment_again() -> None:
    group = stable("a", "b")
    assert synced(group.sync("b", None, 1, {}, "again", 2.0))["again"].assignment == b"for b"


def test_an_id_that_its_client_never_got_lapses() -> None:
    group = Group("g", initial_delay=0.0)
    group.give_id("lost", SESSION, 0.0)
    group.tick(SESSION + 1)
    assert group.is_idle


def test_a_snapshot_is_asked_for_until_it_is_reported() -> None:
    schedule = SnapshotSchedule(100, 5.0, 0.0)
    assert [schedule.heard(1, 0, 200, now) for now in (6.0, 7.0, 8.0)] == [True, True, True]
    assert not schedule.heard(1, 150, 200, 9.0)


def test_a_repeated_batch_waits_for_its_commit() -> None:
    replicas = Replicas(KIP_101)
    replicas.elect(1)
    leader, records = replicas.leading.replica, batch("a", producer_id=7, sequence=0)
    first, again = (leader.append_as_leader(records, -1, 0.0) for _ in range(2))
    assert (again.base_offset, again.next_offset) == (first.base_offset, first.next_offset)
    assert leader.core.acknowledges(again.next_offset, leader.core.led_since) is None


def test_a_change_of_settings_is_made_before_it_is_answered() -> None:
    zookeeper = MemoryZooKeeper()
    zookeeper.put(znodes.topic("t"), b"{}")
    zookeeper.breaks.append(False)
    writer = ConfigWriter(cast("Any", zookeeper), TOPIC_ZNODES, 5.0)
    asyncio.run(writer.alter(steps("t", (MIN_ISR, SET, "2"))))
    path = config_znodes.topic_config("t")
    assert path in zookeeper.nodes and config_znodes.read_topic_config("t", zookeeper.nodes[path][0]) == {MIN_ISR: "2"}


def test_a_shutdown_is_granted_again() -> None:
    model = Model()
    model.join(4)
    epoch = model.epoch(4)
    model.leave(4)
    assert model.heartbeat(4, FenceState.SHUTDOWN, epoch).next_state == FenceState.SHUTDOWN
