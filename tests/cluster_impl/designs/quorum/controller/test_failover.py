"""Brokers that were registered under an earlier active controller, as a new one treats them."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.quorum.controller.placing import NotHeardYet
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.controller_model import LEASE, LEASE_START_MS, Model

INITIAL, FENCED, ACTIVE, SHUTDOWN = (
    FenceState.INITIAL,
    FenceState.FENCED,
    FenceState.ACTIVE,
    FenceState.SHUTDOWN,
)


@pytest.fixture
def model() -> Model:
    """Brokers 4, 5 and 6 are active."""
    model = Model()
    model.join(4, 5, 6)
    return model


def change_controller(model: Model) -> None:
    model.state.leases.assume(model.image.brokers, model.image.offset, model.now)


def not_caught_up(model: Model, broker: int) -> int:
    """Grant a new epoch, and elect a controller before the broker has reached it; return the epoch."""
    epoch = model.heartbeat(broker, FENCED, model.epoch(broker)).broker_epoch
    change_controller(model)
    return epoch


@pytest.mark.requirement("D631-04", "D631-10", "D631-24")
def test_a_broker_short_of_its_own_record_is_fenced_with_a_lease_and_stays_in_its_isrs(
    model: Model,
) -> None:
    model.topic("t", 4, 5)
    epoch = not_caught_up(model, 4)
    reply = model.heartbeat(4, ACTIVE, epoch, reached=epoch - 1)
    assert (reply.error_code, reply.next_state, reply.broker_epoch) == (0, FENCED, epoch)
    assert reply.lease_end_time_ms == LEASE_START_MS + LEASE * 1000
    assert model.partition("t").isr == (4, 5)
    model.now += LEASE / 2
    assert model.heartbeat(4, ACTIVE, epoch, reached=epoch - 1).next_state == FENCED
    model.now += LEASE / 2
    model.end_leases()
    assert (model.partition("t").isr, model.partition("t").leader) == ((4,), -1)
    assert model.heartbeat(4, ACTIVE, epoch, reached=epoch).next_state == ACTIVE
    assert (model.partition("t").isr, model.partition("t").leader) == ((4,), 4)


def elected_though_not_caught_up(model: Model) -> int:
    """Make broker 4 the leader of t; return its epoch."""
    model.topic("t", 5, 4, 6)
    epoch = not_caught_up(model, 4)
    model.heartbeat(5, INITIAL)
    assert model.partition("t").leader == 4
    return epoch


@pytest.mark.requirement("D631-10")
def test_a_broker_elected_before_it_reported_that_it_has_not_caught_up_leads_no_longer(model: Model) -> None:
    epoch = elected_though_not_caught_up(model)
    model.heartbeat(4, ACTIVE, epoch, reached=epoch - 1)
    assert (model.partition("t").isr, model.partition("t").leader) == ((4, 6), 6)


@pytest.mark.requirement("D631-10")
def test_a_broker_that_stops_before_it_has_caught_up_is_never_made_active(model: Model) -> None:
    epoch = elected_though_not_caught_up(model)
    assert model.heartbeat(4, SHUTDOWN, epoch, reached=epoch - 1).next_state == SHUTDOWN
    assert 4 not in model.image.brokers
    assert (model.partition("t").isr, model.partition("t").leader) == ((6,), 6)


def test_a_broker_that_has_caught_up_goes_on_as_if_nothing_had_happened(model: Model) -> None:
    model.topic("t", 4, 5)
    written = len(model.log)
    change_controller(model)
    assert model.heartbeat(4, ACTIVE, model.epoch(4)).next_state == ACTIVE
    assert len(model.log) == written


def one_partition(factor: int) -> m.CreateTopicsRequest.CreatableTopic:
    return m.CreateTopicsRequest.CreatableTopic(name="t", num_partitions=1, replication_factor=factor)


@pytest.mark.requirement("D631-14", "D631-26")
def test_a_topic_goes_only_to_brokers_that_this_controller_heard(model: Model) -> None:
    """A grant of the earlier controller may be unknown to its process; a partition given to it would wait in vain."""
    known = model.epoch(4)
    model.now += LEASE - 1
    for broker in (5, 6):
        model.heartbeat(broker, ACTIVE, model.epoch(broker))
    model.now += 1
    assert model.heartbeat(4, FENCED, known).error_code == 0  # and the answer is lost with the controller
    change_controller(model)
    with pytest.raises(NotHeardYet):
        model.create(one_partition(1))
    with pytest.raises(NotHeardYet):
        model.topic("t", 4)
    model.now += LEASE
    assert model.heartbeat(4, FENCED, known).error_code == 0


def test_a_replica_that_this_controller_has_not_heard_starts_outside_the_isr(model: Model) -> None:
    change_controller(model)
    model.heartbeat(5, ACTIVE, model.epoch(5))
    assert (model.topic("t", 4, 5).isr, model.partition("t").leader) == ((5,), 5)


def test_enough_brokers_that_were_heard_need_not_wait_for_the_others(model: Model) -> None:
    change_controller(model)
    for broker in (5, 6):
        model.heartbeat(broker, ACTIVE, model.epoch(broker))
    assert model.create(one_partition(2)) == Error.NONE
    assert set(model.partition("t").isr) == {5, 6}


def test_more_replicas_than_there_are_brokers_are_refused_at_once(model: Model) -> None:
    change_controller(model)
    assert model.create(one_partition(4)) == Error.INVALID_REPLICATION_FACTOR
