"""Which controller a broker believes to be active.

One belief is shared by all that talk to the active controller (heartbeats, ISR changes, forwarding): what one of them
finds out helps the others. It is only a belief: whoever is asked says NOT_CONTROLLER if it is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cluster_impl.config_values import Voter


class ControllerFinder:
    """Believes what it was told last; without a belief it goes round the configured controllers.

    The round goes on where it stopped, so a controller that keeps naming a dead one does not hide the others.
    """

    def __init__(self, voters: Sequence[Voter]) -> None:
        self._voters = {voter.id: voter for voter in voters}
        self._ring = tuple(voters)
        self._next = 0
        self._believed: int | None = None
        self.watchers: list[Callable[[Voter], None]] = []
        """Called with each controller that comes to be believed in place of another, or of none."""

    def candidate(self) -> Voter:
        """Whom to ask now."""
        return self._ring[self._next] if self._believed is None else self._voters[self._believed]

    def learned(self, controller_id: int) -> None:
        """Somebody who should know said that this one is active; ids that are not configured are ignored."""
        if controller_id in self._voters and controller_id != self._believed:
            self._believed = controller_id
            for watcher in self.watchers:
                watcher(self._voters[controller_id])

    def failed(self, controller_id: int) -> None:
        """It did not answer, or is not active: ask the next one."""
        if self._believed == controller_id:
            self._believed = None
        if self._ring[self._next].id == controller_id:
            self._next = (self._next + 1) % len(self._ring)
