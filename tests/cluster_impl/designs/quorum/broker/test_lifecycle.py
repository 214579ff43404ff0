"""The life of a broker process, step by step (KIP-631, The Broker State Machine)."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.quorum.broker.lifecycle import HeartbeatAnswer, LeaseLifecycle, LeaseLoss
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.wire.errors import Error

INITIAL, FENCED, ACTIVE, SHUTDOWN = (
    FenceState.INITIAL,
    FenceState.FENCED,
    FenceState.ACTIVE,
    FenceState.SHUTDOWN,
)
LEASE = 10.0


def leased(state: FenceState, epoch: int, lease: float = LEASE) -> HeartbeatAnswer:
    return HeartbeatAnswer(Error.NONE, state, epoch, lease)


def refused(error: Error) -> HeartbeatAnswer:
    return HeartbeatAnswer(error, FENCED, -1, 0.0)


def beat(
    broker: LeaseLifecycle, answer: HeartbeatAnswer, sent: float, arrived: float | None = None
) -> tuple[FenceState, int]:
    """Send a heartbeat and apply its response; return the state and epoch that it carried."""
    heartbeat = broker.next_heartbeat(sent)
    broker.answered(heartbeat, answer, sent if arrived is None else arrived)
    return heartbeat.target_state, heartbeat.broker_epoch


@pytest.fixture
def active() -> LeaseLifecycle:
    """A broker that is active from time 0 on, with epoch 7."""
    broker = LeaseLifecycle()
    beat(broker, leased(FENCED, 7), 0)
    beat(broker, leased(ACTIVE, 7), 0)
    assert broker.serving(0)
    return broker


@pytest.mark.requirement("K631-33", "D631-09", "D631-12")
def test_a_broker_starts_without_serving_and_says_initial_without_an_epoch() -> None:
    broker = LeaseLifecycle()
    assert broker.state is INITIAL
    assert not broker.serving(0)
    assert beat(broker, refused(Error.NOT_CONTROLLER), 0) == (INITIAL, -1)
    assert broker.state is INITIAL


@pytest.mark.requirement("D631-10")
def test_a_granted_epoch_alone_leaves_it_fenced() -> None:
    broker = LeaseLifecycle()
    beat(broker, leased(FENCED, 7), 0)
    assert (broker.state, broker.epoch) == (FENCED, 7)
    assert not broker.serving(0)
    assert beat(broker, leased(ACTIVE, 7), 1) == (ACTIVE, 7)
    assert broker.serving(1)


@pytest.mark.requirement("D631-01")
def test_the_lease_counts_from_the_sending_of_the_heartbeat_that_was_answered(active: LeaseLifecycle) -> None:
    beat(active, leased(ACTIVE, 7), sent=5, arrived=9)
    assert active.serving(14.999)
    assert not active.serving(15)


def test_a_process_that_slept_through_its_lease_is_fenced_before_any_timer_runs(active: LeaseLifecycle) -> None:
    assert not active.serving(LEASE)
    assert active.state is ACTIVE


@pytest.mark.requirement("D631-05")
def test_after_the_lease_it_sends_fenced_with_the_old_epoch_until_it_gets_a_new_one(
    active: LeaseLifecycle,
) -> None:
    assert beat(active, refused(Error.NOT_CONTROLLER), LEASE) == (FENCED, 7)
    assert (active.state, active.loss) == (FENCED, LeaseLoss.RAN_OUT)
    assert beat(active, leased(FENCED, 20), LEASE + 1) == (FENCED, 7)
    assert (active.epoch, active.serving(LEASE + 1)) == (20, False)
    assert beat(active, leased(ACTIVE, 20), LEASE + 2) == (ACTIVE, 20)
    assert active.serving(LEASE + 2)


def test_a_renewal_that_arrives_after_the_lease_ran_out_does_not_restore_the_old_epoch(
    active: LeaseLifecycle,
) -> None:
    beat(active, leased(ACTIVE, 7), sent=LEASE - 1, arrived=LEASE)
    assert not active.serving(LEASE)
    assert active.next_heartbeat(LEASE).target_state is FENCED


def test_a_grant_whose_lease_is_over_when_it_arrives_gives_an_epoch_and_no_lease(active: LeaseLifecycle) -> None:
    beat(active, leased(FENCED, 20), sent=LEASE, arrived=2 * LEASE)
    assert (active.epoch, active.fences_at) == (20, None)
    assert beat(active, leased(FENCED, 30), 2 * LEASE) == (FENCED, 20)


@pytest.mark.requirement("D631-13", "D631-14")
def test_a_broker_whose_epoch_is_stale_stops_at_once_and_keeps_the_stale_epoch(active: LeaseLifecycle) -> None:
    beat(active, refused(Error.STALE_BROKER_EPOCH), 1)
    assert not active.serving(1)
    assert (active.state, active.loss, active.epoch) == (FENCED, LeaseLoss.ANOTHER_PROCESS, 7)
    assert beat(active, leased(FENCED, 20), 2) == (FENCED, 7)
    assert active.epoch == 20


def test_a_revoked_lease_stops_it_at_once(active: LeaseLifecycle) -> None:
    beat(active, leased(FENCED, 7, lease=0), 1)
    assert not active.serving(1)
    assert active.next_heartbeat(2).target_state is FENCED


@pytest.mark.parametrize("error", [Error.NOT_CONTROLLER, Error.INVALID_REQUEST, Error.UNKNOWN_SERVER_ERROR])
def test_other_errors_neither_extend_the_lease_nor_end_it(active: LeaseLifecycle, error: Error) -> None:
    beat(active, refused(error), 5)
    assert active.serving(LEASE - 0.001)
    assert not active.serving(LEASE)


def test_the_answer_to_a_heartbeat_that_was_given_up_is_ignored(active: LeaseLifecycle) -> None:
    old = active.next_heartbeat(1)
    new = active.next_heartbeat(2)
    active.answered(old, leased(ACTIVE, 7), 3)
    active.answered(old, refused(Error.STALE_BROKER_EPOCH), 3)
    assert active.serving(LEASE - 0.001)
    assert not active.serving(LEASE)
    active.answered(new, leased(ACTIVE, 7), 3)
    assert active.serving(LEASE)


def test_an_answer_is_taken_in_once(active: LeaseLifecycle) -> None:
    heartbeat = active.next_heartbeat(1)
    active.gave_up(heartbeat)
    active.answered(heartbeat, leased(ACTIVE, 7), 2)
    assert not active.serving(LEASE)


@pytest.mark.requirement("K631-45")
def test_it_serves_on_while_leaders_move_and_stops_when_shutdown_is_granted(active: LeaseLifecycle) -> None:
    active.stop()
    assert beat(active, leased(ACTIVE, 7), 1) == (SHUTDOWN, 7)
    assert active.serving(1)
    assert beat(active, leased(SHUTDOWN, 7, lease=0), 2) == (SHUTDOWN, 7)
    assert (active.state, active.serving(2)) == (SHUTDOWN, False)


@pytest.mark.requirement("K631-59")
def test_a_state_that_is_not_known_counts_as_fenced(active: LeaseLifecycle) -> None:
    beat(active, leased(FenceState(9), 7), 1)
    assert not active.serving(1)
