"""Which controller makes a snapshot, and when (KIP-631, Snapshot Implementation).

The active controller knows the newest snapshot of every controller from its heartbeats. All of it is soft state:
nothing is in the metadata log, and a new active controller starts afresh.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class _Run:
    """A controller that was notified to make a snapshot; its newest one ended at `before` then."""

    controller_id: int
    before: int
    heard_at: float


class SnapshotSchedule:
    """At most one controller at a time is notified to start a snapshot.

    It is notified in each answer until it reports a newer one, because an answer may be lost. A controller that was
    notified and then is silent for `timeout` seconds counts as gone. The predecessor of this active controller may have
    notified one as well, so it waits as long before it notifies the first.
    """

    def __init__(self, max_lag: int, timeout: float, now: float) -> None:
        """`max_lag`: the number of committed records behind a snapshot at which the next one is due."""
        self._max_lag = max_lag
        self._timeout = timeout
        self._first_at = now + timeout
        self._run: _Run | None = None
        self.offsets: dict[int, int] = {}
        """The end of the newest snapshot of each controller, as it reported it last."""

    def heard(self, controller_id: int, snapshot_offset: int, stable_end: int, now: float) -> bool:
        """Note a controller's newest snapshot; return True if it is to make one. `stable_end`: of the committed log."""
        self.offsets[controller_id] = snapshot_offset
        run = self._run
        if run is not None and run.controller_id == controller_id:
            run.heard_at = now
            if snapshot_offset <= run.before:
                return True
            self._run = None
        elif run is not None and now - run.heard_at > self._timeout:
            self._run = None
        if self._run is not None or now < self._first_at or stable_end - snapshot_offset < self._max_lag:
            return False
        self._run = _Run(controller_id, snapshot_offset, now)
        return True
