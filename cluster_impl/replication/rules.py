"""The rules on which the documents disagree: truncation, the high watermark of a new leader, and lag.

The data plane implements both readings of each; a design chooses.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class TruncatesTo(Enum):
    """The offset to which a replica cuts its log when it begins to follow."""

    LEADER_EPOCH = auto()
    """The end of the part that it shares with the leader's log, which it asks the leader for (KIP-101, KIP-279)."""
    HIGH_WATERMARK = auto()
    """Its own high watermark; the leader is not asked (replication design V2, becomeFollower)."""


class LeaderStartsAt(Enum):
    """The high watermark at the begin of a leader term."""

    IN_SYNC = auto()
    """The high watermark that the leader knew as a follower; it rises once the in-sync replicas have fetched."""
    LOG_END = auto()
    """The end of its log (replication design V2, becomeLeader, whose TODO asks whether that is right)."""


class LagSince(Enum):
    """The time from which a follower counts as late."""

    LAST_CAUGHT_UP = auto()
    """The last moment at which it had all that the leader had (KIP-16)."""
    FIRST_MISSING = auto()
    """The time at which the first record that it misses was written: one wait for each record to be committed
    (replication design V2, commit thread)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Defaults are those of KIP-16 and KIP-101."""

    truncates_to: TruncatesTo = TruncatesTo.LEADER_EPOCH
    leader_starts_at: LeaderStartsAt = LeaderStartsAt.IN_SYNC
    lag_since: LagSince = LagSince.LAST_CAUGHT_UP
    notes_empty_replicas: bool = False
    """Record on disk that a replica began empty and has not caught up since, so that a restart knows it."""


KIP_101: Final = Rules()

REPLICATION_V2: Final = Rules(
    truncates_to=TruncatesTo.HIGH_WATERMARK,
    leader_starts_at=LeaderStartsAt.LOG_END,
    lag_since=LagSince.FIRST_MISSING,
    notes_empty_replicas=True,
)
"""All three as the replication design V2 has them."""
