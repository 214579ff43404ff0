"""The role of a voter, and the part of its state that outlives a crash."""

from dataclasses import dataclass
from enum import Enum


class Role(Enum):
    """KIP-595 with the prospective state of KIP-996. Who voted for another, or has resigned, is unattached as well."""

    UNATTACHED = "unattached"
    PROSPECTIVE = "prospective"
    CANDIDATE = "candidate"
    LEADER = "leader"
    FOLLOWER = "follower"


@dataclass(frozen=True, slots=True)
class QuorumState:
    """The newest epoch seen, whom this voter gave its one vote of it, and who leads it (None: nobody, unknown)."""

    epoch: int = 0
    voted_id: int | None = None
    leader_id: int | None = None
