"""A controller that writes records above the level of metadata.format (against K631-21)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import acls


def apply() -> None:
    vars(acls)["ACCESS_CONTROL"] = 1
