"""Producers of the workload: every record is in the journal before the client has it, and its report after."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from confluent_kafka import KafkaError, Message, Producer

from harness.checkers.history import Outcome
from harness.clients.outcomes import classify
from harness.clients.settings import Settings
from results.records.journal import JournalWriter

OUTSTANDING = 1000
"""Records without a report, at which a producer waits: bounds memory, and what one fault can leave unknown."""


@dataclass
class Tally:
    """What became of a producer's records so far. Errors by name, of those refused and those unknown."""

    sent: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def acknowledged(self) -> int:
        return self.outcomes[Outcome.OK]

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
        settings: Settings,
        journal: JournalWriter,
        *,
        size: int,
        numbers: "count[int]",
        on_promise: Callable[[str], None],
    ) -> None:
        self.tally = Tally()
        self._name = name
        self._topic = topic
        self._acks = str(settings["acks"])
        self._idempotent = bool(settings["enable.idempotence"])
        self._retried = settings.get("retries") != 0
        self._size = size
        self._numbers = numbers
        self._journal = journal
        self._on_promise = on_promise
        self._producer = Producer(settings)

    def send(self, partition: int) -> None:
        """Give one record to the client; its fate comes while `serve` or `finish` runs."""
        number = next(self._numbers)
        value = f"{self._name}-{number}"
        op = f"send-{value}"
        self._journal.write(
            "op",
            op,
            "invoke",
            {
                "process": self._name,
                "f": "send",
                "topic": self._topic,
                "partition": partition,
                "value": value,
                "acks": self._acks,
                "idempotent": self._idempotent,
            },
        )
        self.tally.sent += 1

        def report(error: KafkaError | None, message: Message) -> None:
            self._note(op, value, partition, error, message.offset() if error is None else None)

        filled = f"{value} ".encode().ljust(self._size, b".")
        try:
            self._producer.produce(self._topic, filled, partition=partition, on_delivery=report)
        except BufferError:
            self._note(op, value, partition, KafkaError(KafkaError._QUEUE_FULL), None)

    def serve(self, seconds: float) -> None:
        """Take reports for so long, or until there are some."""
        self._producer.poll(max(0.0, seconds))

    def finish(self, timeout: float) -> None:
        """Wait for all reports; what has none after `timeout` seconds is given up and stays unknown."""
        if self._producer.flush(timeout) > 0:
            self._producer.purge()
            self._producer.flush(1.0)

    def _note(self, op: str, value: str, partition: int, error: KafkaError | None, offset: int | None) -> None:
        outcome = classify(error, acks=self._acks, retried=self._retried)
        data = {"process": self._name, "f": "send", "partition": partition, "offset": offset}
        if error is not None:
            data |= {"error": error.name(), "code": error.code()}
            self.tally.errors[error.name()] += 1
        self._journal.write("op", op, outcome.value, data)
        self.tally.outcomes[outcome] += 1
        if outcome is Outcome.OK and self._acks == "all":
            self._on_promise(value)


def send_at_rate(sender: Sender, partitions: int, rate: float, stopped: threading.Event) -> None:
    """Send to the partitions in turn, `rate` records a second, until stopped. Time lost to a fault is not made up."""
    due = time.monotonic()
    for number in count():
        while (late := due - time.monotonic()) > 0 or sender.tally.outstanding >= OUTSTANDING:
            sender.serve(max(late, 0.01))
            if stopped.is_set():
                return
        if stopped.is_set():
            return
        sender.send(number % partitions)
        sender.serve(0)
        due = max(due + 1 / rate, time.monotonic() - 1 / rate)
