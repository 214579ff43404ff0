"""Producers of the workload: every record is in the journal before the client has it, and its report after."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from fencepost.harness.calls import named
from fencepost.harness.checkers.history import SendOutcome
from fencepost.harness.clients.outcomes import classify
from fencepost.harness.clients.settings import BATCH, ClientSettings
from fencepost.results.records.journal import JournalWriter

OUTSTANDING = 1000
"""Records without a report, at which a producer waits: bounds memory, and what one fault can leave unknown."""

NOT_KNOWN = frozenset({KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION})
"""The client refuses a record by these while the brokers that it asks do not know the topic: they have just started."""


@dataclass
class Tally:
    """The counted outcomes of a producer's records so far, with errors by name.

    `acknowledged` counts the records of a transaction once its commit is acknowledged.
    """

    sent: int = 0
    acknowledged: int = 0
    outcomes: Counter[SendOutcome] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def outstanding(self) -> int:
        return self.sent - self.outcomes.total()


class Sender:
    """Sends unique records to a topic and journals what becomes of them. Used by one thread at a time.

    A value is `{name}-{n}`, then a space and filling up to `size` bytes; `value_of` gives the first part back.
    `on_promise` is called with each value that was acknowledged at acks=all.
    """

    def __init__(
        self,
        name: str,
        topic: str,
        settings: ClientSettings,
        journal: JournalWriter,
        *,
        size: int,
        numbers: "count[int]",
        on_promise: Callable[[str], None],
    ) -> None:
        self.tally = Tally()
        self.producer = named(Producer(settings), name)
        self._name = name
        self._topic = topic
        self._acks = str(settings["acks"])
        self._idempotent = bool(settings["enable.idempotence"])
        self._retried = settings.get("retries") != 0
        self._size = size
        self._numbers = numbers
        self._journal = journal
        self._on_promise = on_promise
        self._transaction: str | None = None
        self._delivered: list[str] = []
        self._undelivered = 0
        self._made_up: dict[int, int] = {}
        """By partition, the offset that the client makes up next (see `_believed`)."""

    @property
    def delivered(self) -> bool:
        """Return whether each record of the transaction so far was answered, and without an error."""
        return self.tally.outstanding == 0 and not self._undelivered

    def begin(self, transaction: str) -> None:
        """Send the records from now on in this transaction."""
        self._transaction, self._delivered, self._undelivered = transaction, [], 0

    def committed(self) -> None:
        """Count the records of the transaction as acknowledged."""
        self.tally.acknowledged += len(self._delivered)
        for value in self._delivered:
            self._on_promise(value)
        self._delivered = []

    def send(self, partition: int) -> None:
        """Give one record to the client; its fate comes while `serve` or `finish` runs."""
        number = next(self._numbers)
        value = f"{self._name}-{number}"
        op = f"send-{value}"
        data = {
            "process": self._name,
            "f": "send",
            "topic": self._topic,
            "partition": partition,
            "value": value,
            "acks": self._acks,
            "idempotent": self._idempotent,
        }
        if self._transaction is not None:
            data["transaction"] = self._transaction
        self._journal.write("op", op, "invoke", data)
        self.tally.sent += 1

        def report(error: KafkaError | None, message: Message) -> None:
            self._note(op, value, partition, error, message.offset() if error is None else None)

        filled = f"{value} ".encode().ljust(self._size, b".")
        try:
            self.producer.produce(self._topic, filled, partition=partition, on_delivery=report)
        except BufferError:
            self._note(op, value, partition, KafkaError(KafkaError._QUEUE_FULL), None)
        except KafkaException as error:
            cause: KafkaError = error.args[0]
            if self._transaction is None and cause.code() not in NOT_KNOWN:
                raise
            self._note(op, value, partition, cause, None)

    def serve(self, seconds: float) -> None:
        """Take reports for so long, or until there are some."""
        self.producer.poll(max(0.0, seconds))

    def finish(self, timeout: float) -> None:
        """Wait for all reports; what has none after `timeout` seconds is given up and stays unknown."""
        if self.producer.flush(timeout) > 0:
            self.producer.purge()
            self.producer.flush(1.0)

    def settle(self, timeout: float) -> None:
        """Wait for all reports, as `finish` does, of a producer that may be fenced.

        `flush` raises SystemError then: it returns NULL for the fatal error without a Python exception.
        """
        for seconds in (timeout, 1.0):
            deadline = time.monotonic() + seconds
            while self.tally.outstanding and time.monotonic() < deadline:
                self.serve(0.1)
            if self.tally.outstanding:
                self.producer.purge()

    def _note(self, op: str, value: str, partition: int, error: KafkaError | None, offset: int | None) -> None:
        outcome = classify(error, acks=self._acks, retried=self._retried)
        offset = self._believed(partition, offset) if outcome is SendOutcome.OK else None
        data = {"process": self._name, "f": "send", "partition": partition, "offset": offset}
        if error is not None:
            data |= {"error": error.name(), "code": error.code()}
            self.tally.errors[error.name()] += 1
        self._journal.write("op", op, outcome.value, data)
        self.tally.outcomes[outcome] += 1
        if self._transaction is not None:
            self._delivered += [value] if outcome is SendOutcome.OK else []
            self._undelivered += outcome is not SendOutcome.OK
        elif outcome is SendOutcome.OK:
            self.tally.acknowledged += 1
            if self._acks == "all":
                self._on_promise(value)

    def _believed(self, partition: int, offset: int | None) -> int | None:
        """Return the offset of an acknowledged record, or None if the client made it up.

        A broker may answer a batch that came again with DUPLICATE_SEQUENCE_NUMBER and without its offset. librdkafka
        counts from -1 then, so the records of the batch seem to be at no offset, 0, 1, and so on.
        """
        if offset is None and self._idempotent:
            self._made_up[partition] = 0
        elif offset is not None and offset == self._made_up.get(partition) and offset < BATCH - 1:
            self._made_up[partition] += 1
            return None
        else:
            self._made_up.pop(partition, None)
        return offset


def send_at_rate(
    sender: Sender, partitions: int, rate: float, stopped: threading.Event, outstanding: int = OUTSTANDING
) -> None:
    """Send to the partitions in turn, `rate` records a second, until stopped. Time lost to a fault is not made up.

    At most `outstanding` records are without an answer at a time.
    """
    due = time.monotonic()
    for number in count():
        while (late := due - time.monotonic()) > 0 or sender.tally.outstanding >= outstanding:
            sender.serve(max(late, 0.01))
            if stopped.is_set():
                return
        if stopped.is_set():
            return
        sender.send(number % partitions)
        sender.serve(0)
        due = max(due + 1 / rate, time.monotonic() - 1 / rate)
