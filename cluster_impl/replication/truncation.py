"""Where a follower cuts its log so that it is a prefix of its leader's (KIP-101, KIP-279)."""

from __future__ import annotations

from dataclasses import dataclass

from cluster_impl.storage.epochs import LeaderEpochCache


@dataclass(frozen=True, slots=True)
class TruncationPoint:
    """Cut to `offset`; unless `complete`, ask again with the epoch that is the latest then."""

    offset: int
    complete: bool


def truncation_point(
    leader_epoch: int, leader_end: int, local: LeaderEpochCache, log_end_offset: int
) -> TruncationPoint:
    """The cut after a leader said that its greatest epoch <= ours is `leader_epoch`, which ends at `leader_end`.

    A follower that lacks the epoch of the answer shares nothing above the end of its greatest smaller epoch, and cannot
    know from this answer how much below: one question rules out one epoch, so it has to ask again (KIP-279).
    """
    local_epoch, local_end = local.end_offset_for(leader_epoch)
    if local_epoch != leader_epoch:
        return TruncationPoint(min(local_end, log_end_offset), complete=False)
    return TruncationPoint(min(local_end, leader_end, log_end_offset), complete=True)
