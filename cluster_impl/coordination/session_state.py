"""The states of a session, and the effects of each change of state."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


class SessionState(Enum):
    CONNECTING = "connecting"
    """The first session is not open yet. Operations are refused without being sent."""
    CONNECTED = "connected"
    SUSPENDED = "suspended"
    """The connection is lost, and the session may continue: ephemeral znodes and watches exist until the servers expire
    it. Operations that were sent are in doubt; new ones are refused without being sent."""
    EXPIRED = "expired"
    """The servers ended the session, with its ephemeral znodes and watches. A new session is being opened."""
    CLOSED = "closed"
    """This side ended the session; no other one follows."""


class SessionEvent(Enum):
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    EXPIRED = "expired"
    CLOSE = "close"


class Effect(Enum):
    REARM_WATCHES = "rearm watches"
    """The server of the new connection has no watches of this session: each znode is read again, and the watches of a
    znode that changed in between are called."""
    END_WATCHES = "end watches"
    """Every watch is called with the expiry of the session."""
    OPEN_SESSION = "open session"
    END_SESSION = "end session"


class SessionTransition(NamedTuple):
    state: SessionState
    effects: tuple[Effect, ...] = ()
    """Carried out in order, after the listeners were called with the new state."""


_CLOSED = SessionTransition(SessionState.CLOSED, (Effect.END_SESSION,))

TRANSITIONS: Mapping[tuple[SessionState, SessionEvent], SessionTransition] = {
    (SessionState.CONNECTING, SessionEvent.CONNECTED): SessionTransition(SessionState.CONNECTED),
    (SessionState.CONNECTED, SessionEvent.DISCONNECTED): SessionTransition(SessionState.SUSPENDED),
    (SessionState.SUSPENDED, SessionEvent.CONNECTED): SessionTransition(
        SessionState.CONNECTED, (Effect.REARM_WATCHES,)
    ),
    **{
        (state, SessionEvent.EXPIRED): SessionTransition(
            SessionState.EXPIRED, (Effect.END_WATCHES, Effect.END_SESSION, Effect.OPEN_SESSION)
        )
        for state in (SessionState.CONNECTING, SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.EXPIRED)
    },
    (SessionState.EXPIRED, SessionEvent.CONNECTED): SessionTransition(SessionState.CONNECTED),
    **{(state, SessionEvent.CLOSE): _CLOSED for state in SessionState if state is not SessionState.CLOSED},
}
"""An event that is not listed for a state changes nothing."""


def after(state: SessionState, event: SessionEvent) -> SessionTransition | None:
    return TRANSITIONS.get((state, event))
