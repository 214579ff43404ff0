"""Controllers that ask no sender for the permission ClusterAction (against K631-10)."""

from __future__ import annotations

from fencepost.cluster_impl.security import cluster_action


def apply() -> None:
    vars(cluster_action)["denial"] = lambda *_, **__: None
