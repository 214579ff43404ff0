"""What voters say to each other (KIP-595, `Vote` to `Fetch`), as values free of any wire format.

Every response carries the responder's epoch and the leader that it knows of (None: none), so that each exchange spreads
the news of an election. An `epoch` of a request is the sender's own.
"""

from dataclasses import dataclass, field

from cluster_impl.wire.errors import Error

OBSERVER = -1
"""Replica id of a fetcher without a vote."""

UNKNOWN_EPOCH = -1
"""Epoch of an observer's fetch that does not know one: not compared."""


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """An epoch and the offset at which it ends (exclusive) in somebody's log."""

    epoch: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that were appended together: they are stored, fetched and truncated as one."""

    base_offset: int
    next_offset: int
    epoch: int
    data: bytes | memoryview = field(repr=False)


@dataclass(frozen=True, slots=True)
class VoteRequest:
    """Ask for a vote in `epoch`; or, with `pre_vote`, whether one would be given in the next epoch (KIP-996)."""

    cluster_id: str | None
    epoch: int
    candidate_id: int
    log_end: EpochEnd
    pre_vote: bool


@dataclass(frozen=True, slots=True)
class VoteResponse:
    error: Error
    epoch: int
    leader_id: int | None
    granted: bool = False


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochRequest:
    """The leader of `epoch` makes itself known. `round` stays with the sender: which confirmation this answers."""

    cluster_id: str | None
    epoch: int
    leader_id: int
    round: int = 0


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochResponse:
    error: Error
    epoch: int
    leader_id: int | None


@dataclass(frozen=True, slots=True)
class EndQuorumEpochRequest:
    """The leader of `epoch` resigns; `successors` are the other voters, the one with the longest log first."""

    cluster_id: str | None
    epoch: int
    leader_id: int
    successors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EndQuorumEpochResponse:
    error: Error
    epoch: int
    leader_id: int | None


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """Ask for the log from `log_end.end_offset` on, which follows a record of `log_end.epoch`.

    From a voter it also says: everything below is durable here. `max_wait` in seconds.
    """

    cluster_id: str | None
    epoch: int
    replica_id: int
    log_end: EpochEnd
    max_wait: float


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """`diverging`: where the fetcher's last epoch ends in the leader's log; the fetcher truncates and asks again."""

    error: Error
    epoch: int
    leader_id: int | None
    high_watermark: int = -1
    diverging: EpochEnd | None = None
    batches: tuple[Batch, ...] = ()


Request = VoteRequest | BeginQuorumEpochRequest | EndQuorumEpochRequest | FetchRequest
Response = VoteResponse | BeginQuorumEpochResponse | EndQuorumEpochResponse | FetchResponse
