"""How one replica of this broker stands, for a control plane that decides by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto


class Role(Enum):
    LEADER = auto()
    FOLLOWER = auto()
    OFFLINE = auto()
    """No replica can lead at present, or this one was stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a replica knows at this moment. Offsets are record offsets, times seconds.

    `isr` is the committed one, `leader_epoch` and `version` are those that it was committed at. `ends` says of each
    follower up to where it was seen to have the log in this tenure, UNKNOWN_OFFSET (-1) before its first credited
    fetch; `silent_for` how long ago its last credited fetch was, or else the begin of the tenure. Both are empty unless
    this replica leads.

    `began_empty`: its folder was made anew, and its log has not reached a high watermark that a leader told it, nor has
    it led. What an earlier process made is remembered where the configuration says so (`notes_empty_replicas`).
    """

    role: Role
    leader_epoch: int
    version: int
    log_end_offset: int
    high_watermark: int
    isr: tuple[int, ...]
    ends: Mapping[int, int]
    silent_for: Mapping[int, float]
    began_empty: bool
