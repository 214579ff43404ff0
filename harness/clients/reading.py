"""Consumers: the ones that read along, and the final read of everything."""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import count

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from fencepost.harness.calls import MARGIN_SECONDS, Activity, named
from fencepost.harness.checkers import control
from fencepost.harness.checkers.history import value_of
from fencepost.harness.clients.settings import ClientSettings
from fencepost.results.records.journal import JournalWriter

BATCH = 500
POLL_SECONDS = 0.1
METADATA_SECONDS = 1.0
QUESTIONS = 16
"""Questions for the ends of partitions at a time."""


class PositionLost(Exception):
    """The log ends before the consumer's position, or was truncated below it."""


class Reader:
    """A consumer with assigned partitions that journals each poll that gave something.

    A poll that follows an assignment has `reset`: the step from the poll before it is not judged. With `transactions`
    the end of a partition is its high watermark, also where the last stable offset is below it.
    """

    def __init__(
        self,
        name: str,
        partitions: Sequence[control.TopicPartition],
        settings: ClientSettings,
        journal: JournalWriter,
        *,
        transactions: bool = False,
    ) -> None:
        self._name = name
        self._partitions = partitions
        self._journal = journal
        self._numbers = count()
        self._consumer = named(Consumer(settings | {"enable.partition.eof": True}), name)
        self._reset = True
        self._reached: dict[control.TopicPartition, int] = {}
        self._asking = self._consumer
        if transactions:
            self._asking = named(Consumer(settings | {"isolation.level": "read_uncommitted"}), name)
        uncommitted = settings.get("isolation.level") == "read_uncommitted"
        self._poll_data = {"process": name, "f": "poll"} | ({"isolation": "read_uncommitted"} if uncommitted else {})

    def rewind(self) -> None:
        """Start at the beginning of every partition (again)."""
        self._consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for topic, number in self._partitions])
        self._reached.clear()
        self._reset = True

    def poll(self, seconds: float = POLL_SECONDS, *, final: bool = False) -> list[str]:
        """The values that came, journalled. Raises PositionLost; other errors are the client's to retry."""
        messages = self._consumer.consume(BATCH, seconds)
        records = [record_of(message) for message in messages if message.error() is None]
        if records:
            self._journal.write(
                "op",
                f"poll-{self._name}-{next(self._numbers)}",
                "ok",
                self._poll_data | {"records": records, "reset": self._reset, "final": final},
            )
            self._reset = False
        for message in messages:
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                self._reached[str(message.topic()), message.partition() or 0] = message.offset() or 0
            if error is not None and error.code() == KafkaError._AUTO_OFFSET_RESET:
                raise PositionLost(error.str())
        return [record[3] for record in records]

    @property
    def reached(self) -> Mapping[control.TopicPartition, int]:
        """The ends of partitions that were reached, as the isolation level shows them."""
        return self._reached

    def ends(self) -> dict[control.TopicPartition, tuple[int, int]]:
        """First offset and end (exclusive) of each partition, asked of the leaders. Raises KafkaException.

        A question takes 0.1 s in the library, whatever the broker does, so that several are under way at a time.
        """
        parts = [self._partitions[place::QUESTIONS] for place in range(min(QUESTIONS, len(self._partitions)))]
        questions = 2 * (len(self._partitions) / QUESTIONS + 1)
        deadline = time.monotonic() + questions * METADATA_SECONDS + MARGIN_SECONDS
        asked = [Activity(f"the questions of {self._name}", partial(self._ends_of, part)) for part in parts]
        found: dict[control.TopicPartition, tuple[int, int]] = {}
        failed: list[KafkaException] = []
        for each in asked:  # all of them end before the client is closed
            try:
                found.update(each.result(deadline))
            except KafkaException as error:
                failed.append(error)
        if failed:
            raise failed[0]
        return {at: found[at] for at in self._partitions}

    def _ends_of(self, partitions: Sequence[control.TopicPartition]) -> dict[control.TopicPartition, tuple[int, int]]:
        return {at: self._asking.get_watermark_offsets(TopicPartition(*at), METADATA_SECONDS) for at in partitions}

    def positions(self) -> dict[control.TopicPartition, int]:
        """The next offset of each partition; negative before its first record.

        An end that was reached may lie after records that consumers do not get, such as the markers of transactions.
        """
        partitions = [TopicPartition(topic, number) for topic, number in self._partitions]
        found = {(each.topic, each.partition): each.offset for each in self._consumer.position(partitions)}
        return {at: max(offset, self._reached.get(at, -1)) for at, offset in found.items()}

    def close(self) -> None:
        self._consumer.close()
        if self._asking is not self._consumer:
            self._asking.close()


