"""KIP-343's broker states in any history of znodes, heartbeats, elections and time."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.zk_controller.controller.test_broker_heartbeats import (
    ACTIVE,
    INACTIVE,
    INITIAL,
    TIMEOUT,
    elected,
    with_heartbeats,
    without_heartbeats,
)


class History(RuleBasedStateMachine):
    """The states beside a model that is as plain as can be."""

    epochs: Bundle[int] = Bundle("epochs")

    def __init__(self) -> None:
        super().__init__()
        self.states = elected([])
        self.now = 0.0
        self.zxid = 100
        self.known: dict[int, tuple[int, bool, BrokerState, float]] = {}
        """Incarnation, whether it sends no heartbeats, state, and time of its last heartbeat."""

    @rule(target=epochs, id=st.integers(0, 2), is_old=st.booleans())
    def registers(self, id: int, is_old: bool) -> int:
        self.zxid += 1
        self.states.registered(without_heartbeats(id, self.zxid) if is_old else with_heartbeats(id, self.zxid))
        self.known[id] = (self.zxid, is_old, ACTIVE if is_old else INACTIVE, self.now)
        return self.zxid

    @rule(id=st.integers(0, 2))
    def goes(self, id: int) -> None:
        self.states.gone(id)
        self.known.pop(id, None)

    @rule(id=st.integers(0, 2), epoch=epochs, ahead=st.integers(0, 1), wanted=st.sampled_from(range(4)))
    def beats(self, id: int, epoch: int, ahead: int, wanted: int) -> None:
        was = self.known.get(id)
        request = m.MetadataHeartbeatRequest(broker_id=id, incarnation_id=epoch + ahead, target_state=wanted)
        changes_nothing = self.states.changes_nothing(request)
        heard = self.states.heartbeat(request, self.now)
        assert changes_nothing == (heard.transition is None)
        if was is None or epoch + ahead < was[0]:
            assert heard.response.error_code == Error.INVALID_INCARNATION_ID
            return
        incarnation, is_old, state, _ = was
        if epoch + ahead > incarnation:
            self.zxid = max(self.zxid, epoch + ahead)
            incarnation, is_old, state = epoch + ahead, False, INACTIVE
        state = state if is_old or wanted == INITIAL else BrokerState(wanted)
        self.known[id] = (incarnation, is_old, state, self.now)
        assert heard.response.current_state == state
        assert (heard.transition is None) == ((was[0], was[2]) == (incarnation, state))

    @rule(seconds=st.floats(0.0, 2 * TIMEOUT))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        expired = {each.broker_id for each in self.states.expire(self.now)}
        over = {
            id
            for id, (_, is_old, state, heard) in self.known.items()
            if state.is_live and not is_old and heard + TIMEOUT <= self.now
        }
        assert expired == over
        for id in over:
            incarnation, is_old, _, heard = self.known[id]
            self.known[id] = (incarnation, is_old, INACTIVE, heard)

    @rule()
    def the_session_was_suspended(self) -> None:
        self.states.give_grace(self.now)
        for id, (incarnation, is_old, state, _) in self.known.items():
            if state.is_live:
                self.known[id] = (incarnation, is_old, state, self.now)

    @rule(brand_new=st.booleans())
    def another_is_elected(self, brand_new: bool) -> None:
        registered = [
            without_heartbeats(id, at) if old else with_heartbeats(id, at) for id, (at, old, _, _) in self.known.items()
        ]
        self.states = elected(registered, brand_new=brand_new, now=self.now)
        for id, (at, old, _, _) in self.known.items():
            self.known[id] = (at, old, ACTIVE if old or not brand_new else INACTIVE, self.now)

    @invariant()
    def both_agree(self) -> None:
        for id in range(3):
            incarnation, _, state, _ = self.known.get(id, (None, False, INACTIVE, 0.0))
            assert (self.states.incarnation(id), self.states.state(id)) == (incarnation, state)
        live = [heard for _, old, state, heard in self.known.values() if state.is_live and not old]
        assert self.states.next_deadline() == min((heard + TIMEOUT for heard in live), default=None)


TestHistory = History.TestCase
