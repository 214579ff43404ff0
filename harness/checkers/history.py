"""The sends and polls of the clients, joined from the journal's `op` events in one pass.

Shapes of the events' data (`f` tells them apart):

- send, invoke: process, topic, value, acks ("all", "1" or "0"), idempotent. ok: partition, offset. fail, info: error.
- poll, ok: process, records as [topic, partition, offset, value]; reset is true if the consumer got a new position
  (assignment, seek, rebalance) before it; final is true if it belongs to the final read.
- send, invoke, with transaction: the name of its transaction. poll with isolation: read_uncommitted.
- init-transactions, end-transaction: `Transactions`. commit-offsets, committed-offsets and others of groups: `Groups`.
- final, ok or info: partitions as [topic, partition, start, end], those that were read from start to end (exclusive).
  If there are several final reads, the last one counts. unstable as [topic, partition, last stable offset, end].
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

from fencepost.harness.checkers.control import ControlHistory, NewestViews, TopicPartition, read_control
from fencepost.harness.checkers.group_history import NO_GROUPS, Groups, read_groups
from fencepost.harness.checkers.transaction_history import NO_TRANSACTIONS, Transactions, read_transactions
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal


class SendOutcome(Enum):
    """The outcome of a send: it happened, it certainly did not happen, or it is unknown."""

    OK = "ok"
    FAIL = "fail"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Send:
    """One record given to a producer. Times are seconds since the run began; `completed` is None without an answer.

    A send without an answer is INFO: it may have happened.
    """

    id: str
    process: str
    topic: str
    value: str
    acks: str
    idempotent: bool
    invoked: float
    outcome: SendOutcome = SendOutcome.INFO
    completed: float | None = None
    partition: int | None = None
    offset: int | None = None
    error: str | None = None
    transaction: str | None = None


@dataclass(frozen=True, slots=True)
class Promise:
    """A record that the cluster promised to keep. The offset is -1 if it is unknown.

    It was acknowledged at acks=all, and so was the commit of its transaction, if it has one.
    """

    process: str
    at: TopicPartition
    offset: int
    value: str
    acknowledged: float


class Read(NamedTuple):
    """One record that a consumer got."""

    at: TopicPartition
    offset: int
    value: str


@dataclass(frozen=True, slots=True)
class Poll:
    """The records of one poll, in their order."""

    id: str
    process: str
    t: float
    reset: bool
    final: bool
    records: tuple[Read, ...]
    uncommitted: bool = False
    """Read at read_uncommitted: records of open and aborted transactions, too."""


@dataclass(frozen=True, slots=True)
class FinalRead:
    """A partition at the end of the run: every record from `start` to `end` (exclusive), by offset."""

    start: int
    end: int
    values: Mapping[int, str]


class Move(NamedTuple):
    """The step from one record to the next that the same consumer got of a partition."""

    before: Read
    after: Read
    poll: Poll
    inside: bool


SessionOf = Callable[[TopicPartition, int, str], tuple[int, int] | None]


@dataclass(frozen=True)
class History:
    """The evidence for the checkers of the data plane."""

    sends: tuple[Send, ...]
    polls: tuple[Poll, ...]
    final: Mapping[TopicPartition, FinalRead]
    views: NewestViews
    deleted: frozenset[TopicPartition] = frozenset()
    """Partitions that are gone at the end, whatever the reason."""
    vanished: frozenset[TopicPartition] = frozenset()
    """Partitions that are gone at the end by nothing that the plan did (see `topics_at_end`)."""
    ended: frozenset[TopicPartition] = frozenset()
    """Partitions of topics that the plan deleted, under the names of their lives (see `topic_lives`)."""
    recreated: frozenset[str] = frozenset()
    """Topics that were deleted by the plan and created again."""
    returned: tuple[Read, ...] = ()
    """Records of an earlier life of a topic in its final read."""
    session: SessionOf = lambda at, offset, value: None
    """A function that returns the producer id and epoch of a record, from the logs; None if these do not have it."""
    transactions: Transactions = NO_TRANSACTIONS
    groups: Groups = NO_GROUPS
    unstable: Mapping[TopicPartition, tuple[int, int]] = field(default_factory=dict)
    """The partitions whose last stable offset was below the high watermark at the end of the final read: both."""
    deleted_before: Mapping[TopicPartition, int] = field(default_factory=dict)
    """The offset below which the plan had the records of a partition deleted."""
    known_senders: frozenset[str] = frozenset()
    """The topics whose every sender is in the journal (see `phantom`)."""
    read_until: float = 0.0
    """The time at which the final read ended."""

    @cached_property
    def promises(self) -> tuple[Promise, ...]:
        """Return the records that may never be lost, in the order of their sends."""
        return tuple(
            Promise(
                send.process, (send.topic, send.partition), -1 if send.offset is None else send.offset, send.value, t
            )
            for send in self.sends
            if send.outcome is SendOutcome.OK
            and send.acks == "all"
            and send.partition is not None
            and (t := self._promised(send)) is not None
        )

    def _promised(self, send: Send) -> float | None:
        """Return the time from which on the record must be kept; None if its transaction may not have happened."""
        return send.completed if send.transaction is None else self.transactions.committed.get(send.transaction)

    @cached_property
    def unsure(self) -> frozenset[str]:
        """Return the values of the records whose transaction was aborted, or not certainly committed."""
        committed = self.transactions.committed
        return frozenset(
            send.value for send in self.sends if send.transaction is not None and send.transaction not in committed
        )

    @cached_property
    def reads(self) -> Mapping[TopicPartition, Mapping[int, tuple[str, ...]]]:
        """Return the distinct values that were ever read at each offset."""
        reads: dict[TopicPartition, dict[int, tuple[str, ...]]] = defaultdict(dict)
        for poll in self.polls:
            for read in poll.records:
                values = reads[read.at].get(read.offset, ())
                if read.value not in values:
                    reads[read.at][read.offset] = (*values, read.value)
        return reads

    @cached_property
    def values_read(self) -> frozenset[str]:
        """Return every value that was ever read. Values are unique in a run."""
        return frozenset(read.value for poll in self.polls for read in poll.records)

    @cached_property
    def _values_at_end(self) -> Mapping[TopicPartition, frozenset[str]]:
        return {at: frozenset(final.values.values()) for at, final in self.final.items()}

    @cached_property
    def _places_read(self) -> frozenset[TopicPartition]:
        return frozenset((*self.final, *self.reads))

    def was_read(self, send: Send) -> bool:
        """Return whether the partition of a record was read; without a known partition, any of its topic."""
        if send.partition is not None:
            return (send.topic, send.partition) in self._places_read
        return any(topic == send.topic for topic, _ in self._places_read)

    def was_deleted(self, promise: Promise) -> bool:
        """Return whether the plan had a promised record deleted, or may have, if its offset is unknown."""
        return promise.offset < self.deleted_before.get(promise.at, -1)

    def kept(self, at: TopicPartition, value: str) -> bool | None:
        """Return whether the final read found the value. Return None if it did not come to the partition's end."""
        values = self._values_at_end.get(at)
        return None if values is None else value in values

    def known(self, at: TopicPartition, value: str) -> bool:
        """Return whether the final read found the value, or, without one of this partition, whether any poll did."""
        kept = self.kept(at, value)
        return value in self.values_read if kept is None else kept

    @cached_property
    def moves(self) -> Sequence[Move]:
        """Return the steps of all consumers inside one poll and from one to the next; none after a reset."""
        moves: list[Move] = []
        last: dict[tuple[str, TopicPartition], Read] = {}
        for poll in self.polls:
            if poll.reset:
                last = {key: read for key, read in last.items() if key[0] != poll.process}
            inside: set[TopicPartition] = set()
            for read in poll.records:
                if before := last.get((poll.process, read.at)):
                    moves.append(Move(before, read, poll, read.at in inside))
                last[poll.process, read.at] = read
                inside.add(read.at)
        return moves

    @cached_property
    def first_reads(self) -> Mapping[tuple[TopicPartition, int, str], Poll]:
        """Return for each record the poll that read it first."""
        first: dict[tuple[TopicPartition, int, str], Poll] = {}
        for poll in self.polls:
            for read in poll.records:
                first.setdefault(read, poll)
        return first


