"""KIP-343's heartbeats at the controller: what is refused, what is granted, and when silence makes inactive."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.broker_states import (
    BrokerStates,
    BrokerTransition,
    HeartbeatResult,
)
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import RegisteredBroker
from fencepost.cluster_impl.designs.zk_controller.znodes import BrokerInfo
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

TIMEOUT = 10.0
INITIAL, INACTIVE, ACTIVE, STOPPING = (BrokerState(number) for number in range(4))


def with_heartbeats(broker_id: int, epoch: int) -> RegisteredBroker:
    return RegisteredBroker(broker_id, epoch, BrokerInfo(version=5, endpoints=(), timestamp_ms=0))


def without_heartbeats(broker_id: int, epoch: int) -> RegisteredBroker:
    """A broker from before KIP-343."""
    return RegisteredBroker(broker_id, epoch, BrokerInfo(version=4, endpoints=(), timestamp_ms=0))


def elected(registrations: Iterable[RegisteredBroker], *, brand_new: bool = False, now: float = 0.0) -> BrokerStates:
    states = BrokerStates(TIMEOUT)
    states.elected(registrations, now, brand_new=brand_new)
    return states


def beat(
    states: BrokerStates, broker_id: int = 4, incarnation: int = 100, target: int = ACTIVE, now: float = 0.0
) -> HeartbeatResult:
    request = m.MetadataHeartbeatRequest(broker_id=broker_id, incarnation_id=incarnation, target_state=target)
    return states.heartbeat(request, now)


def fresh() -> BrokerStates:
    """4 is registered at 100, and has not been heard of."""
    states = elected([])
    states.registered(with_heartbeats(4, 100))
    return states


WRONG: list[tuple[Error, dict[str, int]]] = [
    (Error.INVALID_REQUEST, {"broker_id": -1}),
    (Error.INVALID_REQUEST, {"incarnation": -1}),
    (Error.INVALID_INCARNATION_ID, {"broker_id": 5}),
    (Error.INVALID_INCARNATION_ID, {"incarnation": 99}),
    (Error.INVALID_INCARNATION_ID, {"incarnation": 0}),
    (Error.INVALID_REQUEST, {"target": 4}),
]
"""One thing wrong each, in the order in which they are looked for."""


@pytest.mark.parametrize(("error", "wrong"), WRONG)
@pytest.mark.requirement("K343-28", "K343-40", "K343-41", "D343-01", "D343-14")
def test_what_is_refused_has_its_error_and_a_message_and_changes_nothing(error: Error, wrong: dict[str, int]) -> None:
    states = elected([with_heartbeats(4, 100)])
    heard = beat(states, **wrong, now=5.0)
    assert heard.response.error_code == error
    assert heard.response.error_string
    assert (heard.response.broker_id, heard.response.incarnation_id) == (-1, -1)
    assert heard.transition is None
    assert states.state(4) is ACTIVE
    assert states.incarnation(4) == 100
    assert states.next_deadline() == TIMEOUT


@pytest.mark.parametrize(
    ("earlier", "later"), [pair for pair in combinations(WRONG, 2) if not pair[0][1].keys() & pair[1][1]]
)
@pytest.mark.requirement("K343-30")
def test_what_is_wrong_twice_gets_the_error_of_the_earlier_guard(
    earlier: tuple[Error, dict[str, int]], later: tuple[Error, dict[str, int]]
) -> None:
    assert beat(fresh(), **earlier[1], **later[1]).response.error_code == earlier[0]


@pytest.mark.parametrize("target", [-128, -1, 4, 127])
def test_a_state_that_does_not_exist_is_refused(target: int) -> None:
    assert beat(fresh(), target=target).response.error_code == Error.INVALID_REQUEST


@pytest.mark.requirement("K343-11", "D343-05")
def test_all_are_inactive_when_a_cluster_is_first_initialised() -> None:
    states = elected([with_heartbeats(4, 100), with_heartbeats(5, 101)], brand_new=True)
    assert (states.state(4), states.state(5)) == (INACTIVE, INACTIVE)
    assert states.next_deadline() is None


@pytest.mark.requirement("D343-05")
def test_after_a_failover_the_registered_have_one_full_timeout_of_grace() -> None:
    states = elected([with_heartbeats(4, 100), with_heartbeats(5, 101)], now=3.0)
    assert states.is_live(4)
    assert states.is_live(5)
    assert states.expire(3.0 + TIMEOUT - 0.001) == []
    beat(states, 4, 100, now=4.0)
    assert states.expire(3.0 + TIMEOUT) == [BrokerTransition(5, ACTIVE, INACTIVE)]
    assert states.is_live(4)


def test_an_election_forgets_what_an_earlier_term_knew() -> None:
    states = elected([with_heartbeats(4, 100), with_heartbeats(5, 101)])
    states.elected([with_heartbeats(5, 101)], 20.0, brand_new=False)
    assert states.incarnation(4) is None
    assert not states.is_live(4)


@pytest.mark.requirement("K343-08", "K343-10", "D343-06")
def test_a_broker_that_registers_is_inactive_until_it_asks_to_be_active() -> None:
    states = fresh()
    assert states.state(4) is INACTIVE
    heard = beat(states)
    assert heard.transition == BrokerTransition(4, INACTIVE, ACTIVE)
    assert heard.transition.starts
    assert not heard.transition.fails
    assert states.is_live(4)


@pytest.mark.requirement("K343-25", "K343-26", "K343-42", "K343-34")
def test_an_answer_names_the_ids_and_the_state_that_was_decided_on() -> None:
    states = fresh()
    for target, granted in (
        (INITIAL, INACTIVE),
        (ACTIVE, ACTIVE),
        (INITIAL, ACTIVE),
        (STOPPING, STOPPING),
        (INACTIVE, INACTIVE),
    ):
        response = beat(states, target=target).response
        assert (response.error_code, response.error_string) == (Error.NONE, None)
        assert (response.broker_id, response.incarnation_id, response.current_state) == (4, 100, granted)


@pytest.mark.requirement("K343-19", "K343-31", "K343-32", "K343-35", "K343-36", "K343-37")
@pytest.mark.parametrize("before", [INACTIVE, ACTIVE, STOPPING])
@pytest.mark.parametrize("target", [INACTIVE, ACTIVE, STOPPING])
def test_every_state_is_granted_from_every_other(before: BrokerState, target: BrokerState) -> None:
    states = fresh()
    beat(states, target=before)
    heard = beat(states, target=target)
    assert heard.response.current_state == states.state(4) == target
    assert heard.transition == (None if before is target else BrokerTransition(4, before, target))


@pytest.mark.parametrize(
    ("transition", "fails", "starts", "stops"),
    [
        (BrokerTransition(4, INACTIVE, ACTIVE), False, True, False),
        (BrokerTransition(4, INACTIVE, STOPPING), False, True, True),
        (BrokerTransition(4, ACTIVE, INACTIVE), True, False, False),
        (BrokerTransition(4, STOPPING, INACTIVE), True, False, False),
        (BrokerTransition(4, ACTIVE, STOPPING), False, False, True),
        (BrokerTransition(4, STOPPING, ACTIVE), False, False, False),
        (BrokerTransition(4, ACTIVE, ACTIVE, taken_over=200), True, True, False),
        (BrokerTransition(4, STOPPING, STOPPING, taken_over=200), True, True, True),
        (BrokerTransition(4, ACTIVE, INACTIVE, taken_over=200), True, False, False),
        (BrokerTransition(4, INACTIVE, INACTIVE, taken_over=200), False, False, False),
    ],
)
@pytest.mark.requirement("D343-06")
def test_a_transition_says_whether_a_broker_fails_starts_or_begins_to_stop(
    transition: BrokerTransition, fails: bool, starts: bool, stops: bool
) -> None:
    assert (transition.fails, transition.starts, transition.begins_to_stop) == (fails, starts, stops)


@pytest.mark.requirement("K343-29", "D343-17")
def test_a_later_incarnation_is_taken_for_valid_before_its_znode_was_read() -> None:
    states = elected([with_heartbeats(4, 100)])
    heard = beat(states, incarnation=200, now=2.0)
    assert heard.response.error_code == Error.NONE
    assert heard.response.incarnation_id == 200
    assert heard.transition == BrokerTransition(4, ACTIVE, ACTIVE, taken_over=200)
    assert beat(states, incarnation=100).response.error_code == Error.INVALID_INCARNATION_ID
    states.registered(with_heartbeats(4, 200))
    assert states.state(4) is ACTIVE
    assert states.next_deadline() == 2.0 + TIMEOUT


@pytest.mark.requirement("K343-29")
def test_a_later_incarnation_that_asks_for_nothing_is_inactive() -> None:
    states = elected([with_heartbeats(4, 100)])
    heard = beat(states, incarnation=200, target=INITIAL)
    assert heard.transition == BrokerTransition(4, ACTIVE, INACTIVE, taken_over=200)


@pytest.mark.requirement("D343-17")
@pytest.mark.parametrize(
    "znode", [with_heartbeats(4, 100), without_heartbeats(4, 100)], ids=["heartbeats", "no heartbeats"]
)
def test_a_znode_that_was_read_late_brings_no_earlier_incarnation_back(znode: RegisteredBroker) -> None:
    states = elected([with_heartbeats(4, 100)])
    beat(states, incarnation=200)
    states.registered(znode)
    assert (states.incarnation(4), states.next_deadline()) == (200, TIMEOUT)
    assert beat(states, incarnation=100).response.error_code == Error.INVALID_INCARNATION_ID


@pytest.mark.requirement("K343-05")
def test_a_later_znode_is_another_process_and_inactive() -> None:
    states = elected([with_heartbeats(4, 100)])
    states.registered(with_heartbeats(4, 200))
    assert (states.incarnation(4), states.state(4)) == (200, INACTIVE)


@pytest.mark.requirement("K343-28", "D343-17")
def test_an_earlier_incarnation_is_refused_also_by_the_next_controller() -> None:
    states = elected([with_heartbeats(4, 200)], now=50.0)
    assert beat(states, incarnation=100).response.error_code == Error.INVALID_INCARNATION_ID


@pytest.mark.requirement("D343-14")
def test_a_broker_that_is_gone_is_refused_until_its_znode_is_seen_again() -> None:
    states = elected([with_heartbeats(4, 100)])
    states.gone(4)
    assert beat(states).response.error_code == Error.INVALID_INCARNATION_ID
    assert states.state(4) is INACTIVE
    states.registered(with_heartbeats(4, 100))
    assert beat(states).transition == BrokerTransition(4, INACTIVE, ACTIVE)


@pytest.mark.requirement("K343-20", "K343-53", "D343-02")
def test_the_timer_runs_from_the_last_request_and_silence_makes_inactive() -> None:
    states = fresh()
    beat(states, now=1.0)
    beat(states, now=4.0)
    assert states.next_deadline() == 4.0 + TIMEOUT
    assert states.expire(4.0 + TIMEOUT - 0.001) == []
    assert states.expire(4.0 + TIMEOUT) == [BrokerTransition(4, ACTIVE, INACTIVE)]
    assert states.expire(4.0 + TIMEOUT) == []
    assert states.next_deadline() is None


@pytest.mark.requirement("D343-02")
def test_a_request_that_asks_for_nothing_counts_as_a_sign_of_life_and_a_refused_one_does_not() -> None:
    states = fresh()
    beat(states, now=0.0)
    beat(states, target=INITIAL, now=1.0)
    assert states.next_deadline() == 1.0 + TIMEOUT
    beat(states, incarnation=99, now=2.0)
    assert states.next_deadline() == 1.0 + TIMEOUT


@pytest.mark.requirement("D343-20")
def test_grace_begins_a_full_timeout_anew_for_the_live_and_makes_no_broker_live() -> None:
    states = elected([without_heartbeats(6, 102)])
    for id in (3, 4, 5):
        states.registered(with_heartbeats(id, 100 + id))
    beat(states, 4, 104, now=0.0)
    beat(states, 5, 105, STOPPING, now=7.0)
    states.give_grace(5.0)
    assert states.next_deadline() == 5.0 + TIMEOUT
    assert states.expire(5.0 + TIMEOUT) == [BrokerTransition(4, ACTIVE, INACTIVE)]
    assert states.next_deadline() == 7.0 + TIMEOUT
    assert states.state(3) is INACTIVE
    assert states.state(6) is ACTIVE


@pytest.mark.requirement("K343-20")
def test_a_stopping_broker_that_falls_silent_becomes_inactive_too() -> None:
    states = fresh()
    beat(states, target=STOPPING)
    assert states.expire(TIMEOUT) == [BrokerTransition(4, STOPPING, INACTIVE)]


@pytest.mark.requirement("K343-21")
def test_a_broker_that_was_silent_may_be_active_again() -> None:
    states = fresh()
    beat(states)
    states.expire(TIMEOUT)
    assert beat(states, now=TIMEOUT + 1).transition == BrokerTransition(4, INACTIVE, ACTIVE)


@pytest.mark.requirement("K343-12", "K343-13")
def test_stopping_is_kept_until_the_broker_asks_for_something_else() -> None:
    states = fresh()
    beat(states, target=STOPPING)
    for _ in range(3):
        heard = beat(states, target=STOPPING)
        assert (heard.response.current_state, heard.transition) == (STOPPING, None)
    assert beat(states, target=INITIAL).response.current_state == STOPPING
    assert states.is_live(4)
    assert beat(states, target=ACTIVE).transition == BrokerTransition(4, STOPPING, ACTIVE)


@pytest.mark.requirement("K343-61", "K343-62")
@pytest.mark.parametrize("brand_new", [False, True])
def test_a_legacy_registration_is_active_without_heartbeats(brand_new: bool) -> None:
    states = elected([without_heartbeats(4, 100)], brand_new=brand_new)
    states.registered(without_heartbeats(5, 101))
    assert states.is_live(4)
    assert states.is_live(5)
    assert states.next_deadline() is None
    assert states.expire(1000 * TIMEOUT) == []


@pytest.mark.requirement("K343-62")
@pytest.mark.parametrize("target", [INITIAL, INACTIVE, ACTIVE, STOPPING])
def test_a_legacy_broker_stays_active_whatever_it_asks_for(target: BrokerState) -> None:
    states = elected([without_heartbeats(4, 100)])
    heard = beat(states, target=target)
    assert (heard.response.current_state, heard.transition) == (ACTIVE, None)


@pytest.mark.requirement("K343-59", "K343-61")
def test_the_second_roll_and_the_way_back_change_what_a_broker_must_do() -> None:
    states = elected([without_heartbeats(4, 100)])
    states.registered(with_heartbeats(4, 200))
    assert states.state(4) is INACTIVE
    beat(states, incarnation=200)
    states.registered(without_heartbeats(4, 300))
    assert states.state(4) is ACTIVE
    assert states.next_deadline() is None


def test_a_legacy_znode_behind_a_heartbeat_of_its_incarnation_says_what_it_is() -> None:
    states = elected([with_heartbeats(4, 100)])
    beat(states, incarnation=200, target=INITIAL)
    states.registered(without_heartbeats(4, 200))
    assert states.state(4) is ACTIVE
    assert states.next_deadline() is None


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40)), max_size=30))
def test_the_silent_become_inactive_in_the_order_in_which_their_times_ran_out(beats: list[tuple[int, int]]) -> None:
    states = elected([with_heartbeats(id, 100 + id) for id in range(4)])
    last = dict.fromkeys(range(4), 0)
    for id, at in sorted(beats, key=lambda each: each[1]):
        beat(states, id, 100 + id, now=at)
        last[id] = at
    expired = states.expire(1000.0)
    assert [each.broker_id for each in expired] == sorted(range(4), key=lambda id: (last[id], id))
