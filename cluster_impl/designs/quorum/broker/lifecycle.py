"""The life of one broker process, as a pure machine (KIP-631, The Broker State Machine).

    INITIAL ---granted---> FENCED <---lease over, revoked, or lost to another process---+
                             |                                                          |
                             +---caught up, told ACTIVE---> ACTIVE ---------------------+
    FENCED, ACTIVE ---controlled shutdown granted---> SHUTDOWN

It is told the time (seconds, monotonic) and what was answered; it says what to send next and whether a client's request
may be processed. The lease is `LeaseEnd - LeaseStart`, counted from the moment at which the heartbeat was *sent*
(decision: lease arithmetic), so it ends here before the controller gives the id away.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cluster_impl.designs.quorum.image import NO_EPOCH
from cluster_impl.designs.quorum.states import BrokerState
from cluster_impl.wire.errors import Error


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What to send: the state to reach, and the epoch held. `number` tells one heartbeat from another."""

    number: int
    target_state: BrokerState
    broker_epoch: int
    sent_at: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What the active controller said. `lease` is how long it lasts, in seconds from the sending; 0 is none."""

    error: Error
    next_state: BrokerState
    broker_epoch: int
    lease: float


class Loss(Enum):
    """Why a broker has no lease."""

    NEVER_HELD = "no lease was granted yet"
    RAN_OUT = "its lease ran out"
    REVOKED = "the controller revoked its lease"
    ANOTHER_PROCESS = "another process holds its broker id"


class Lifecycle:
    """One broker process, from its start to its shutdown. It never goes back to INITIAL."""

    def __init__(self) -> None:
        self.state = BrokerState.INITIAL
        self.epoch = NO_EPOCH
        self.loss: Loss | None = Loss.NEVER_HELD
        self._lease_ends_at = 0.0
        self.stopping = False
        self._in_flight: Heartbeat | None = None
        self._sent = 0

    def serving(self, now: float) -> bool:
        """Whether a client's request may be processed at `now` (KIP-631, Fencing).

        Compares with the end of the lease each time: a process that slept through it is fenced the moment it wakes,
        before any of its timers has run.
        """
        return self.state is BrokerState.ACTIVE and now < self._lease_ends_at

    @property
    def lease_ends_at(self) -> float | None:
        """When the lease ends unless it is renewed; None without a lease."""
        return None if self.loss is not None else self._lease_ends_at

    def stop(self) -> None:
        """Ask for a controlled shutdown with the next heartbeat."""
        self.stopping = True

    @property
    def stopped(self) -> bool:
        """Whether nothing is left to ask for: shutdown was granted, or a stopping process has no id to give back."""
        without_id = self.epoch == NO_EPOCH or self.loss is Loss.ANOTHER_PROCESS
        return self.state is BrokerState.SHUTDOWN or (self.stopping and without_id)

    def tick(self, now: float) -> None:
        """Notice that the lease is over."""
        if self.loss is None and now >= self._lease_ends_at:
            self._lose(Loss.RAN_OUT)

    def next_heartbeat(self, now: float) -> Heartbeat:
        """The heartbeat to send at `now`. One that is still in flight is given up: its answer will be ignored.

        What was answered to an older request must not be applied after a newer one was sent. The newer one carries
        another epoch or another wish, and its answer tells what became of the older one.
        """
        self.tick(now)
        self._sent += 1
        self._in_flight = Heartbeat(self._sent, self._wish(), self.epoch, now)
        return self._in_flight

    def waits_for(self, heartbeat: Heartbeat) -> bool:
        """Whether the answer to `heartbeat` still counts."""
        return self._in_flight is not None and heartbeat.number == self._in_flight.number

    def answered(self, heartbeat: Heartbeat, answer: Answer, now: float) -> None:
        """Take in the answer to `heartbeat`, which arrived at `now`."""
        self.tick(now)
        if not self.waits_for(heartbeat):
            return
        self._in_flight = None
        if answer.error is Error.STALE_BROKER_EPOCH:
            self._lose(Loss.ANOTHER_PROCESS)
        elif answer.error is Error.NONE:
            self._adopt(heartbeat, answer, now)

    def gave_up(self, heartbeat: Heartbeat) -> None:
        """No answer will be waited for any more."""
        if self.waits_for(heartbeat):
            self._in_flight = None

    def _wish(self) -> BrokerState:
        if self.epoch == NO_EPOCH:
            return BrokerState.INITIAL
        if self.stopping:
            return BrokerState.SHUTDOWN
        return BrokerState.ACTIVE if self.loss is None else BrokerState.FENCED

    def _adopt(self, heartbeat: Heartbeat, answer: Answer, now: float) -> None:
        if answer.next_state is BrokerState.SHUTDOWN:
            self.state = BrokerState.SHUTDOWN
            self.loss = Loss.REVOKED
            return
        if answer.lease <= 0:
            self._lose(Loss.REVOKED)
            return
        if self.loss is not None and answer.broker_epoch == self.epoch:
            return  # renewed too late: what was lost comes back with a new epoch only (KIP-631, the diagram)
        self.epoch = answer.broker_epoch
        self.loss = None
        self._lease_ends_at = heartbeat.sent_at + answer.lease
        self.state = BrokerState.ACTIVE if answer.next_state is BrokerState.ACTIVE else BrokerState.FENCED
        self.tick(now)

    def _lose(self, loss: Loss) -> None:
        self.loss = loss
        if self.state is not BrokerState.INITIAL:
            self.state = BrokerState.FENCED
