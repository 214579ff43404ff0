"""The workload of a plan: its producers and consumers, bursts between them, and the final read of everything."""

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from harness.checkers.control import TopicPartition
from harness.checkers.history import Outcome
from harness.clients import settings
from harness.clients.reading import FinalReadResult, Reader, read_along, read_everything
from harness.clients.sending import Sender, Tally, send_at_rate
from harness.errors import InfrastructureError
from harness.plan.model import ConsumerSpec, Plan, ProducerSpec
from results.records.journal import JournalWriter


@dataclass(frozen=True, slots=True)
class BurstResult:
    """What became of a burst's records, and the errors by name."""

    sent: int
    acknowledged: int
    failed: int
    unknown: int
    errors: Mapping[str, int]


class Workload:
    """Clients that run beside the steps of a plan, each in a thread of its own.

    `bootstrap` gives the bootstrap addresses of a client site. Starting and stopping may be repeated; the numbers in
    the values go on, so a value is unique in the run.
    """

    def __init__(self, plan: Plan, journal: JournalWriter, bootstrap: Callable[[str], str]) -> None:
        self._plan = plan
        self._journal = journal
        self._bootstrap = bootstrap
        self._partitions = {topic.name: len(topic.assignments) for topic in plan.topics if not topic.prepared}
        self._numbers = {producer.name: count() for producer in plan.workload.producers}
        self._tallies: list[tuple[str, str, Tally]] = []
        self._promised: set[str] = set()
        self._running: dict[str, tuple[threading.Thread, threading.Event]] = {}
        self._final_reads = count(1)

    def create_topics(self, timeout: float) -> None:
        """Create the plan's topics with their assignments, each seen by the cluster. Raises InfrastructureError."""
        admin = AdminClient(settings.admin(self._bootstrap("main"), self._plan.timing, timeout))
        for spec in self._plan.topics:
            if spec.prepared:
                continue
            topic = NewTopic(
                spec.name,
                len(spec.assignments),
                replica_assignment=[list(a) for a in spec.assignments],
                config=spec.config,
            )
            op = f"create-{spec.name}"
            base = {"process": "admin", "f": "admin", "request": "create-topic", "topic": spec.name}
            self._journal.write("op", op, "invoke", base)
            try:
                admin.create_topics([topic], operation_timeout=timeout, request_timeout=timeout)[spec.name].result()
            except KafkaException as error:
                cause: KafkaError = error.args[0]
                if cause.code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    self._journal.write("op", op, "info", base | {"error": cause.name()})
                    raise InfrastructureError(f"the topic {spec.name} could not be created: {cause.str()}") from error
            self._journal.write("op", op, "ok", base)

    def start(self, only: Collection[str] | None = None) -> None:
        """Start the producers and consumers of these names, or all. Those that run go on."""
        for consumer in self._plan.workload.consumers:
            if _wanted(consumer.name, only) and consumer.name not in self._running:
                self._launch(consumer.name, partial(self._consume, consumer))
        for producer in self._plan.workload.producers:
            if _wanted(producer.name, only) and producer.name not in self._running:
                self._launch(producer.name, partial(self._produce, producer))

    def stop(self, only: Collection[str] | None = None) -> None:
        """Stop them, producers after their last reports: as long as a record may wait, in the worst case."""
        chosen = [name for name in self._running if _wanted(name, only)]
        for name in chosen:
            self._running[name][1].set()
        for name in chosen:
            self._running.pop(name)[0].join()

    def acked(self, topic: str | None = None, producer: str | None = None) -> int:
        """Records acknowledged so far, of one topic or producer or of all; bursts included."""
        return sum(
            tally.acknowledged
            for name, of_topic, tally in list(self._tallies)
            if topic in (None, of_topic) and producer in (None, name)
        )

    def burst(
        self, name: str, topic: str, partition: int, records: int, acks: str, idempotent: bool, timeout: float
    ) -> BurstResult:
        """Send so many records at once and wait for their fates, `timeout` seconds at most.

        Without idempotence each record is attempted once, so that a refusal is certain. The values and the journal's
        process carry `name`, which must be unique in the run.
        """
        config = settings.producer(
            self._bootstrap("main"),
            self._plan.timing,
            name,
            acks=acks,
            idempotent=idempotent,
            retry=idempotent,
            timeout_ms=int(timeout * 1000),
        )
        sender = self._sender(name, topic, config, size=1, numbers=count())
        for _ in range(records):
            sender.send(partition)
            sender.serve(0)
        sender.finish(timeout + 1.0)
        tally = sender.tally
        failed = tally.outcomes[Outcome.FAIL]
        unknown = tally.sent - tally.acknowledged - failed
        return BurstResult(tally.sent, tally.acknowledged, failed, unknown, dict(tally.errors))

    def final_read(self, timeout: float) -> FinalReadResult:
        """Stop everything that runs, then read all topics of the plan from beginning to end with a fresh consumer."""
        self.stop()
        name = f"final-{next(self._final_reads)}"
        config = settings.consumer(self._bootstrap("main"), self._plan.timing, name)
        partitions = [at for topic in self._partitions for at in self._of(topic)]
        settle = settings.settle_seconds(self._plan.timing)
        return read_everything(name, partitions, config, self._journal, frozenset(self._promised), timeout, settle)

    def _produce(self, spec: ProducerSpec, stopped: threading.Event) -> None:
        """An idempotent producer gives no record up before it is stopped: doing so would begin a new session."""
        patience_ms = settings.patience_ms(self._plan.timing)
        idempotent = spec.idempotent and spec.acks == "all"
        config = settings.producer(
            self._bootstrap(spec.site),
            self._plan.timing,
            spec.name,
            acks=str(spec.acks),
            idempotent=idempotent,
            retry=True,
            timeout_ms=self._plan.deadline_ms if idempotent else patience_ms,
        )
        sender = self._sender(spec.name, spec.topic, config, size=spec.size, numbers=self._numbers[spec.name])
        try:
            send_at_rate(sender, self._partitions[spec.topic], spec.rate, stopped)
        finally:
            sender.finish(patience_ms / 1000)

    def _consume(self, spec: ConsumerSpec, stopped: threading.Event) -> None:
        config = settings.consumer(self._bootstrap(spec.site), self._plan.timing, spec.name)
        reader = Reader(spec.name, self._of(spec.topic), config, self._journal)
        try:
            read_along(reader, spec.name, self._journal, stopped, self._promised.update)
        finally:
            reader.close()

    def _sender(self, name: str, topic: str, config: settings.Settings, *, size: int, numbers: "count[int]") -> Sender:
        sender = Sender(name, topic, config, self._journal, size=size, numbers=numbers, on_promise=self._promised.add)
        self._tallies.append((name, topic, sender.tally))
        return sender

    def _of(self, topic: str) -> list[TopicPartition]:
        return [(topic, number) for number in range(self._partitions[topic])]

    def _launch(self, name: str, work: Callable[[threading.Event], None]) -> None:
        stopped = threading.Event()

        def run() -> None:
            try:
                work(stopped)
            except Exception as error:
                self._journal.trouble(f"the client {name} of the workload failed: {type(error).__name__}: {error}")

        thread = threading.Thread(target=run, name=f"workload-{name}", daemon=True)
        self._running[name] = (thread, stopped)
        thread.start()


def _wanted(name: str, only: Collection[str] | None) -> bool:
    return not only or name in only
