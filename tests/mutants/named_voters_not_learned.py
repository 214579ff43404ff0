"""A broker that knows the controllers of its own file only, not the voters of now (against KIP-631, Nodes)."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder


def apply() -> None:
    ControllerFinder.voters_named = _ignore  # type: ignore[method-assign]


def _ignore(self: ControllerFinder, addresses: Mapping[int, tuple[str, int]]) -> None:
    """Learn no address."""
