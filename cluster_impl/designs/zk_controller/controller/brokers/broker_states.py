"""The states of the brokers, as the controller knows them from heartbeats (KIP-343, Broker State and below).

They are soft state: none of it is in ZooKeeper, and a new controller starts without it. Times are seconds of the
monotonic clock and are passed in. The controller's timer for a broker runs from the last accepted request (decision:
timeouts); the broker's own timer runs from the last response, and is longer.

    guards refuse     negative ids (INVALID_REQUEST), an unregistered id or an earlier incarnation of it
                      (INVALID_INCARNATION_ID), then an undefined state (INVALID_REQUEST): changes nothing
    take over         a later incarnation than the known one becomes the known one, before its znode was read
    grant             every state that can be requested is granted; INITIAL requests none

A broker that is not the controller answers NOT_CONTROLLER before any of this.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fencepost.cluster_impl.designs.shared.guards import Guard, first_refusal
from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import RegisteredBroker
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

FIRST_VERSION_WITH_HEARTBEATS = 5
"""The first version of a broker's information that announces heartbeats (KIP-343, Compatibility)."""


@dataclass(frozen=True, slots=True)
class BrokerTransition:
    """A change of a broker's state by a heartbeat, or by the lack of one.

    `taken_over` is an incarnation that the controller learned from the heartbeat, else None. Then `before` is the state
    of the earlier incarnation, which has failed whatever both states are. The endpoints of the new incarnation are
    unknown until its znode is read.
    """

    broker_id: int
    before: BrokerState
    after: BrokerState
    taken_over: int | None = None

    @property
    def fails(self) -> bool:
        """Return whether a live broker is no longer live, or is another process now (onBrokerFailure)."""
        return self.before.is_live and (not self.after.is_live or self.taken_over is not None)

    @property
    def starts(self) -> bool:
        """Return whether a broker has become live, or is another process now (onBrokerStartup)."""
        return self.after.is_live and (not self.before.is_live or self.taken_over is not None)

    @property
    def begins_to_stop(self) -> bool:
        return self.after is BrokerState.STOPPING


@dataclass(frozen=True, slots=True)
class HeartbeatResult:
    """The response to a heartbeat, and the transition that it caused, if any."""

    response: m.MetadataHeartbeatResponse
    transition: BrokerTransition | None = None


@dataclass(slots=True)
class _BrokerRecord:
    """A registered broker. At `silent_from` it becomes inactive unless a heartbeat comes; unused while inactive."""

    incarnation: int
    has_heartbeats: bool
    state: BrokerState
    silent_from: float


