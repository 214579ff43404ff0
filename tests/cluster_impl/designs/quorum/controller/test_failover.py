"""Brokers that were registered under an earlier active controller, and what a new one makes of them."""

from __future__ import annotations

import pytest

from cluster_impl.designs.quorum.controller.topics import NotHeardYet
from cluster_impl.designs.quorum.states import BrokerState
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.world import LEASE, LEASE_START_MS, World

INITIAL, FENCED, ACTIVE, SHUTDOWN = BrokerState.INITIAL, BrokerState.FENCED, BrokerState.ACTIVE, BrokerState.SHUTDOWN


@pytest.fixture
def world() -> World:
    """Brokers 4, 5 and 6 are active."""
    world = World()
    world.join(4, 5, 6)
    return world


def change_controller(world: World) -> None:
    world.state.leases.assume(world.image.brokers, world.image.offset, world.now)


def not_caught_up(world: World, broker: int) -> int:
    """A new epoch for a broker whose lease ran out, and a new controller before it has reached that; the epoch."""
    epoch = world.heartbeat(broker, FENCED, world.epoch(broker)).broker_epoch
    change_controller(world)
    return epoch


@pytest.mark.requirement("D631-04", "D631-10", "D631-24")
def test_who_has_not_reached_its_own_record_is_fenced_with_a_lease_and_stays_in_its_isrs(world: World) -> None:
    world.topic("t", 4, 5)
    epoch = not_caught_up(world, 4)
    reply = world.heartbeat(4, ACTIVE, epoch, reached=epoch - 1)
    assert (reply.error_code, reply.next_state, reply.broker_epoch) == (0, FENCED, epoch)
    assert reply.lease_end_time_ms == LEASE_START_MS + LEASE * 1000
    assert world.partition("t").isr == (4, 5)
    world.now += LEASE / 2
    assert world.heartbeat(4, ACTIVE, epoch, reached=epoch - 1).next_state == FENCED
    world.now += LEASE / 2
    world.end_leases()
    assert (world.partition("t").isr, world.partition("t").leader) == ((4,), -1)
    assert world.heartbeat(4, ACTIVE, epoch, reached=epoch).next_state == ACTIVE
    assert (world.partition("t").isr, world.partition("t").leader) == ((4,), 4)


def elected_though_not_caught_up(world: World) -> int:
    """Broker 4 leads t; its epoch."""
    world.topic("t", 5, 4, 6)
    epoch = not_caught_up(world, 4)
    world.heartbeat(5, INITIAL)
    assert world.partition("t").leader == 4
    return epoch


@pytest.mark.requirement("D631-10")
def test_who_was_elected_before_it_said_that_it_has_not_caught_up_leads_no_longer(world: World) -> None:
    epoch = elected_though_not_caught_up(world)
    world.heartbeat(4, ACTIVE, epoch, reached=epoch - 1)
    assert (world.partition("t").isr, world.partition("t").leader) == ((4, 6), 6)


@pytest.mark.requirement("D631-10")
def test_who_stops_before_it_has_caught_up_is_never_told_to_be_active(world: World) -> None:
    epoch = elected_though_not_caught_up(world)
    assert world.heartbeat(4, SHUTDOWN, epoch, reached=epoch - 1).next_state == SHUTDOWN
    assert 4 not in world.image.brokers
    assert (world.partition("t").isr, world.partition("t").leader) == ((6,), 6)


def test_who_has_caught_up_goes_on_as_if_nothing_had_happened(world: World) -> None:
    world.topic("t", 4, 5)
    written = len(world.log)
    change_controller(world)
    assert world.heartbeat(4, ACTIVE, world.epoch(4)).next_state == ACTIVE
    assert len(world.log) == written


def one_partition(factor: int) -> m.CreateTopicsRequest.CreatableTopic:
    return m.CreateTopicsRequest.CreatableTopic(name="t", num_partitions=1, replication_factor=factor)


@pytest.mark.requirement("D631-14", "D631-26")
def test_a_topic_goes_only_to_brokers_that_this_controller_heard(world: World) -> None:
    """A grant of the earlier controller may be unknown to its process; what is given to it would wait for nobody."""
    known = world.epoch(4)
    world.now += LEASE - 1
    for broker in (5, 6):
        world.heartbeat(broker, ACTIVE, world.epoch(broker))
    world.now += 1
    assert world.heartbeat(4, FENCED, known).error_code == 0  # and the answer is lost with the controller
    change_controller(world)
    with pytest.raises(NotHeardYet):
        world.create(one_partition(1))
    with pytest.raises(NotHeardYet):
        world.topic("t", 4)
    world.now += LEASE
    assert world.heartbeat(4, FENCED, known).error_code == 0


def test_a_replica_that_this_controller_has_not_heard_starts_outside_the_isr(world: World) -> None:
    change_controller(world)
    world.heartbeat(5, ACTIVE, world.epoch(5))
    assert (world.topic("t", 4, 5).isr, world.partition("t").leader) == ((5,), 5)


def test_enough_brokers_that_were_heard_need_not_wait_for_the_others(world: World) -> None:
    change_controller(world)
    for broker in (5, 6):
        world.heartbeat(broker, ACTIVE, world.epoch(broker))
    assert world.create(one_partition(2)) == Error.NONE
    assert set(world.partition("t").isr) == {5, 6}


def test_more_replicas_than_there_are_brokers_are_refused_at_once(world: World) -> None:
    change_controller(world)
    assert world.create(one_partition(4)) == Error.INVALID_REPLICATION_FACTOR
