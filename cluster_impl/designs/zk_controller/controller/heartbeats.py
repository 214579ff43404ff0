"""Which brokers are inactive, active or stopping, as the controller knows it (KIP-343, Broker State and below).

All of it is soft state: nothing here is in ZooKeeper, and a new controller starts afresh. Times are seconds on a
monotonic clock and are passed in. A broker's timer runs from the last request of it that was accepted (decision:
timeouts); the broker's own runs from the last response, and is longer.

    GUARDS refuse     negative ids (INVALID_REQUEST), an id that nobody registered or an earlier incarnation of it
                      (INVALID_INCARNATION_ID), then a state that does not exist (INVALID_REQUEST): changes nothing
    take over         a later incarnation than the known one becomes the known one, before its znode was read
    grant             every state that may be asked for is granted; INITIAL asks for none

Who is not the controller answers NOT_CONTROLLER before any of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from cluster_impl.designs.zk_controller.states import BrokerState
from cluster_impl.designs.zk_controller.znodes import BrokerInfo
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

FIRST_VERSION_WITH_HEARTBEATS = 5
"""Of a broker's information; an older one is a legacy registration (KIP-343, Compatibility)."""


class Registration(Protocol):
    """What is read here of a broker's znode under /brokers/ids."""

    @property
    def broker_id(self) -> int: ...

    @property
    def epoch(self) -> int:
        """The znode's czxid: broker epoch and incarnation id in one."""
        ...

    @property
    def info(self) -> BrokerInfo: ...


@dataclass(frozen=True, slots=True)
class Transition:
    """What a heartbeat, or the lack of one, changed about a broker.

    `taken_over` is the incarnation that the controller learned of by a heartbeat, None if it knew it. Then `before` is
    the state of the earlier incarnation, which has failed whatever the two states are; of the new one the controller
    has no endpoints before it reads the znode.
    """

    broker_id: int
    before: BrokerState
    after: BrokerState
    taken_over: int | None = None

    @property
    def fails(self) -> bool:
        """Whether a broker that was live is not any more, or is another process now (onBrokerFailure)."""
        return self.before.is_live and (not self.after.is_live or self.taken_over is not None)

    @property
    def starts(self) -> bool:
        """Whether a broker is live that was not, or is another process now (onBrokerStartup)."""
        return self.after.is_live and (not self.before.is_live or self.taken_over is not None)

    @property
    def begins_to_stop(self) -> bool:
        return self.after is BrokerState.STOPPING


@dataclass(frozen=True, slots=True)
class Heard:
    """A heartbeat's answer, and what it changed: None if all is as before."""

    response: m.MetadataHeartbeatResponse
    transition: Transition | None = None


@dataclass(slots=True)
class _Known:
    """`silent_from` is when the broker becomes inactive if nothing is heard of it; of no meaning while inactive."""

    incarnation: int
    legacy: bool
    state: BrokerState
    silent_from: float


@dataclass(frozen=True, slots=True)
class Guard:
    """Refuses with `error` what `refuses` is true of; `sentence` tells the sender why."""

    error: Error
    sentence: str
    refuses: Callable[[BrokerStates, m.MetadataHeartbeatRequest], bool]


