"""The life of a broker process under KIP-343, step by step."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.cluster_impl.designs.zk_controller.broker.lifecycle import Fence, Heartbeat, Lifecycle
from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.wire.errors import Error

INITIAL, INACTIVE, ACTIVE, STOPPING = (
    BrokerState.INITIAL,
    BrokerState.INACTIVE,
    BrokerState.ACTIVE,
    BrokerState.STOPPING,
)
TIMEOUT = 10.0


def sent(broker: Lifecycle, now: float) -> Heartbeat:
    heartbeat = broker.next_heartbeat(now)
    assert heartbeat is not None
    return heartbeat


def beat(broker: Lifecycle, state: BrokerState, at: float, arrived: float | None = None) -> None:
    broker.answered(sent(broker, at), Error.NONE, state, at if arrived is None else arrived)


def refused(broker: Lifecycle, error: Error, at: float) -> None:
    broker.answered(sent(broker, at), error, INITIAL, at)


@pytest.fixture
def active() -> Lifecycle:
    """Incarnation 7, answered at time 0 that it is active."""
    broker = Lifecycle(TIMEOUT)
    broker.registered(7)
    beat(broker, ACTIVE, 0)
    assert broker.serving(0)
    return broker


@pytest.mark.requirement("D343-07", "K343-34")
def test_a_broker_that_was_not_answered_yet_is_initial_and_fenced() -> None:
    broker = Lifecycle(TIMEOUT)
    assert (broker.state, broker.fence, broker.serving(0)) == (INITIAL, Fence.NOT_REGISTERED, False)
    broker.registered(7)
    assert (broker.state, broker.fence, broker.serving(0)) == (INITIAL, Fence.NOT_ANSWERED, False)


def test_there_is_no_heartbeat_without_an_incarnation() -> None:
    assert Lifecycle(TIMEOUT).next_heartbeat(0) is None


@pytest.mark.requirement("K343-25", "K343-27", "K343-38")
def test_a_heartbeat_carries_the_incarnation_and_the_wanted_state(active: Lifecycle) -> None:
    heartbeat = sent(active, 1)
    assert (heartbeat.incarnation, heartbeat.target_state) == (7, ACTIVE)
    active.stop()
    assert sent(active, 1).target_state is STOPPING


@pytest.mark.requirement("K343-16", "K343-54", "D343-02")
def test_the_timer_runs_from_the_last_answer_not_from_the_heartbeat(active: Lifecycle) -> None:
    beat(active, ACTIVE, 5, arrived=9)
    assert active.serving(18.999)
    assert not active.serving(19)


def test_a_process_that_slept_through_the_timeout_is_fenced_before_any_timer_runs(active: Lifecycle) -> None:
    assert not active.serving(TIMEOUT)
    assert active.fence is None


@pytest.mark.requirement("K343-19")
def test_a_fenced_broker_serves_again_with_the_next_answer_and_is_fenced_again_without(active: Lifecycle) -> None:
    for round in range(3):
        silent_from = round * 30
        beat(active, ACTIVE, silent_from)
        active.tick(silent_from + TIMEOUT)
        assert (active.fence, active.serving(silent_from + TIMEOUT)) == (Fence.SILENCE, False)


def test_an_answer_that_took_a_whole_timeout_says_nothing_about_now(active: Lifecycle) -> None:
    beat(active, ACTIVE, 1, arrived=1 + TIMEOUT)
    assert not active.serving(1 + TIMEOUT)


def test_the_answer_to_a_heartbeat_that_was_given_up_is_not_listened_to(active: Lifecycle) -> None:
    late = sent(active, 1)
    active.gave_up(late)
    active.answered(late, Error.NONE, INACTIVE, 2)
    assert active.serving(2)
    late = sent(active, 3)
    sent(active, 4)
    active.answered(late, Error.NONE, INACTIVE, 5)
    assert active.serving(5)


@pytest.mark.requirement("K343-35")
def test_a_broker_that_is_declared_inactive_is_fenced_at_once(active: Lifecycle) -> None:
    beat(active, INACTIVE, 1)
    assert (active.state, active.fence, active.serving(1)) == (INACTIVE, Fence.INACTIVE, False)
    beat(active, ACTIVE, 2)
    assert active.serving(2)


@pytest.mark.requirement("K343-12", "K343-37")
def test_a_stopping_broker_serves(active: Lifecycle) -> None:
    active.stop()
    beat(active, STOPPING, 1)
    assert (active.state, active.serving(1)) == (STOPPING, True)


@pytest.mark.requirement("K343-40", "D343-16")
def test_another_incarnation_of_its_id_fences_a_broker(active: Lifecycle) -> None:
    refused(active, Error.INVALID_INCARNATION_ID, 1)
    assert (active.state, active.fence, active.serving(1)) == (INACTIVE, Fence.ANOTHER_INCARNATION, False)


def test_an_incarnation_that_the_controller_has_not_seen_yet_stays_initial() -> None:
    broker = Lifecycle(TIMEOUT)
    broker.registered(7)
    refused(broker, Error.INVALID_INCARNATION_ID, 1)
    assert (broker.state, broker.fence) == (INITIAL, Fence.NOT_ANSWERED)


@pytest.mark.requirement("D343-13")
@pytest.mark.parametrize("error", [Error.NOT_CONTROLLER, Error.INVALID_REQUEST, Error.UNKNOWN_SERVER_ERROR])
def test_an_error_is_no_contact_with_the_controller(active: Lifecycle, error: Error) -> None:
    refused(active, error, 5)
    assert active.serving(9.999)
    assert not active.serving(TIMEOUT)


@pytest.mark.requirement("K343-05", "K343-06")
def test_a_broker_that_is_registered_anew_is_fenced_until_its_new_incarnation_is_answered(active: Lifecycle) -> None:
    active.unregistered()
    assert (active.fence, active.serving(1)) == (Fence.NOT_REGISTERED, False)
    late = Heartbeat(1, 7, ACTIVE, 0)
    active.registered(9)
    active.answered(late, Error.NONE, ACTIVE, 2)
    assert not active.serving(2)
    beat(active, ACTIVE, 3)
    assert active.serving(3)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["register", "expire", "send", "give up", "live", "inactive", "another", "not controller"]),
        st.floats(0.0, 4.0),
    ),
    max_size=60,
)


@settings(max_examples=400)
@given(STEPS)
def test_whatever_happens_a_broker_serves_only_by_a_recent_answer_for_its_present_incarnation(
    steps: list[tuple[str, float]],
) -> None:
    """Held against a plain record of what was answered when."""
    broker = Lifecycle(TIMEOUT)
    now, next_incarnation = 0.0, 1
    in_flight: Heartbeat | None = None
    granted: tuple[int, float] | None = None
    for step, delay in steps:
        now += delay
        match step:
            case "register":
                broker.registered(next_incarnation)
                next_incarnation, in_flight, granted = next_incarnation + 1, None, None
            case "expire":
                broker.unregistered()
                in_flight = granted = None
            case "send":
                in_flight = broker.next_heartbeat(now)
                assert (in_flight is None) == (broker.incarnation == -1)
            case "give up" if in_flight is not None:
                broker.gave_up(in_flight)
                in_flight = None
            case "live" | "inactive" | "another" | "not controller" if in_flight is not None:
                error = {"another": Error.INVALID_INCARNATION_ID, "not controller": Error.NOT_CONTROLLER}
                state = ACTIVE if step == "live" else INACTIVE
                broker.answered(in_flight, error.get(step, Error.NONE), state, now)
                if now < in_flight.sent_at + TIMEOUT:
                    if step == "live":
                        granted = (in_flight.incarnation, now)
                    elif step != "not controller":
                        granted = None
                in_flight = None
        fresh = granted is not None and granted[0] == broker.incarnation and now < granted[1] + TIMEOUT
        assert broker.serving(now) == fresh
        before = broker.fence
        broker.tick(now)
        assert (broker.fence is None) == fresh
        assert before is None or broker.fence is before
