"""The controller that a broker believes to be active, and the addresses of those that it may ask.

All parts of the broker that talk to the active controller share one belief (heartbeats, ISR changes, forwarding), so
each learns from the others. The belief may be wrong; a controller that is not active answers NOT_CONTROLLER.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from fencepost.cluster_impl.config.values import Voter

log = logging.getLogger(__name__)

NO_CONTROLLER = -1


class ControllerFinder:
    """Keeps the controller that was reported active last; without one, tries all known controllers in turn.

    The voters that the quorum named last are tried before the configured addresses, which stay as the last resort
    (KIP-631, Nodes: one of them that is valid is enough). The turn continues where it stopped, so a controller that
    keeps naming a dead one does not hide the others.
    """

    def __init__(self, configured: Sequence[Voter]) -> None:
        self._configured = tuple(configured)
        self._voters = {voter.id: voter for voter in configured}
        self._ring = self._configured
        self._next = 0
        self._believed: int | None = None
        self.watchers: list[Callable[[Voter], None]] = []
        """Called with each controller that newly counts as active."""

    @property
    def believed(self) -> int:
        """Return the id of the controller that counts as active; -1 if none does, or its id is not known."""
        return NO_CONTROLLER if self._believed is None or self._believed < 0 else self._believed

    def candidate(self) -> Voter:
        """Return the controller to send the next request to."""
        return self._ring[self._next] if self._believed is None else self._voters[self._believed]

    def voters_named(self, addresses: Mapping[int, tuple[str, int]]) -> None:
        """Take the voters that a controller named, by id with host and port, in place of those named before."""
        named = tuple(Voter(node_id, *addresses[node_id]) for node_id in sorted(addresses))
        reachable = {(voter.host, voter.port) for voter in named}
        ring = (*named, *(address for address in self._configured if (address.host, address.port) not in reachable))
        if not named or ring == self._ring:
            return
        log.info("the voters of the metadata quorum: %s", ", ".join(f"{v.id}@{v.host}:{v.port}" for v in named))
        asked_next = self._ring[self._next]
        self._ring = ring
        self._next = ring.index(asked_next) if asked_next in ring else 0
        self._voters = {voter.id: voter for voter in (*self._configured, *named)}

    def learned(self, controller_id: int) -> None:
        """Note that a controller reported this one to be active. Ids without an address are ignored."""
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