class BrokerStates:
    """The states of all registered brokers. `timeout` is controller.heartbeat.timeout.ms, in seconds."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._brokers: dict[int, _Known] = {}

    def elected(self, registrations: Iterable[Registration], now: float, *, brand_new: bool) -> None:
        """Begin as a new controller.

        KIP-343: all are inactive when the cluster is first initialised. Decision: after a failover each registered
        broker is taken for active, for one full timeout; what it was told last is not known.
        """
        self._brokers.clear()
        for registration in registrations:
            self.registered(registration)
            known = self._brokers[registration.broker_id]
            if not brand_new:
                known.state, known.silent_from = BrokerState.ACTIVE, now + self._timeout

    def registered(self, registration: Registration) -> None:
        """Adopt what was read of a znode.

        A new incarnation is inactive until it asks to be active, a legacy one is always active. A znode older than the
        known incarnation says nothing: a server that lags behind may have given it.
        """
        legacy = registration.info.version < FIRST_VERSION_WITH_HEARTBEATS
        known = self._brokers.get(registration.broker_id)
        if known is None or registration.epoch > known.incarnation:
            known = _Known(registration.epoch, legacy, BrokerState.INACTIVE, silent_from=0.0)
            self._brokers[registration.broker_id] = known
        if legacy and registration.epoch == known.incarnation:
            known.legacy, known.state = True, BrokerState.ACTIVE

    def gone(self, broker_id: int) -> None:
        """Forget a broker whose znode is gone."""
        self._brokers.pop(broker_id, None)

    def state(self, broker_id: int) -> BrokerState:
        """INACTIVE also for an id that is not registered: it is treated as if the broker were not there."""
        known = self._brokers.get(broker_id)
        return BrokerState.INACTIVE if known is None else known.state

    def is_live(self, broker_id: int) -> bool:
        """Registered, and legacy, active or stopping."""
        return self.state(broker_id).is_live

    def incarnation(self, broker_id: int) -> int | None:
        """The latest incarnation that the controller knows of, by znode or by heartbeat; None if not registered."""
        known = self._brokers.get(broker_id)
        return None if known is None else known.incarnation

    def heartbeat(self, request: m.MetadataHeartbeatRequest, now: float) -> Heard:
        """Decide one heartbeat that was received at `now`."""
        for guard in GUARDS:
            if guard.refuses(self, request):
                return Heard(m.MetadataHeartbeatResponse(error_code=guard.error, error_string=guard.sentence))
        known = self._brokers[request.broker_id]
        before, taken_over = known.state, None
        if request.incarnation_id > known.incarnation:
            taken_over = request.incarnation_id
            known = _Known(taken_over, legacy=False, state=BrokerState.INACTIVE, silent_from=0.0)
            self._brokers[request.broker_id] = known
        known.state = _granted(known, BrokerState(request.target_state))
        known.silent_from = now + self._timeout
        response = m.MetadataHeartbeatResponse(
            broker_id=request.broker_id, incarnation_id=known.incarnation, current_state=known.state
        )
        if before is known.state and taken_over is None:
            return Heard(response)
        return Heard(response, Transition(request.broker_id, before, known.state, taken_over))

    def changes_nothing(self, request: m.MetadataHeartbeatRequest) -> bool:
        """Whether a heartbeat is refused or only says that all is as before: then it may be answered at any moment."""
        if any(guard.refuses(self, request) for guard in GUARDS):
            return True
        known = self._brokers[request.broker_id]
        granted = _granted(known, BrokerState(request.target_state))
        return request.incarnation_id == known.incarnation and granted is known.state

    def expire(self, now: float) -> list[Transition]:
        """Declare inactive who was silent for the whole timeout, in the order in which their times ran out."""
        over = sorted((known.silent_from, id) for id, known in self._timed() if known.silent_from <= now)
        transitions = []
        for _, broker_id in over:
            known = self._brokers[broker_id]
            transitions.append(Transition(broker_id, known.state, BrokerState.INACTIVE))
            known.state = BrokerState.INACTIVE
        return transitions

    def give_grace(self, now: float) -> None:
        """Begin a full timeout anew for everybody who is live (decision: nobody is given up while suspended)."""
        for _, known in self._timed():
            known.silent_from = max(known.silent_from, now + self._timeout)

    def next_deadline(self) -> float | None:
        """When `expire` has something to do next, if nothing is heard until then; None if nothing can run out."""
        return min((known.silent_from for _, known in self._timed()), default=None)

    def _timed(self) -> Iterable[tuple[int, _Known]]:
        """Those who must be heard of. A legacy broker is active without."""
        return ((id, known) for id, known in self._brokers.items() if known.state.is_live and not known.legacy)


def _granted(known: _Known, target: BrokerState) -> BrokerState:
    """Every state that exists is granted, back and forth: a broker that was stopping may become active again."""
    return known.state if known.legacy or target is BrokerState.INITIAL else target


def _has_a_negative_id(states: BrokerStates, request: m.MetadataHeartbeatRequest) -> bool:
    return request.broker_id < 0 or request.incarnation_id < 0


def _is_not_registered(states: BrokerStates, request: m.MetadataHeartbeatRequest) -> bool:
    return states.incarnation(request.broker_id) is None


def _is_an_earlier_incarnation(states: BrokerStates, request: m.MetadataHeartbeatRequest) -> bool:
    known = states.incarnation(request.broker_id)
    return known is None or request.incarnation_id < known


def _asks_for_no_state_that_exists(states: BrokerStates, request: m.MetadataHeartbeatRequest) -> bool:
    return BrokerState(request.target_state) is BrokerState.UNKNOWN


GUARDS = (
    Guard(Error.INVALID_REQUEST, "the broker id or the incarnation id is negative", _has_a_negative_id),
    Guard(Error.INVALID_INCARNATION_ID, "no broker is registered with this id", _is_not_registered),
    Guard(
        Error.INVALID_INCARNATION_ID,
        "a later incarnation of this broker id is known",
        _is_an_earlier_incarnation,
    ),
    Guard(Error.INVALID_REQUEST, "the target state is none that a broker can have", _asks_for_no_state_that_exists),
)
