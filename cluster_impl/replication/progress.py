"""The progress of one replica of this broker, on which a control plane bases decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto


class ReplicaRole(Enum):
    LEADER = auto()
    FOLLOWER = auto()
    OFFLINE = auto()
    """No replica can lead at present, or this one was stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The state of a replica at this moment. Offsets are record offsets, times seconds.

    `isr` was committed at `leader_epoch` and `version`. `ends` gives the end of each follower's log as of its last
    credited fetch in this leader term, UNKNOWN_OFFSET (-1) before the first. `silent_for` gives the time since that
    fetch, or else since the begin of the leader term. Both are empty unless this replica leads.

    `began_empty`: its folder was created empty, its log has not reached a high watermark that a leader sent, and it has
    not led. An earlier process's folder counts too where the rules say so (`Rules.notes_empty_replicas`).
    """

    role: ReplicaRole
    leader_epoch: int
    version: int
    log_end_offset: int
    high_watermark: int
    isr: tuple[int, ...]
    ends: Mapping[int, int]
    silent_for: Mapping[int, float]
    began_empty: bool
