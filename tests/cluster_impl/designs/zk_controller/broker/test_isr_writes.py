"""A leader changes an ISR by compare-and-set on the partition's state (Kafka Internals (2017), below KIP-343's
level).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar
from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker.isr_writes import IsrWriter
from fencepost.cluster_impl.designs.zk_controller.broker.request_guards import KnownAssignment
from fencepost.cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    TopicPartition,
)
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.zk_controller.broker.memory import MemoryZnodes

ME = 4
TOPIC = UUID(int=1)
PARTITION = TopicPartition("t", 0)
PATH = znodes.state(PARTITION)
T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


def proposal(*isr: int, version: int = 3, leader_epoch: int = 5) -> IsrProposal:
    return IsrProposal(topic="t", topic_id=TOPIC, partition=0, leader_epoch=leader_epoch, isr=isr, version=version)


def state(*isr: int, leader: int = ME, leader_epoch: int = 5) -> znodes.LeaderAndIsr:
    return znodes.LeaderAndIsr(leader=leader, leader_epoch=leader_epoch, isr=isr, controller_epoch=2)


def store_with(present: znodes.LeaderAndIsr, version: int = 3) -> MemoryZnodes:
    store = MemoryZnodes()
    store.put(PATH, znodes.write_state(present), version)
    return store


LEADS = KnownAssignment(TOPIC, 5, 2)


async def changed(store: MemoryZnodes, wanted: IsrProposal, known: KnownAssignment | None = LEADS) -> IsrOutcome:
    writer = IsrWriter(ME, store, {} if known is None else {PARTITION: known})
    outcome = await writer.change(wanted, 1.0)
    if writer._notifying is not None:
        await writer._notifying
    return outcome


def stored(store: MemoryZnodes) -> znodes.LeaderAndIsr:
    data, version = store.data[PATH]
    return znodes.read_state(PARTITION, data, version)


@pytest.mark.requirement("INT-02", "INT-67", "DINT-01", "DINT-08")
def test_a_leader_writes_its_isr_and_only_the_version_grows() -> None:
    store = store_with(state(4, 5, 6))
    assert run(changed(store, proposal(4, 6))) == IsrAccepted(isr=(4, 6), leader_epoch=5, version=4)
    assert stored(store) == znodes.LeaderAndIsr(leader=ME, leader_epoch=5, isr=(4, 6), controller_epoch=2, version=4)


@pytest.mark.requirement("DINT-02")
def test_a_change_is_notified_to_the_controller_by_a_sequential_znode() -> None:
    store = store_with(state(4, 5, 6))
    run(changed(store, proposal(4, 6)))
    [known] = store.below(znodes.ISR_CHANGE_PREFIX)
    assert znodes.read_partitions(znodes.ISR_CHANGES, known) == [PARTITION]


@pytest.mark.requirement("INT-59", "INT-60")
def test_a_leader_that_was_given_up_fails_to_shrink_and_changes_nothing() -> None:
    successor = state(5, 6, leader=5, leader_epoch=6)
    store = store_with(successor, version=4)
    assert run(changed(store, proposal(4))) == IsrRefused(Error.INVALID_UPDATE_VERSION)
    assert stored(store).says_the_same(successor)
    assert store.below(znodes.ISR_CHANGE_PREFIX) == []


@pytest.mark.parametrize("made", [True, False])
def test_a_write_whose_answer_was_lost_is_found_or_made_again(made: bool) -> None:
    store = store_with(state(4, 5, 6))
    store.breaks.append(made)
    assert run(changed(store, proposal(4, 6))) == IsrAccepted(isr=(4, 6), leader_epoch=5, version=4)
    assert stored(store).isr == (4, 6)


def test_a_lost_write_that_the_controller_has_overwritten_is_refused_for_good() -> None:
    store = store_with(state(5, 6, leader=5, leader_epoch=6), version=9)
    store.breaks.append(False)
    assert run(changed(store, proposal(4, 6))) == IsrRefused(Error.INVALID_UPDATE_VERSION)


@pytest.mark.parametrize("known", [None, KnownAssignment(UUID(int=2), 5, 2), KnownAssignment(TOPIC, 6, 2)])
def test_what_the_controller_has_taken_away_meanwhile_is_not_written(known: KnownAssignment | None) -> None:
    store = store_with(state(4, 5, 6))
    assert run(changed(store, proposal(4), known)) == IsrRefused(Error.FENCED_LEADER_EPOCH)
    assert store.writes == 0


def test_the_isr_of_a_deleted_topic_is_refused() -> None:
    assert run(changed(MemoryZnodes(), proposal(4))) == IsrRefused(Error.UNKNOWN_TOPIC_OR_PARTITION)


async def test_without_zookeeper_the_fate_of_a_change_stays_unknown() -> None:
    class Silent(MemoryZnodes):
        async def until_connected(self) -> None:
            await asyncio.Event().wait()

    async def ask() -> IsrOutcome:
        store = Silent()
        store.put(PATH, znodes.write_state(state(4, 5, 6)), 3)
        store.breaks.append(False)
        return await IsrWriter(ME, store, {PARTITION: LEADS}).change(proposal(4), 0.05)

    assert isinstance(await ask(), IsrUnknown)


async def test_changes_that_come_together_share_a_notification() -> None:
    async def many() -> MemoryZnodes:
        store = MemoryZnodes()
        partitions = [TopicPartition("t", index) for index in range(20)]
        writer = IsrWriter(ME, store, dict.fromkeys(partitions, LEADS))
        for partition in partitions:
            store.put(znodes.state(partition), znodes.write_state(state(4, 5)), 3)
        wanted = [
            IsrProposal(topic="t", topic_id=TOPIC, partition=index, leader_epoch=5, isr=(4,), version=3)
            for index in range(20)
        ]
        await asyncio.gather(*(writer.change(one, 1.0) for one in wanted))
        assert writer._notifying is not None
        await writer._notifying
        return store

    [known] = (await many()).below(znodes.ISR_CHANGE_PREFIX)
    assert len(znodes.read_partitions(znodes.ISR_CHANGES, known)) == 20
