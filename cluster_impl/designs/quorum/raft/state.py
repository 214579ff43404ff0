"""The role of a voter, and the part of its state that outlives a crash."""

from dataclasses import dataclass
from enum import Enum


class VoterRole(Enum):
    """KIP-595 with the prospective state of KIP-996. A voter that voted for another or has resigned is UNATTACHED."""

    UNATTACHED = "unattached"
    PROSPECTIVE = "prospective"
    CANDIDATE = "candidate"
    LEADER = "leader"
    FOLLOWER = "follower"


@dataclass(frozen=True, slots=True)
class QuorumState:
    """The newest known epoch, the candidate that got this voter's vote in it, and its leader; None if there is none."""

    epoch: int = 0
    voted_id: int | None = None
    leader_id: int | None = None
