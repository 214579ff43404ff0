"""The leases on broker ids, as the active controller counts them.

All of it is soft state: nothing here is in the metadata log, and a new active controller starts afresh. Times are
seconds on a monotonic clock and are passed in. A lease is counted from the moment at which the heartbeat was *received*
(decision: lease arithmetic); the broker counts it from the moment it *sent* it, and so always stops first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Standing(Enum):
    """What the active controller knows of a broker that holds its id.

    GRANTED: it has an epoch, and was not yet told to become active. ASSUMED: registered under an earlier active
    controller, and taken for active until it says otherwise. STOPPING: it asked for a controlled shutdown.
    """

    GRANTED = "granted"
    ASSUMED = "assumed"
    ACTIVE = "active"
    STOPPING = "stopping"


@dataclass(slots=True)
class Lease:
    """`goal` is a metadata offset that the broker is expected to reach; `goal_set_at` is when it was set."""

    ends_at: float
    standing: Standing
    goal: int
    goal_set_at: float


class Leases:
    """Who holds a lease, until when, and whether it may lead."""

    def __init__(self, duration: float) -> None:
        self.duration = duration
        self._leases: dict[int, Lease] = {}

    def assume(self, broker_ids: Iterable[int], stable_offset: int, now: float) -> None:
        """Begin as a new active controller: everybody registered gets one full lease.

        Decision: a new active controller fences nobody until one full lease has passed since its election, since it
        cannot know what its predecessor renewed last.
        """
        self._leases = {
            broker_id: Lease(now + self.duration, Standing.ASSUMED, stable_offset, now) for broker_id in broker_ids
        }

    def grant(self, broker_id: int, epoch: int, now: float) -> None:
        """Begin a lease. Its first goal is the broker's own record, whose offset is its epoch."""
        self._leases[broker_id] = Lease(now + self.duration, Standing.GRANTED, epoch, now)

    def renew(self, broker_id: int, received_at: float) -> None:
        self._leases[broker_id].ends_at = received_at + self.duration

    def end(self, broker_id: int) -> None:
        self._leases.pop(broker_id, None)

    def stand(self, broker_id: int, standing: Standing) -> None:
        self._leases[broker_id].standing = standing

    def standing(self, broker_id: int) -> Standing | None:
        lease = self._leases.get(broker_id)
        return None if lease is None else lease.standing

    def may_lead(self, broker_id: int, now: float) -> bool:
        """Whether it may become a leader or join an ISR: active, not on its way out, its lease not over."""
        lease = self._leases.get(broker_id)
        return lease is not None and now < lease.ends_at and lease.standing in (Standing.ACTIVE, Standing.ASSUMED)

    def is_active(self, broker_id: int, now: float) -> bool:
        """Whether it may lead, and was told so by this controller."""
        return self.standing(broker_id) is Standing.ACTIVE and self.may_lead(broker_id, now)

    def keeps_up(self, broker_id: int, reached: int, stable_offset: int, now: float) -> bool:
        """Note the metadata offset that a broker reached; False if what it holds is stale.

        Decision: stale is behind the broker's own Broker record, or behind the last stable offset for longer than a
        lease. The second is measured with a goal: an offset that was stable when the goal was set must be reached
        within a lease. Comparing with the present offset would never find a broker caught up while the log is busy.
        """
        lease = self._leases[broker_id]
        if reached >= lease.goal:
            lease.goal, lease.goal_set_at = stable_offset, now
            return True
        return lease.standing is not Standing.GRANTED and now - lease.goal_set_at <= self.duration

    def over(self, now: float) -> list[int]:
        """The ids whose lease has ended, in the order in which they ended."""
        ended = [(lease.ends_at, broker_id) for broker_id, lease in self._leases.items() if lease.ends_at <= now]
        return [broker_id for _, broker_id in sorted(ended)]

    def next_end(self) -> float | None:
        return min((lease.ends_at for lease in self._leases.values()), default=None)
