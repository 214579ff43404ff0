"""The leases on broker ids, as the active controller counts them.

All of it is soft state: nothing is in the metadata log, and a new active controller starts afresh. Times are seconds on
a monotonic clock, passed in. A lease is counted from the moment at which the heartbeat was *received* (decision: lease
arithmetic). The broker counts from the moment of *sending*, and so always stops first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class LeaseState(Enum):
    """The controller's knowledge of a broker that holds its id.

    GRANTED: it has an epoch and has not been answered ACTIVE yet. ASSUMED: it was registered under an earlier active
    controller and counts as active until it reports otherwise. STOPPING: it asked for a controlled shutdown.
    """

    GRANTED = "granted"
    ASSUMED = "assumed"
    ACTIVE = "active"
    STOPPING = "stopping"


@dataclass(slots=True)
class Lease:
    """`goal` is a metadata offset that the broker is expected to reach; `goal_set_at` is when it was set."""

    ends_at: float
    state: LeaseState
    goal: int
    goal_set_at: float


class Leases:
    """All leases; `duration` in seconds."""

    def __init__(self, duration: float) -> None:
        self.duration = duration
        self._leases: dict[int, Lease] = {}

    def assume(self, broker_ids: Iterable[int], stable_offset: int, now: float) -> None:
        """Begin as a new active controller: every registered broker gets one full lease.

        Decision: a new active controller fences no broker within one full lease of its election, because it cannot know
        what its predecessor renewed last.
        """
        self._leases = {
            broker_id: Lease(now + self.duration, LeaseState.ASSUMED, stable_offset, now) for broker_id in broker_ids
        }

    def grant(self, broker_id: int, epoch: int, now: float) -> None:
        """Begin a lease. Its first goal is the broker's own record, whose offset is its epoch."""
        self._leases[broker_id] = Lease(now + self.duration, LeaseState.GRANTED, epoch, now)

    def renew(self, broker_id: int, received_at: float) -> None:
        """Extend the lease to one duration after `received_at`."""
        self._leases[broker_id].ends_at = received_at + self.duration

    def end(self, broker_id: int) -> None:
        """Remove the lease, if there is one."""
        self._leases.pop(broker_id, None)

    def set_state(self, broker_id: int, state: LeaseState) -> None:
        self._leases[broker_id].state = state

    def state_of(self, broker_id: int) -> LeaseState | None:
        """Return the state of the broker's lease, or None without one."""
        lease = self._leases.get(broker_id)
        return None if lease is None else lease.state

    def may_lead(self, broker_id: int, now: float) -> bool:
        """Return True if the broker may lead or join an ISR: active, not shutting down, its lease not over."""
        lease = self._leases.get(broker_id)
        return lease is not None and now < lease.ends_at and lease.state in (LeaseState.ACTIVE, LeaseState.ASSUMED)

    def eligible(self, now: float) -> frozenset[int]:
        """Return the brokers that may become a leader or join an ISR at `now`."""
        return frozenset(broker_id for broker_id in self._leases if self.may_lead(broker_id, now))

    def is_active(self, broker_id: int, now: float) -> bool:
        """Return True if the broker may lead and got ACTIVE from this controller."""
        return self.state_of(broker_id) is LeaseState.ACTIVE and self.may_lead(broker_id, now)

    def keeps_up(self, broker_id: int, reached: int, stable_offset: int, now: float) -> bool:
        """Note the metadata offset that a broker reached; return False if its metadata is stale.

        Decision: stale means behind the broker's own Broker record, or behind the last stable offset for longer than a
        lease. The second is measured with a goal: the offset that was stable when the goal was set must be reached
        within a lease. Comparing with the present offset would never find a broker caught up while the log is busy.
        """
        lease = self._leases[broker_id]
        if reached >= lease.goal:
            lease.goal, lease.goal_set_at = stable_offset, now
            return True
        return lease.state is not LeaseState.GRANTED and now - lease.goal_set_at <= self.duration

    def over(self, now: float) -> list[int]:
        """Return the ids whose lease has ended, in the order in which they ended."""
        ended = [(lease.ends_at, broker_id) for broker_id, lease in self._leases.items() if lease.ends_at <= now]
        return [broker_id for _, broker_id in sorted(ended)]

    def next_end(self) -> float | None:
        """Return the end of the first lease to end, or None without leases."""
        return min((lease.ends_at for lease in self._leases.values()), default=None)