def value_of(payload: bytes | None) -> str:
    """Return the unique part of a record's value, as the journal has it: up to the first space. The rest is filling."""
    return (payload or b"").split(b" ", 1)[0].decode(errors="replace")


def read_history(journal: Journal, control: ControlHistory | None = None) -> History:
    """Return the sends, polls and final read that the journal has. Linear in its events.

    `control` are the views that it has, if they were read before.
    """
    control = read_control(journal) if control is None else control
    sends: dict[str, Send] = {}
    polls: list[Poll] = []
    spans: dict[TopicPartition, tuple[int, int]] = {}
    unstable: dict[TopicPartition, tuple[int, int]] = {}
    began, read_until = 0, 0.0
    for event in journal.of("op"):
        match event.data.get("f"):
            case "send":
                _add_send(sends, event)
            case "poll" if event.phase == "ok":
                polls.append(_poll(event))
            case "final" if event.phase == "invoke":
                spans, began, unstable = {}, len(polls), {}
            case "final" if event.phase in ("ok", "info"):
                read_until = event.t
                unstable = {(topic, part): (at, end) for topic, part, at, end in event.data.get("unstable", ())}
                spans |= {(topic, part): (start, end) for topic, part, start, end in event.data["partitions"]}
    final = _final(spans, polls[began:])
    return History(
        tuple(sends.values()),
        tuple(polls),
        final,
        control.newest(),
        control.deleted,
        transactions=read_transactions(journal),
        groups=read_groups(journal),
        unstable=unstable,
        read_until=read_until,
    )


def _add_send(sends: dict[str, Send], event: Event) -> None:
    data: Mapping[str, Any] = event.data
    if event.phase == "invoke":
        sends[event.id] = Send(
            id=event.id,
            process=data["process"],
            topic=data["topic"],
            value=data["value"],
            acks=str(data["acks"]),
            idempotent=data["idempotent"],
            invoked=event.t,
            partition=data.get("partition"),
            transaction=data.get("transaction"),
        )
    elif event.id in sends:
        sends[event.id] = replace(
            sends[event.id],
            outcome=SendOutcome(event.phase),
            completed=event.t,
            partition=data.get("partition", sends[event.id].partition),
            offset=data.get("offset"),
            error=data.get("error"),
        )


def _poll(event: Event) -> Poll:
    data = event.data
    return Poll(
        id=event.id,
        process=data["process"],
        t=event.t,
        reset=data.get("reset", False),
        final=data.get("final", False),
        uncommitted=data.get("isolation") == "read_uncommitted",
        records=tuple(Read((topic, part), offset, value) for topic, part, offset, value in data["records"]),
    )


def _final(spans: Mapping[TopicPartition, tuple[int, int]], polls: list[Poll]) -> dict[TopicPartition, FinalRead]:
    values: dict[TopicPartition, dict[int, str]] = {at: {} for at in spans}
    for poll in polls:
        if poll.final:
            for read in poll.records:
                if read.at in values:
                    values[read.at][read.offset] = read.value
    return {at: FinalRead(start, end, values[at]) for at, (start, end) in spans.items()}
