"""A controller that elects any live replica when no in-sync one is left (KIP-966; against D631-07)."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.designs.quorum.controller import elections
from fencepost.cluster_impl.designs.quorum.image import NO_LEADER, PartitionRegistration


def apply() -> None:
    honest = elections._successor

    def any_of_them(partition: PartitionRegistration, eligible: Collection[int]) -> int:
        found = honest(partition, eligible)
        if found != NO_LEADER:
            return found
        others = (each for each in partition.replicas if each in eligible and each != partition.leader)
        return next(others, NO_LEADER)

    elections._successor = any_of_them