class BrokerStates:
    """The states of all registered brokers. `timeout` is controller.heartbeat.timeout.ms, in seconds."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._brokers: dict[int, _BrokerRecord] = {}

    def elected(self, registrations: Iterable[RegisteredBroker], now: float, *, brand_new: bool) -> None:
        """Begin as a new controller.

        KIP-343: all brokers are inactive when the cluster is first initialised. Decision: after a failover each
        registered broker counts as active for one full timeout, as the last state that it was granted is unknown.
        """
        self._brokers.clear()
        for registration in registrations:
            self.registered(registration)
            known = self._brokers[registration.broker_id]
            if not brand_new:
                known.state, known.silent_from = BrokerState.ACTIVE, now + self._timeout

    def registered(self, registration: RegisteredBroker) -> None:
        """Apply a znode that was read.

        A new incarnation is inactive until it requests to be active; one without heartbeats is always active. A znode
        that is older than the known incarnation is ignored, as a lagging ZooKeeper server may have returned it.
        """
        has_heartbeats = registration.info.version >= FIRST_VERSION_WITH_HEARTBEATS
        known = self._brokers.get(registration.broker_id)
        if known is None or registration.epoch > known.incarnation:
            known = _BrokerRecord(registration.epoch, has_heartbeats, BrokerState.INACTIVE, silent_from=0.0)
            self._brokers[registration.broker_id] = known
        if not has_heartbeats and registration.epoch == known.incarnation:
            known.has_heartbeats, known.state = False, BrokerState.ACTIVE

    def gone(self, broker_id: int) -> None:
        """Forget a broker whose znode is gone."""
        self._brokers.pop(broker_id, None)

    def state(self, broker_id: int) -> BrokerState:
        """Return the state of a broker; INACTIVE also for an id that is not registered."""
        known = self._brokers.get(broker_id)
        return BrokerState.INACTIVE if known is None else known.state

    def is_live(self, broker_id: int) -> bool:
        """Return whether the broker is active or stopping, or registered without heartbeats."""
        return self.state(broker_id).is_live

    def incarnation(self, broker_id: int) -> int | None:
        """Return the latest incarnation known from a znode or a heartbeat; None if the id is not registered."""
        known = self._brokers.get(broker_id)
        return None if known is None else known.incarnation

    def has_heartbeats(self, broker_id: int) -> bool:
        """Return whether the broker is registered as one that sends heartbeats."""
        known = self._brokers.get(broker_id)
        return known is not None and known.has_heartbeats

    def heartbeat(self, request: m.MetadataHeartbeatRequest, now: float) -> HeartbeatResult:
        """Decide one heartbeat that was received at `now`."""
        if guard := first_refusal(HEARTBEAT_GUARDS, self, request):
            return HeartbeatResult(m.MetadataHeartbeatResponse(error_code=guard.error, error_string=guard.message))
        known = self._brokers[request.broker_id]
        before, taken_over = known.state, None
        if request.incarnation_id > known.incarnation:
            taken_over = request.incarnation_id
            known = _BrokerRecord(taken_over, has_heartbeats=True, state=BrokerState.INACTIVE, silent_from=0.0)
            self._brokers[request.broker_id] = known
        known.state = _granted(known, BrokerState(request.target_state))
        known.silent_from = now + self._timeout
        response = m.MetadataHeartbeatResponse(
            broker_id=request.broker_id, incarnation_id=known.incarnation, current_state=known.state
        )
        if before is known.state and taken_over is None:
            return HeartbeatResult(response)
        return HeartbeatResult(response, BrokerTransition(request.broker_id, before, known.state, taken_over))

    def changes_nothing(self, request: m.MetadataHeartbeatRequest) -> bool:
        """Return whether a heartbeat is refused, or changes no state, so that it can be answered at any time."""
        if first_refusal(HEARTBEAT_GUARDS, self, request):
            return True
        known = self._brokers[request.broker_id]
        granted = _granted(known, BrokerState(request.target_state))
        return request.incarnation_id == known.incarnation and granted is known.state

    def expire(self, now: float) -> list[BrokerTransition]:
        """Declare brokers inactive that were silent for a whole timeout, in the order of their deadlines."""
        over = sorted((broker.silent_from, id) for id, broker in self._timed() if broker.silent_from <= now)
        transitions = []
        for _, broker_id in over:
            known = self._brokers[broker_id]
            transitions.append(BrokerTransition(broker_id, known.state, BrokerState.INACTIVE))
            known.state = BrokerState.INACTIVE
        return transitions

    def give_grace(self, now: float) -> None:
        """Restart the timeout of all live brokers (decision: no broker is given up while the session is suspended)."""
        for _, broker in self._timed():
            broker.silent_from = max(broker.silent_from, now + self._timeout)

    def next_deadline(self) -> float | None:
        """Return when the next broker becomes inactive without a heartbeat; None if no timer runs."""
        return min((broker.silent_from for _, broker in self._timed()), default=None)

    def _timed(self) -> Iterable[tuple[int, _BrokerRecord]]:
        """Yield the live brokers that must send heartbeats."""
        return ((id, broker) for id, broker in self._brokers.items() if broker.state.is_live and broker.has_heartbeats)


def _granted(broker: _BrokerRecord, target: BrokerState) -> BrokerState:
    """Return the granted state. Each defined state is granted; a stopping broker may become active again."""
    return target if broker.has_heartbeats and target is not BrokerState.INITIAL else broker.state


def _has_a_negative_id(states: BrokerStates, request: m.MetadataHeartbeatRequest) -> bool:
    return request.broker_id < 0 or request.incarnation_id < 0


def _is_not_registered(states: BrokerStates, request: m.MetadataHeartbeatRequest) -> bool:
    return states.incarnation(request.broker_id) is None


def _is_an_earlier_incarnation(states: BrokerStates, request: m.MetadataHeartbeatRequest) -> bool:
    known = states.incarnation(request.broker_id)
    return known is None or request.incarnation_id < known


def _requests_an_undefined_state(states: BrokerStates, request: m.MetadataHeartbeatRequest) -> bool:
    return BrokerState(request.target_state) is BrokerState.UNKNOWN


HeartbeatGuard = Guard[[BrokerStates, m.MetadataHeartbeatRequest]]

HEARTBEAT_GUARDS = (
    HeartbeatGuard(Error.INVALID_REQUEST, _has_a_negative_id, "the broker id or the incarnation id is negative"),
    HeartbeatGuard(Error.INVALID_INCARNATION_ID, _is_not_registered, "no broker is registered with this id"),
    HeartbeatGuard(
        Error.INVALID_INCARNATION_ID, _is_an_earlier_incarnation, "a later incarnation of this broker id is known"
    ),
    HeartbeatGuard(Error.INVALID_REQUEST, _requests_an_undefined_state, "the target state is undefined"),
)
