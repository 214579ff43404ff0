"""A broker that goes on asking the controller that it believes in, though that one does not answer (KIP-631, Nodes)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder


def apply() -> None:
    honest = ControllerFinder.failed

    def faithful(self: ControllerFinder, controller_id: int) -> None:
        if self._believed is None:
            honest(self, controller_id)

    ControllerFinder.failed = faithful  # type: ignore[method-assign]
