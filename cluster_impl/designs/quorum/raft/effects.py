"""What the core decided. The edge performs effects in the order in which they were given, each before the next begins.

That order carries safety: a vote is on disk (`Persist`) before it is sent, and a batch is appended before anything says
so. Only `Flush` and `Send` end later: they are answered by an input (`flushed`; `answered` or `failed`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cluster_impl.designs.quorum.raft.messages import Batch, EpochEnd, FetchResponse, Request, Response
from cluster_impl.designs.quorum.raft.state import QuorumState


@dataclass(frozen=True, slots=True)
class Persist:
    """Write the vote and the epoch, and fsync, before anything that follows."""

    state: QuorumState


@dataclass(frozen=True, slots=True)
class Append:
    """Append fetched batches as they are."""

    batches: tuple[Batch, ...]


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
class Truncate:
    """Remove everything from `end_offset` on."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class Flush:
    """Begin to make the log durable up to `end_offset`, then tell the core `flushed`. Never two at a time."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class Send:
    """Send to a peer, then tell the core `answered` or `failed` with the same correlation, once."""

    peer: int
    correlation: int
    request: Request


@dataclass(frozen=True, slots=True)
class Notify:
    """Send to a peer; no answer is awaited."""

    peer: int
    request: Request


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer the request that was received under `token`."""

    token: object
    response: Response


@dataclass(frozen=True, slots=True)
class ReplyWithRecords:
    """Answer a fetch with `response` and the log from `start` on, nothing at or above `limit`."""

    token: object
    response: FetchResponse
    start: EpochEnd
    limit: int


@dataclass(frozen=True, slots=True)
class Committed:
    """Everything below `high_watermark` is committed."""

    high_watermark: int


@dataclass(frozen=True, slots=True)
class Elected:
    """This node leads `epoch`, and its first batch of it is committed."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Resigned:
    """This node no longer leads `epoch`. Whatever waits for a commit or a confirmation of it waits in vain."""

    epoch: int


@dataclass(frozen=True, slots=True)
class LeaderChanged:
    """The leader of `epoch` as this node knows it (None: none)."""

    leader_id: int | None
    epoch: int


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A majority accepted this leader's epoch in a round that began after `confirm` was called with these tokens."""

    tokens: tuple[object, ...]


Effect = (
    Persist
    | Append
    | AppendRecords
    | AppendLeaderChange
    | Truncate
    | Flush
    | Send
    | Notify
    | Reply
    | ReplyWithRecords
    | Committed
    | Elected
    | Resigned
    | LeaderChanged
    | Confirmed
)
