"""The effect of each event on a session, as a table that is read the other way round."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.coordination.session_state import Effect, SessionEvent, SessionState, after

pytestmark = pytest.mark.requirement("DINT-14")


def states(*events: SessionEvent) -> list[SessionState]:
    """The states that the events lead through, from the start."""
    state, seen = SessionState.CONNECTING, []
    for event in events:
        transition = after(state, event)
        if transition is not None:
            state = transition.state
            seen.append(state)
    return seen


def test_a_lost_connection_suspends_and_a_new_one_resumes_the_session() -> None:
    way = states(SessionEvent.CONNECTED, SessionEvent.DISCONNECTED, SessionEvent.CONNECTED)
    assert way == [SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.CONNECTED]


def test_an_expired_session_is_followed_by_a_new_one() -> None:
    way = states(SessionEvent.CONNECTED, SessionEvent.DISCONNECTED, SessionEvent.EXPIRED, SessionEvent.CONNECTED)
    assert way[-2:] == [SessionState.EXPIRED, SessionState.CONNECTED]


def test_only_an_expiry_ends_watches_and_opens_another_session() -> None:
    with_effect = {
        effect: {event for state in SessionState for event in SessionEvent if effect in _effects(state, event)}
        for effect in Effect
    }
    assert with_effect[Effect.END_WATCHES] == {SessionEvent.EXPIRED}
    assert with_effect[Effect.OPEN_SESSION] == {SessionEvent.EXPIRED}
    assert with_effect[Effect.END_SESSION] == {SessionEvent.EXPIRED, SessionEvent.CLOSE}


def test_watches_are_set_again_when_a_suspended_session_is_resumed_and_not_in_a_new_one() -> None:
    assert _effects(SessionState.SUSPENDED, SessionEvent.CONNECTED) == (Effect.REARM_WATCHES,)
    assert _effects(SessionState.EXPIRED, SessionEvent.CONNECTED) == ()


def test_a_session_is_given_up_by_the_servers_only() -> None:
    """However long it is suspended."""
    ends = {(state, event) for state in SessionState for event in SessionEvent if _leads_to_expired(state, event)}
    assert {event for _, event in ends} == {SessionEvent.EXPIRED}


@pytest.mark.parametrize("event", SessionEvent)
def test_closed_is_for_good(event: SessionEvent) -> None:
    assert after(SessionState.CLOSED, event) is None


@pytest.mark.parametrize("state", [state for state in SessionState if state is not SessionState.CLOSED])
def test_every_other_state_can_be_closed(state: SessionState) -> None:
    transition = after(state, SessionEvent.CLOSE)
    assert transition is not None
    assert transition == (SessionState.CLOSED, (Effect.END_SESSION,))


def _effects(state: SessionState, event: SessionEvent) -> tuple[Effect, ...]:
    transition = after(state, event)
    return transition.effects if transition is not None else ()


def _leads_to_expired(state: SessionState, event: SessionEvent) -> bool:
    transition = after(state, event)
    return transition is not None and transition.state is SessionState.EXPIRED
