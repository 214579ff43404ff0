"""Where documents disagree on how a replica truncates, what a new leader takes for committed, and who lags.

The data plane knows both readings of each; a design chooses.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class TruncatesTo(Enum):
    """Where a replica cuts its log when it begins to follow."""

    LEADER_EPOCH = auto()
    """To what it shares with the leader's log, which it asks the leader for (KIP-101, KIP-279)."""
    HIGH_WATERMARK = auto()
    """To the high watermark that it knows itself; the leader is not asked (replication design V2, becomeFollower)."""


class LeaderStartsAt(Enum):
    """The high watermark at the begin of a tenure."""

    IN_SYNC = auto()
    """The one that the leader knew as a follower; it rises once the in-sync replicas have fetched."""
    LOG_END = auto()
    """The end of its log (replication design V2, becomeLeader, whose TODO asks whether that is right)."""


class LagSince(Enum):
    """From when on a follower counts as late."""

    LAST_CAUGHT_UP = auto()
    """The last moment at which it had all that the leader had (KIP-16)."""
    FIRST_LACKING = auto()
    """The moment at which the first record that it lacks was written: one wait for each record that is to be committed
    (replication design V2, commit thread)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Defaults are those of KIP-16 and KIP-101."""

    truncates_to: TruncatesTo = TruncatesTo.LEADER_EPOCH
    leader_starts_at: LeaderStartsAt = LeaderStartsAt.IN_SYNC
    lag_since: LagSince = LagSince.LAST_CAUGHT_UP


KIP_101: Final = Rules()

REPLICATION_V2: Final = Rules(
    truncates_to=TruncatesTo.HIGH_WATERMARK,
    leader_starts_at=LeaderStartsAt.LOG_END,
    lag_since=LagSince.FIRST_LACKING,
)
"""All three as the replication design V2 has them."""
