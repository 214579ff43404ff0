"""The state machine of one broker process under KIP-343. It does no I/O.

    INITIAL ---answered: active---> ACTIVE, STOPPING ---answered: inactive, or another incarnation---> INACTIVE
       ^                                 |    ^                                                          |
       |                                 +----+ silent for too long: fenced, and back with an answer     |
       +---registered again, another incarnation-----<---answered: active (ACTIVE)---<-------------------+

Its input is the time (seconds of the monotonic clock) and the responses; its output is the next heartbeat, and whether
a client's request may be started. The broker's timer runs from the last *response* (decision: timeouts), the
controller's from the last request. So if only requests are lost the broker is inactive before it fences itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from fencepost.cluster_impl.designs.shared.heartbeats import PendingHeartbeat
from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.replication.control_plane import NO_EPOCH
from fencepost.cluster_impl.wire.errors import Error


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A heartbeat to send; `number` identifies it."""

    number: int
    incarnation: int
    target_state: BrokerState
    sent_at: float


class Fence(Enum):
    """The reason why new requests are not accepted."""

    NOT_REGISTERED = "it is not registered"
    NOT_ANSWERED = "the controller has not answered it yet"
    SILENCE = "no controller has answered it for too long"
    INACTIVE = "the controller has declared it inactive"
    ANOTHER_INCARNATION = "the controller knows another incarnation of it"


class Lifecycle:
    """One broker process. `timeout` is broker.heartbeat.timeout.ms, in seconds."""

    def __init__(self, timeout: float) -> None:
        self.state = BrokerState.INITIAL
        self.incarnation = NO_EPOCH
        self.fence: Fence | None = Fence.NOT_REGISTERED
        self.stopping = False
        self._timeout = timeout
        self._heard_at = 0.0
        self._pending = PendingHeartbeat()

    def serving(self, now: float) -> bool:
        """Return whether a new request may be started at `now` (KIP-343, Broker-Side Heartbeat Timeout).

        Each call compares with the time of the last response: a process that was suspended beyond the timeout is fenced
        when it resumes, before any of its timers runs.
        """
        return self.fence is None and now < self._heard_at + self._timeout

    @property
    def fences_at(self) -> float | None:
        """Return when the broker fences itself unless a response comes before; None while it is fenced."""
        return self._heard_at + self._timeout if self.fence is None else None

    def registered(self, incarnation: int) -> None:
        """Become another incarnation, as the znode was written. The controller does not know it yet."""
        if incarnation != self.incarnation:
            self._pending.clear()
            self.incarnation = incarnation
            self.state, self.fence = BrokerState.INITIAL, Fence.NOT_ANSWERED

    def unregistered(self) -> None:
        """End the incarnation, as the session has expired."""
        self._pending.clear()
        self.incarnation = NO_EPOCH
        self.state, self.fence = BrokerState.INITIAL, Fence.NOT_REGISTERED

    def stop(self) -> None:
        """Request the state STOPPING from the next heartbeat on."""
        self.stopping = True

    def tick(self, now: float) -> None:
        """Fence the broker if no response has come in time."""
        if self.fence is None and now >= self._heard_at + self._timeout:
            self.fence = Fence.SILENCE

    def next_heartbeat(self, now: float) -> Heartbeat | None:
        """Return the heartbeat to send at `now`, None without an incarnation. Responses to earlier ones are ignored."""
        self.tick(now)
        if self.incarnation == NO_EPOCH:
            return None
        target = BrokerState.STOPPING if self.stopping else BrokerState.ACTIVE
        return Heartbeat(self._pending.next(), self.incarnation, target, now)

    def gave_up(self, heartbeat: Heartbeat) -> None:
        """Ignore a response to this heartbeat."""
        self._pending.give_up(heartbeat.number)

    def answered(self, heartbeat: Heartbeat, error: Error, state: BrokerState, now: float) -> None:
        """Apply the response to `heartbeat` that arrived at `now`.

        A response that took a whole timeout is ignored: a process that was suspended finds it in its socket. An error
        other than INVALID_INCARNATION_ID does not count as contact with the controller.
        """
        self.tick(now)
        if not self._pending.is_pending(heartbeat.number):
            return
        self._pending.clear()
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
