"""The life of one broker process under KIP-343, as a pure machine.

    INITIAL ---answered: active---> ACTIVE, STOPPING ---answered: inactive, or another incarnation---> INACTIVE
       ^                                 |    ^                                                          |
       |                                 +----+ silent for too long: fenced, and back with an answer     |
       +---registered anew, as another incarnation---<---answered: active (ACTIVE)---<-------------------+

It is told the time (seconds, monotonic) and what was answered; it says what to send next, and whether a client's
request may be begun. The timer runs from the last *response* (decision: timeouts), the controller's from the last
request, so where only requests are cut the broker is inactive before it is fenced.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cluster_impl.designs.zk_controller.states import BrokerState
from cluster_impl.replication.control_plane import NO_EPOCH
from cluster_impl.wire.errors import Error


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What to send. `number` tells one heartbeat from another."""

    number: int
    incarnation: int
    target_state: BrokerState
    sent_at: float


class Fence(Enum):
    """Why new requests are not accepted."""

    NOT_REGISTERED = "it is not registered"
    NOT_ANSWERED = "the controller has not answered it yet"
    SILENCE = "no controller has answered it for too long"
    INACTIVE = "the controller holds it to be inactive"
    ANOTHER_INCARNATION = "the controller knows another incarnation of it"


class Lifecycle:
    """`timeout` is broker.heartbeat.timeout.ms, in seconds."""

    def __init__(self, timeout: float) -> None:
        self.state = BrokerState.INITIAL
        self.incarnation = NO_EPOCH
        self.fence: Fence | None = Fence.NOT_REGISTERED
        self.stopping = False
        self._timeout = timeout
        self._heard_at = 0.0
        self._in_flight: Heartbeat | None = None
        self._sent = 0

    def serving(self, now: float) -> bool:
        """Whether a new request may be begun at `now` (KIP-343, Broker-Side Heartbeat Timeout).

        Compares with the time of the last answer each time: a process that slept through the timeout is fenced the
        moment it wakes, before any of its timers has run.
        """
        return self.fence is None and now < self._heard_at + self._timeout

    @property
    def fences_at(self) -> float | None:
        """When the broker fences itself unless it is answered; None while it is fenced."""
        return self._heard_at + self._timeout if self.fence is None else None

    def registered(self, incarnation: int) -> None:
        """The znode was written: from now on this process is another incarnation, of which nobody has heard yet."""
        if incarnation != self.incarnation:
            self.incarnation, self._in_flight = incarnation, None
            self.state, self.fence = BrokerState.INITIAL, Fence.NOT_ANSWERED

    def unregistered(self) -> None:
        """The session is over, and with it the incarnation."""
        self.incarnation, self._in_flight = NO_EPOCH, None
        self.state, self.fence = BrokerState.INITIAL, Fence.NOT_REGISTERED

    def stop(self) -> None:
        """Ask to be stopping from the next heartbeat on."""
        self.stopping = True

    def tick(self, now: float) -> None:
        """Notice that no answer has come for too long."""
        if self.fence is None and now >= self._heard_at + self._timeout:
            self.fence = Fence.SILENCE

    def next_heartbeat(self, now: float) -> Heartbeat | None:
        """The heartbeat to send at `now`, None without an incarnation. One that is in flight still is given up."""
        self.tick(now)
        if self.incarnation == NO_EPOCH:
            return None
        self._sent += 1
        target = BrokerState.STOPPING if self.stopping else BrokerState.ACTIVE
        self._in_flight = Heartbeat(self._sent, self.incarnation, target, now)
        return self._in_flight

    def gave_up(self, heartbeat: Heartbeat) -> None:
        """No answer is waited for any more."""
        if self._in_flight is not None and heartbeat.number == self._in_flight.number:
            self._in_flight = None

    def answered(self, heartbeat: Heartbeat, error: Error, state: BrokerState, now: float) -> None:
        """Take in the answer to `heartbeat`, which arrived at `now`.

        One that took a whole timeout says nothing about now: a process that was paused finds it in its socket. What is
        not from the controller (NOT_CONTROLLER), or says that the heartbeat could not be judged, is no contact.
        """
        self.tick(now)
        if self._in_flight is None or heartbeat.number != self._in_flight.number:
            return
        self._in_flight = None
        if now >= heartbeat.sent_at + self._timeout:
            return
        if error is Error.INVALID_INCARNATION_ID:
            if self.state is not BrokerState.INITIAL:
                self.state, self.fence = BrokerState.INACTIVE, Fence.ANOTHER_INCARNATION
        elif error is Error.NONE:
            self._heard_at = now
            if state.is_live:
                self.state, self.fence = state, None
            else:
                self.state, self.fence = BrokerState.INACTIVE, Fence.INACTIVE
