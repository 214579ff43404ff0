"""Consumers: the ones that read along, and the final read of everything."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from harness.checkers import control
from harness.checkers.history import value_of
from harness.clients.settings import Settings
from results.records.journal import JournalWriter

BATCH = 500
POLL_SECONDS = 0.1
METADATA_SECONDS = 1.0


class PositionLost(Exception):
    """The log ends before the consumer's position, or was truncated below it."""


class Reader:
    """A consumer with assigned partitions that journals each poll that gave something.

    A poll that follows an assignment has `reset`: the step from the poll before it is not judged.
    """

    def __init__(
        self, name: str, partitions: Sequence[control.TopicPartition], settings: Settings, journal: JournalWriter
    ) -> None:
        self._name = name
        self._partitions = partitions
        self._journal = journal
        self._numbers = count()
        self._consumer = Consumer(settings)
        self._reset = True

    def rewind(self) -> None:
        """Start at the beginning of every partition (again)."""
        self._consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for topic, number in self._partitions])
        self._reset = True

    def poll(self, seconds: float = POLL_SECONDS, *, final: bool = False) -> list[str]:
        """The values that came, journalled. Raises PositionLost; other errors are the client's to retry."""
        messages = self._consumer.consume(BATCH, seconds)
        records = [_record(message) for message in messages if message.error() is None]
        if records:
            self._journal.write(
                "op",
                f"poll-{self._name}-{next(self._numbers)}",
                "ok",
                {"process": self._name, "f": "poll", "records": records, "reset": self._reset, "final": final},
            )
            self._reset = False
        for message in messages:
            error = message.error()
            if error is not None and error.code() == KafkaError._AUTO_OFFSET_RESET:
                raise PositionLost(error.str())
        return [record[3] for record in records]

    def ends(self) -> dict[control.TopicPartition, tuple[int, int]]:
        """First offset and end (exclusive) of each partition, asked of the leaders. Raises KafkaException."""
        return {
            (topic, number): self._consumer.get_watermark_offsets(TopicPartition(topic, number), METADATA_SECONDS)
            for topic, number in self._partitions
        }

    def positions(self) -> dict[control.TopicPartition, int]:
        """The next offset of each partition; negative before its first record."""
        partitions = [TopicPartition(topic, number) for topic, number in self._partitions]
        return {(each.topic, each.partition): each.offset for each in self._consumer.position(partitions)}

    def close(self) -> None:
        self._consumer.close()


def _record(message: Message) -> tuple[str | None, int | None, int | None, str]:
    return message.topic(), message.partition(), message.offset(), value_of(message.value())


def read_along(
    reader: Reader, name: str, journal: JournalWriter, stopped: threading.Event, on_read: Callable[[list[str]], None]
) -> None:
    """Poll until stopped; `on_read` is told the values. A lost position is journalled, and all is read again from the
    beginning."""
    lost = count()
    reader.rewind()
    while not stopped.is_set():
        try:
            on_read(reader.poll())
        except PositionLost as error:
            data = {"process": name, "f": "poll", "error": f"position lost: {error}"}
            journal.write("op", f"poll-{name}-lost-{next(lost)}", "info", data)
            reader.rewind()


@dataclass(frozen=True, slots=True)
class FinalReadResult:
    """Whether every partition was read to its end, and how many promised records were not found."""

    complete: bool
    records: int
    missing: int


def read_everything(
    name: str,
    partitions: Sequence[control.TopicPartition],
    settings: Settings,
    journal: JournalWriter,
    promised: frozenset[str],
    timeout: float,
    settle: float,
    now: Callable[[], float] = time.monotonic,
) -> FinalReadResult:
    """Read all partitions from their beginning to their end. `promised`: the values that should be there.

    A new leader learns its high watermark late, and until then the end looks nearer than it is. So the read goes on
    past what looked like the end while promised records are missing: until nothing new came for `settle` seconds, and
    for at most `timeout` seconds in all. A read that ends before that did not come to the end of anything.
    """
    deadline = now() + timeout
    quiet_since: float | None = None
    missing = set(promised)
    seen = 0
    spans: dict[control.TopicPartition, tuple[int, int]] = {}
    reader = Reader(name, partitions, settings, journal)
    op = f"final-{name}"
    base = {"process": name, "f": "final"}
    journal.write("op", op, "invoke", base | {"asked": [list(each) for each in partitions]})
    problem = ""
    try:
        reader.rewind()
        while now() < deadline:
            values = reader.poll(final=True)
            seen += len(values)
            missing.difference_update(values)
            if values:
                spans, quiet_since = {}, None
                continue
            spans = _reached(reader)
            if len(spans) < len(partitions):
                quiet_since = None
                continue
            quiet_since = now() if quiet_since is None else quiet_since
            if not missing or now() - quiet_since >= settle:
                break
        else:
            spans = {} if missing else spans
    except PositionLost as error:
        spans, problem = {}, f"position lost: {error}"
    finally:
        reader.close()
    complete = len(spans) == len(partitions)
    data = base | {"partitions": [[*at, *span] for at, span in spans.items()], "records": seen, "missing": len(missing)}
    if problem:
        data["error"] = problem
    journal.write("op", op, "ok" if complete else "info", data)
    return FinalReadResult(complete, seen, len(missing))


def _reached(reader: Reader) -> dict[control.TopicPartition, tuple[int, int]]:
    """The partitions whose end was reached, with start and end; none while the leaders do not answer."""
    try:
        ends = reader.ends()
    except KafkaException:
        return {}
    positions = reader.positions()
    return {at: (start, end) for at, (start, end) in ends.items() if start == end or positions.get(at, -1) >= end}
