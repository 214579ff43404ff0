"""The states of a session, and what each change of state brings about."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


class SessionState(Enum):
    CONNECTING = "connecting"
    """The first session is not open yet. Operations are refused, unsent."""
    CONNECTED = "connected"
    SUSPENDED = "suspended"
    """The connection is gone, the session may go on: ephemeral znodes and watches are kept until the servers say
    otherwise. What was sent is in doubt; new operations are refused, unsent."""
    EXPIRED = "expired"
    """The servers gave the session up, and with it its ephemeral znodes and watches. A new one is being opened."""
    CLOSED = "closed"
    """Ended by this side; for good."""


class SessionEvent(Enum):
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    EXPIRED = "expired"
    CLOSE = "close"


class Effect(Enum):
    REARM_WATCHES = "rearm watches"
    """The server that now serves the session knows nothing of them: each znode is read again, and who watched one
    that changed in between is told."""
    END_WATCHES = "end watches"
    """Everybody who watches is told that the session expired."""
    OPEN_SESSION = "open session"
    END_SESSION = "end session"


class Transition(NamedTuple):
    state: SessionState
    effects: tuple[Effect, ...] = ()
    """In order, after the listeners were told the new state."""


_CLOSED = Transition(SessionState.CLOSED, (Effect.END_SESSION,))

TRANSITIONS: Mapping[tuple[SessionState, SessionEvent], Transition] = {
    (SessionState.CONNECTING, SessionEvent.CONNECTED): Transition(SessionState.CONNECTED),
    (SessionState.CONNECTED, SessionEvent.DISCONNECTED): Transition(SessionState.SUSPENDED),
    (SessionState.SUSPENDED, SessionEvent.CONNECTED): Transition(SessionState.CONNECTED, (Effect.REARM_WATCHES,)),
    **{
        (state, SessionEvent.EXPIRED): Transition(
            SessionState.EXPIRED, (Effect.END_WATCHES, Effect.END_SESSION, Effect.OPEN_SESSION)
        )
        for state in (SessionState.CONNECTING, SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.EXPIRED)
    },
    (SessionState.EXPIRED, SessionEvent.CONNECTED): Transition(SessionState.CONNECTED),
    **{(state, SessionEvent.CLOSE): _CLOSED for state in SessionState if state is not SessionState.CLOSED},
}
"""What is not listed changes nothing."""


def after(state: SessionState, event: SessionEvent) -> Transition | None:
    return TRANSITIONS.get((state, event))
