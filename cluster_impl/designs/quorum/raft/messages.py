"""The messages between voters (KIP-595, `Vote` to `Fetch`; KIP-630, `FetchSnapshot`), as values without a
wire format.

Every response carries the responder's epoch and the leader that it knows (None: none), so each exchange spreads the
news of an election. An `epoch` in a request is the sender's own.
"""

from dataclasses import dataclass, field

from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from fencepost.cluster_impl.wire.errors import Error

OBSERVER = -1
"""The replica id of a fetcher without a vote."""

UNKNOWN_EPOCH = -1
"""The epoch in a fetch of an observer that knows none; it is not compared."""


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """An epoch and the offset at which it ends (exclusive) in a log."""

    epoch: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class RaftBatch:
    """Records that were appended together and are stored, fetched and truncated as one.

    `voters` is the set of voters in it; a batch with one has no other record.
    """

    base_offset: int
    next_offset: int
    epoch: int
    data: bytes | memoryview = field(repr=False)
    voters: VoterSet | None = None


@dataclass(frozen=True, slots=True)
class VoteRequest:
    """Request a vote in `epoch`; with `pre_vote`, ask whether it would be granted in the next epoch (KIP-996)."""

    cluster_id: str | None
    epoch: int
    candidate_id: int
    log_end: EpochEnd
    pre_vote: bool


@dataclass(frozen=True, slots=True)
class VoteResponse:
    """The response to a vote or pre-vote."""

    error: Error
    epoch: int
    leader_id: int | None
    granted: bool = False


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochRequest:
    """The leader of `epoch` announces itself. `round` is the confirmation round; it stays with the sender."""

    cluster_id: str | None
    epoch: int
    leader_id: int
    round: int = 0


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochResponse:
    """The response to the announcement of a leader."""

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
    """The response to the resignation of a leader."""

    error: Error
    epoch: int
    leader_id: int | None


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """Request the log from `log_end.end_offset` on, which follows a record of `log_end.epoch`.

    From a voter it also states that all records below are durable there. `max_wait` is in seconds. A broker names
    itself in `broker_id` and is no replica, so that its id can never be taken for that of a voter.
    """

    cluster_id: str | None
    epoch: int
    replica_id: int
    log_end: EpochEnd
    max_wait: float
    broker_id: int | None = None


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """`diverging` is the end of the fetcher's last epoch in the leader's log; the fetcher truncates and fetches again.

    `snapshot` is named to a fetcher that is behind `log_start`: it fetches that snapshot first (KIP-630).
    """

    error: Error
    epoch: int
    leader_id: int | None
    high_watermark: int = -1
    diverging: EpochEnd | None = None
    batches: tuple[RaftBatch, ...] = ()
    snapshot: EpochEnd | None = None
    log_start: int = 0


@dataclass(frozen=True, slots=True)
class FetchSnapshotRequest:
    """Request the bytes of a snapshot from `position` on (KIP-630)."""

    cluster_id: str | None
    epoch: int
    replica_id: int
    snapshot: EpochEnd
    position: int


@dataclass(frozen=True, slots=True)
class FetchSnapshotResponse:
    """`size` is that of the whole snapshot, in bytes."""

    error: Error
    epoch: int
    leader_id: int | None
    snapshot: EpochEnd
    size: int = 0
    position: int = 0
    data: bytes | memoryview = field(default=b"", repr=False)


Request = VoteRequest | BeginQuorumEpochRequest | EndQuorumEpochRequest | FetchRequest | FetchSnapshotRequest
Response = VoteResponse | BeginQuorumEpochResponse | EndQuorumEpochResponse | FetchResponse | FetchSnapshotResponse
