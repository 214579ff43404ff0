"""What clients did and saw: sends and polls, joined from the journal's `op` events in one pass.

Shapes of the events' data (`f` tells them apart):

- send, invoke: process, topic, value, acks ("all", "1" or "0"), idempotent. ok: partition, offset. fail, info: error.
- poll, ok: process, records as [topic, partition, offset, value]; reset is true where the consumer was placed anew
  (assignment, seek, rebalance) before it; final is true where it belongs to the final read.
- final, ok or info: partitions as [topic, partition, start, end], those that were read from start to end (exclusive).
  Of several final reads the last one counts.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

from harness.checkers.control import NewestViews, TopicPartition, read_control
from results.records.events import Event
from results.records.journal import Journal


class Outcome(Enum):
    OK = "ok"
    FAIL = "fail"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Send:
    """One record given to a producer. Times are seconds since the run began; `completed` is None if nothing came back.

    A send without an answer is INFO: it may have happened.
    """

    id: str
    process: str
    topic: str
    value: str
    acks: str
    idempotent: bool
    invoked: float
    outcome: Outcome = Outcome.INFO
    completed: float | None = None
    partition: int | None = None
    offset: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Promise:
    """A send that was acknowledged at acks=all: the cluster promised to keep it. The offset is -1 if none was told."""

    process: str
    at: TopicPartition
    offset: int
    value: str
    acknowledged: float


class Read(NamedTuple):
    """One record that a consumer was given."""

    at: TopicPartition
    offset: int
    value: str


@dataclass(frozen=True, slots=True)
class Poll:
    """What one poll gave, in the order in which it was given."""

    id: str
    process: str
    t: float
    reset: bool
    final: bool
    records: tuple[Read, ...]


@dataclass(frozen=True, slots=True)
class FinalRead:
    """A partition as it was at the end: every record from `start` to `end` (exclusive), by offset."""

    start: int
    end: int
    values: Mapping[int, str]


SessionOf = Callable[[TopicPartition, int, str], tuple[int, int] | None]


@dataclass(frozen=True)
class History:
    """Everything that the checkers of the data plane look at."""

    sends: tuple[Send, ...]
    polls: tuple[Poll, ...]
    final: Mapping[TopicPartition, FinalRead]
    views: NewestViews
    deleted: frozenset[TopicPartition] = frozenset()
    session: SessionOf = lambda at, offset, value: None
    """Under which producer id and epoch a record was written, as the logs have it; None if they do not tell."""

    @cached_property
    def promises(self) -> tuple[Promise, ...]:
        """The sends that may never be lost, in the order of their invocation."""
        return tuple(
            Promise(
                send.process, (send.topic, send.partition), -1 if send.offset is None else send.offset, send.value, t
            )
            for send in self.sends
            if send.outcome is Outcome.OK
            and send.acks == "all"
            and send.partition is not None
            and (t := send.completed) is not None
        )

    @cached_property
    def reads(self) -> Mapping[TopicPartition, Mapping[int, tuple[str, ...]]]:
        """The distinct values that were ever read at each offset."""
        reads: dict[TopicPartition, dict[int, tuple[str, ...]]] = defaultdict(dict)
        for poll in self.polls:
            for read in poll.records:
                values = reads[read.at].get(read.offset, ())
                if read.value not in values:
                    reads[read.at][read.offset] = (*values, read.value)
        return reads

    @cached_property
    def values_read(self) -> frozenset[str]:
        """Every value that was read anywhere, at any time. Values are unique in a run."""
        return frozenset(read.value for poll in self.polls for read in poll.records)

    @cached_property
    def first_reads(self) -> Mapping[tuple[TopicPartition, int, str], Poll]:
        """The poll in which a record was first seen."""
        first: dict[tuple[TopicPartition, int, str], Poll] = {}
        for poll in self.polls:
            for read in poll.records:
                first.setdefault(read, poll)
        return first


def value_of(payload: bytes | None) -> str:
    """The unique part of a record's value, as the journal has it: up to the first space. The rest fills up."""
    return (payload or b"").split(b" ", 1)[0].decode(errors="replace")


def read_history(journal: Journal) -> History:
    sends: dict[str, Send] = {}
    polls: list[Poll] = []
    spans: dict[TopicPartition, tuple[int, int]] = {}
    began = 0
    for event in journal.of("op"):
        match event.data.get("f"):
            case "send":
                _note_send(sends, event)
            case "poll" if event.phase == "ok":
                polls.append(_poll(event))
            case "final" if event.phase == "invoke":
                spans, began = {}, len(polls)
            case "final" if event.phase in ("ok", "info"):
                spans |= {(topic, part): (start, end) for topic, part, start, end in event.data["partitions"]}
    control = read_control(journal)
    final = _final(spans, polls[began:])
    return History(tuple(sends.values()), tuple(polls), final, control.newest(), control.deleted)


def _note_send(sends: dict[str, Send], event: Event) -> None:
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
        )
    elif event.id in sends:
        sends[event.id] = replace(
            sends[event.id],
            outcome=Outcome(event.phase),
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
