"""The controller that a broker believes to be active.

All parts of the broker that talk to the active controller share one belief (heartbeats, ISR changes, forwarding), so
each learns from the others. The belief may be wrong; a controller that is not active answers NOT_CONTROLLER.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fencepost.cluster_impl.config.values import Voter

NO_CONTROLLER = -1


class ControllerFinder:
    """Keeps the controller that was reported active last; without one, tries the configured controllers in turn.

    The turn continues where it stopped, so a controller that keeps naming a dead one does not hide the others.
    """

    def __init__(self, voters: Sequence[Voter]) -> None:
        self._voters = {voter.id: voter for voter in voters}
        self._ring = tuple(voters)
        self._next = 0
        self._believed: int | None = None
        self.watchers: list[Callable[[Voter], None]] = []
        """Called with each controller that newly counts as active."""

    @property
    def believed(self) -> int:
        """Return the id of the controller that counts as active; -1 if none does."""
        return NO_CONTROLLER if self._believed is None else self._believed

    def candidate(self) -> Voter:
        """Return the controller to send the next request to."""
        return self._ring[self._next] if self._believed is None else self._voters[self._believed]

    def learned(self, controller_id: int) -> None:
        """Note that a controller reported this one to be active. Ids that are not configured are ignored."""
        if controller_id in self._voters and controller_id != self._believed:
            self._believed = controller_id
            for watcher in self.watchers:
                watcher(self._voters[controller_id])

    def failed(self, controller_id: int) -> None:
        """Note that the controller did not answer or is not active: try the next one."""
        if self._believed == controller_id:
            self._believed = None
        if self._ring[self._next].id == controller_id:
            self._next = (self._next + 1) % len(self._ring)
