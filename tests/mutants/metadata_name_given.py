"""A controller that lets a user create a topic by a name of the metadata topic (against ADM-02)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft import metadata_topic


def apply() -> None:
    vars(metadata_topic)["NAMES"] = ()