def record_of(message: Message) -> tuple[str, int, int, str]:
    """Return a record as the journal has it: topic, partition, offset, value."""
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None and partition is not None and offset is not None  # a message without an error has them
    return topic, partition, offset, value_of(message.value())


def read_along(
    reader: Reader, name: str, journal: JournalWriter, stopped: threading.Event, on_read: Callable[[list[str]], None]
) -> None:
    """Poll until stopped, and pass the values to `on_read`. After a lost position, read again from the beginning."""
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
    """The result of a final read, complete if every partition was read to its end; `missing` are promised records."""

    complete: bool
    records: int
    missing: int


def read_everything(
    name: str,
    partitions: Sequence[control.TopicPartition],
    settings: ClientSettings,
    journal: JournalWriter,
    promised: frozenset[str],
    timeout: float,
    settle: float,
    now: Callable[[], float] = time.monotonic,
    *,
    transactions: bool = False,
    deleted: Callable[[], Collection[str]] = tuple,
) -> FinalReadResult:
    """Read all partitions from their beginning to their end. `promised`: the values that should be there.

    `deleted` is asked once, if some are missing at what looks like the end: the values that need not be there.

    With `transactions` a partition whose last stable offset stays below its end was not read to its end; the journal
    has it as `unstable`, with the position that was reached.

    A new leader learns its high watermark late, and until then the end looks nearer than it is. So the read goes on
    past what looked like the end while promised records are missing: until nothing new came for `settle` seconds, and
    for at most `timeout` seconds in all. A read that ends before that did not come to the end of anything.
    """
    deadline = now() + timeout
    quiet_since: float | None = None
    missing, seen, asked = set(promised), 0, False
    spans: dict[control.TopicPartition, tuple[int, int]] = {}
    # The result is written before the client is closed, which may hang.
    with closing(Reader(name, partitions, settings, journal, transactions=transactions)) as reader:
        op = f"final-{name}"
        base = {"process": name, "f": "final"}
        journal.write("op", op, "invoke", base | {"asked": [list(each) for each in partitions]})
        problem = ""
        unstable: list[list[object]] = []
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
                if missing and not asked:
                    asked = True
                    missing.difference_update(deleted())
                if not missing or now() - quiet_since >= settle:
                    break
            else:
                spans = {} if missing else spans
            if transactions and len(spans) < len(partitions):
                unstable = list(_unstable(reader))
        except PositionLost as error:
            spans, problem = {}, f"position lost: {error}"
        complete = len(spans) == len(partitions)
        reached = [[*at, *span] for at, span in spans.items()]
        data = base | {"partitions": reached, "records": seen, "missing": len(missing)}
        data |= ({"unstable": unstable} if unstable else {}) | ({"error": problem} if problem else {})
        journal.write("op", op, "ok" if complete else "info", data)
    return FinalReadResult(complete, seen, len(missing))


def _unstable(reader: Reader) -> Iterator[list[object]]:
    """Yield the partitions whose end at read_committed was reached, below their high watermark: both offsets."""
    try:
        ends = reader.ends()
    except KafkaException:
        return
    for at, reached in reader.reached.items():
        if reached < ends[at][1]:
            yield [*at, reached, ends[at][1]]


def _reached(reader: Reader) -> dict[control.TopicPartition, tuple[int, int]]:
    """The partitions whose end was reached, with start and end; none while the leaders do not answer."""
    try:
        ends = reader.ends()
    except KafkaException:
        return {}
    positions = reader.positions()
    return {at: (start, end) for at, (start, end) in ends.items() if start == end or positions.get(at, -1) >= end}
