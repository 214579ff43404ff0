"""The state machine of one broker process, without I/O (KIP-631, The Broker State Machine).

    INITIAL ---granted---> FENCED <---lease over, revoked, or lost to another process---+
                             |                                                          |
                             +---caught up, answer ACTIVE-> ACTIVE ---------------------+
    FENCED, ACTIVE ---controlled shutdown granted---> SHUTDOWN

The caller passes the time (seconds, monotonic) and the responses; the machine returns the next heartbeat and whether a
client's request may be processed. The lease is `LeaseEnd - LeaseStart`, counted from the moment at which the heartbeat
was *sent* (decision: lease arithmetic), so it ends here before the controller gives the id away.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.quorum.image import NO_EPOCH
from fencepost.cluster_impl.designs.shared.heartbeats import PendingHeartbeat
from fencepost.cluster_impl.wire.errors import Error


@dataclass(frozen=True, slots=True)
class LeaseHeartbeat:
    """A heartbeat to send: the target state and the epoch held. `number` tells heartbeats apart."""

    number: int
    target_state: FenceState
    broker_epoch: int
    sent_at: float


@dataclass(frozen=True, slots=True)
class HeartbeatAnswer:
    """The active controller's response. `lease` is in seconds from the sending; 0 means no lease."""

    error: Error
    next_state: FenceState
    broker_epoch: int
    lease: float


class LeaseLoss(Enum):
    """The reason why a broker has no lease."""

    NEVER_HELD = "no lease was granted yet"
    RAN_OUT = "its lease ran out"
    REVOKED = "the controller revoked its lease"
    ANOTHER_PROCESS = "another process holds its broker id"


class LeaseLifecycle:
    """One broker process, from its start to its shutdown. It never returns to INITIAL."""

    def __init__(self) -> None:
        self.state = FenceState.INITIAL
        self.epoch = NO_EPOCH
        self.loss: LeaseLoss | None = LeaseLoss.NEVER_HELD
        self._lease_ends_at = 0.0
        self.stopping = False
        self._pending = PendingHeartbeat()

    def serving(self, now: float) -> bool:
        """Return True if a client's request may be processed at `now` (KIP-631, Fencing).

        Compares with the end of the lease at each call, so a process that slept through its lease is fenced as soon as
        it wakes, before any of its timers runs.
        """
        return self.state is FenceState.ACTIVE and now < self._lease_ends_at

    @property
    def fences_at(self) -> float | None:
        """The time at which the lease ends unless it is renewed; None without a lease."""
        return None if self.loss is not None else self._lease_ends_at

    def stop(self) -> None:
        """Ask for a controlled shutdown with the next heartbeat."""
        self.stopping = True

    @property
    def stopped(self) -> bool:
        """True if shutdown was granted, or if a stopping process has no id to give back."""
        without_id = self.epoch == NO_EPOCH or self.loss is LeaseLoss.ANOTHER_PROCESS
        return self.state is FenceState.SHUTDOWN or (self.stopping and without_id)

    def tick(self, now: float) -> None:
        """End the lease if its time is over."""
        if self.loss is None and now >= self._lease_ends_at:
            self._lose(LeaseLoss.RAN_OUT)

    def next_heartbeat(self, now: float) -> LeaseHeartbeat:
        """Return the heartbeat to send at `now`. The response to an earlier one counts no longer."""
        self.tick(now)
        return LeaseHeartbeat(self._pending.next(), self._target_state(), self.epoch, now)

    def waits_for(self, heartbeat: LeaseHeartbeat) -> bool:
        """Return True if the response to `heartbeat` still counts."""
        return self._pending.is_pending(heartbeat.number)

    def answered(self, heartbeat: LeaseHeartbeat, answer: HeartbeatAnswer, now: float) -> None:
        """Apply the response to `heartbeat`, which arrived at `now`."""
        self.tick(now)
        if not self.waits_for(heartbeat):
            return
        self._pending.clear()
        if answer.error is Error.STALE_BROKER_EPOCH:
            self._lose(LeaseLoss.ANOTHER_PROCESS)
        elif answer.error is Error.NONE:
            self._adopt(heartbeat, answer, now)

    def gave_up(self, heartbeat: LeaseHeartbeat) -> None:
        """Ignore the response to `heartbeat` from now on."""
        self._pending.give_up(heartbeat.number)

    def _target_state(self) -> FenceState:
        if self.epoch == NO_EPOCH:
            return FenceState.INITIAL
        if self.stopping:
            return FenceState.SHUTDOWN
        return FenceState.ACTIVE if self.loss is None else FenceState.FENCED

    def _adopt(self, heartbeat: LeaseHeartbeat, answer: HeartbeatAnswer, now: float) -> None:
        if answer.next_state is FenceState.SHUTDOWN:
            self.state = FenceState.SHUTDOWN
            self.loss = LeaseLoss.REVOKED
            return
        if answer.lease <= 0:
            self._lose(LeaseLoss.REVOKED)
            return
        if self.loss is not None and answer.broker_epoch == self.epoch:
            return  # too late: a lost lease comes back only with a new epoch (KIP-631, The Broker State Machine)
        self.epoch = answer.broker_epoch
        self.loss = None
        self._lease_ends_at = heartbeat.sent_at + answer.lease
        self.state = FenceState.ACTIVE if answer.next_state is FenceState.ACTIVE else FenceState.FENCED
        self.tick(now)

    def _lose(self, loss: LeaseLoss) -> None:
        self.loss = loss
        if self.state is not FenceState.INITIAL:
            self.state = FenceState.FENCED
