"""The effects that the core decides on. The edge performs them in the given order, each before the next begins.

Safety depends on that order: a vote is on disk (`Persist`) before it is sent, and a batch is appended before any
message reports it. Only `Flush` and `Send` end later, and are answered by an input (`flushed`; `answered` or `failed`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fencepost.cluster_impl.designs.quorum.raft.messages import (
    EpochEnd,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    RaftBatch,
    Request,
    Response,
)
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet


@dataclass(frozen=True, slots=True)
class Persist:
    """Write the vote and the epoch, and fsync, before the next effect."""

    state: QuorumState


@dataclass(frozen=True, slots=True)
class Append:
    """Append fetched batches as they are."""

    batches: tuple[RaftBatch, ...]


@dataclass(frozen=True, slots=True)
class AppendRecords:
    """Append the leader's own records as one batch of `epoch` at `base_offset`."""

    base_offset: int
    epoch: int
    records: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class AppendLeaderChange:
    """Append the control batch that opens an epoch: one record at `base_offset`."""

    base_offset: int
    epoch: int
    leader_id: int
    voters: tuple[int, ...]
    granted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AppendVoters:
    """Append the control batch of a new set of voters: one record at `base_offset`."""

    base_offset: int
    epoch: int
    voters: VoterSet


@dataclass(frozen=True, slots=True)
class VotersChange:
    """This set of voters holds from now on."""

    voters: VoterSet


@dataclass(frozen=True, slots=True)
class Truncate:
    """Remove everything from `end_offset` on."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class Flush:
    """Start to make the log durable up to `end_offset`, then call `flushed` on the core. Never two at a time."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class Send:
    """Send to a peer, then call `answered` or `failed` on the core once, with the same correlation."""

    peer: int
    correlation: int
    request: Request


@dataclass(frozen=True, slots=True)
class Notify:
    """Send to a peer; no response is awaited."""

    peer: int
    request: Request


@dataclass(frozen=True, slots=True)
class Reply:
    """Send the response to the request that was received under `token`."""

    token: object
    response: Response


@dataclass(frozen=True, slots=True)
class ReplyWithRecords:
    """Answer a fetch with `response` and the log from `start` on, below `limit`."""

    token: object
    response: FetchResponse
    start: EpochEnd
    limit: int


@dataclass(frozen=True, slots=True)
class ReplyWithSnapshot:
    """Answer `request` with `response` and the bytes of the snapshot, or with an error if it cannot be read there."""

    token: object
    request: FetchSnapshotRequest
    response: FetchSnapshotResponse


@dataclass(frozen=True, slots=True)
class StoreSnapshotPart:
    """Keep a part of a snapshot that is being fetched. The part at position 0 begins it anew."""

    snapshot: EpochEnd
    position: int
    data: bytes | memoryview = field(repr=False)


@dataclass(frozen=True, slots=True)
class InstallSnapshot:
    """Verify the fetched snapshot, make it durable, and begin the log anew behind it.

    Then call `snapshot_installed` on the core, or `snapshot_refused`, before any other input.
    """

    snapshot: EpochEnd


@dataclass(frozen=True, slots=True)
class CutLog:
    """Remove the log before the first of `snapshots`, and all earlier snapshots. No flush runs meanwhile."""

    snapshots: tuple[EpochEnd, ...]


@dataclass(frozen=True, slots=True)
class HighWatermarkAdvance:
    """All records below `high_watermark` are committed."""

    high_watermark: int


@dataclass(frozen=True, slots=True)
class LeaderElection:
    """This node leads `epoch`, and its first batch of it is committed."""

    epoch: int


@dataclass(frozen=True, slots=True)
class LeaderResignation:
    """This node no longer leads `epoch`. Pending commits and confirmations of it fail."""

    epoch: int


@dataclass(frozen=True, slots=True)
class LeaderChange:
    """The leader of `epoch` as this node knows it; None for no known leader."""

    leader_id: int | None
    epoch: int


@dataclass(frozen=True, slots=True)
class LeadershipConfirmation:
    """A majority accepted the epoch in a round that began after `confirm` was called with these tokens."""

    tokens: tuple[object, ...]


Effect = (
    Persist
    | Append
    | AppendRecords
    | AppendLeaderChange
    | AppendVoters
    | VotersChange
    | Truncate
    | Flush
    | Send
    | Notify
    | Reply
    | ReplyWithRecords
    | ReplyWithSnapshot
    | StoreSnapshotPart
    | InstallSnapshot
    | CutLog
    | HighWatermarkAdvance
    | LeaderElection
    | LeaderResignation
    | LeaderChange
    | LeadershipConfirmation
)
