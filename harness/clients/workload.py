"""The workload of a plan: its producers and consumers, bursts between them, and the final read of everything."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import inf

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from fencepost.harness.calls import MARGIN_SECONDS, Activity, in_time, named
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.history import SendOutcome
from fencepost.harness.clients import settings
from fencepost.harness.clients.creating import TopicCreation
from fencepost.harness.clients.listing import topics_there
from fencepost.harness.clients.membership import COMMIT_SECONDS, Member, committed_offsets
from fencepost.harness.clients.reading import FinalReadResult, Reader, read_along, read_everything
from fencepost.harness.clients.sending import OUTSTANDING, Sender, Tally, send_at_rate
from fencepost.harness.clients.transactions import TransactionalProducer
from fencepost.harness.errors import CallHangs
from fencepost.harness.plan.model import ConsumerSpec, MembershipSpec, Plan, ProducerSpec, TransactionSpec
from fencepost.harness.plan.topic_changes import changed_topics, deleted_topics
from fencepost.results.records.events import CLIENT_ENDED, CLIENT_RESTARTED
from fencepost.results.records.journal import JournalWriter

ASK_AGAIN_SECONDS = 0.2
SLOWEST_RATE = 500
"""Records a second that any machine gives to the client library."""


@dataclass(frozen=True, slots=True)
class BurstResult:
    """The counted outcomes of a burst's records, with errors by name."""

    sent: int
    acknowledged: int
    failed: int
    unknown: int
    errors: Mapping[str, int]


class Workload:
    """Clients that run beside the steps of a plan, each in a thread of its own.

    `cluster` gives the settings by which clients of a site reach the cluster. Starting and stopping may be repeated;
    the numbers in the values go on, so a value is unique in the run.
    """

    def __init__(
        self,
        plan: Plan,
        journal: JournalWriter,
        cluster: Callable[[str], settings.ClientSettings],
        *,
        assigns: bool = True,
        by_use: bool = False,
    ) -> None:
        self._plan = plan
        self._assigns = assigns
        """The brokers take the assignments of the plan; without, topics have as many partitions and replicas."""
        self._by_use = by_use
        """Topics come into being when a client asks for them."""
        self._journal = journal
        self._cluster = cluster
        self._partitions = {topic.name: len(topic.assignments) for topic in plan.topics if not topic.prepared}
        self._numbers = {producer.name: count() for producer in plan.workload.producers}
        self._tallies: list[tuple[str, str, Tally]] = []
        self._promised: set[str] = set()
        self._bursts: list[tuple[TopicPartition, Tally]] = []
        """The bursts at acks=all, by the partition that each was sent to."""
        self._running: dict[str, tuple[Activity[None], threading.Event]] = {}
        self._final_reads = count(1)
        self._reads: Counter[str] = Counter()
        self._started: list[str] = []
        self._transactional: dict[str, TransactionalProducer] = {}
        self._member_events = count()

    def create_topics(self, timeout: float) -> None:
        """Create the plan's topics with their assignments, each seen by the cluster, in `timeout` seconds each.

        Raises InfrastructureError.
        """
        longest = timeout * max(1, len(self._plan.topics)) + MARGIN_SECONDS
        creation = TopicCreation(self._admin(timeout), self._journal, assigns=self._assigns, by_use=self._by_use)
        in_time("creating the topics of the plan", longest, partial(creation.create, self._plan.topics, timeout))

    def start(self, only: Collection[str] | None = None) -> None:
        """Start the clients of these names, or all that start with the workload. Those that run go on."""
        for consumer in self._plan.workload.consumers:
            if self._starts(consumer, only):
                self._launch(consumer.name, partial(self._consume, consumer))
        for producer in self._plan.workload.producers:
            if self._starts(producer, only):
                self._launch(producer.name, partial(self._produce, producer))

    def stop(self, only: Collection[str] | None = None, until: float = inf) -> None:
        """Stop them, producers after their last reports: as long as a record may wait, in the worst case.

        A client that does not stop in its time is given up: the journal names the call of its library that does not
        return. From `until` (monotonic) on it has no more time than a record.
        """
        chosen = [name for name in self._running if _wanted(name, only)]
        for name in chosen:
            self._running[name][1].set()
        now = time.monotonic()
        least = self._reporting_seconds() + MARGIN_SECONDS
        deadline = now + max(least, min(until - now, self._stopping_seconds()))
        for name in chosen:
            try:
                self._running.pop(name)[0].result(deadline)
            except CallHangs as error:
                self._journal.hangs(str(error), error.seconds)

    def _stopping_seconds(self) -> float:
        """Return the seconds that a client may need to stop, at most."""
        load = self._plan.workload
        of_transactions = [5 * each.transactions.timeout_ms / 1000 for each in load.producers if each.transactions]
        of_members = [2 * COMMIT_SECONDS for each in load.consumers if each.membership]
        return max(self._reporting_seconds(), *of_transactions, *of_members, 0) + MARGIN_SECONDS

    def _reporting_seconds(self) -> float:
        return settings.record_timeout_ms(self._plan.timing) / 1000

    def acked(self, topic: str | None = None, producer: str | None = None) -> int:
        """Records acknowledged so far, of one topic or producer or of all; bursts included."""
        return sum(
            tally.acknowledged
            for name, of_topic, tally in list(self._tallies)
            if topic in (None, of_topic) and producer in (None, name)
        )

    def read(self, consumer: str | None = None, group: str | None = None) -> int:
        """Records that consumers got so far: one, the members of a group, or all. One may count several times."""
        return sum(
            self._reads[spec.name]
            for spec in self._plan.workload.consumers
            if consumer in (None, spec.name)
            and (group is None or (spec.membership is not None and spec.membership.group == group))
        )

    def burst(
        self,
        name: str,
        topic: str,
        partition: int,
        records: int,
        acks: str,
        idempotent: bool,
        timeout: float,
        size: int = 1,
    ) -> BurstResult:
        """Send so many records, of `size` bytes at least, at once and wait for their fates, `timeout` seconds at most.

        Without idempotence each record is attempted once, so that a refusal is certain. The values and the journal's
        process carry `name`, which must be unique in the run. Raise CallHangs if the client library does not return.
        """
        longest = timeout + records / SLOWEST_RATE + MARGIN_SECONDS
        work = partial(self._burst, name, topic, partition, records, acks, idempotent, timeout, size)
        return in_time(f"the burst {name}", longest, work)

    def _burst(
        self,
        name: str,
        topic: str,
        partition: int,
        records: int,
        acks: str,
        idempotent: bool,
        timeout: float,
        size: int,
    ) -> BurstResult:
        config = settings.producer(
            self._cluster("main"),
            self._plan.timing,
            name,
            acks=acks,
            idempotent=idempotent,
            retry=idempotent,
            timeout_ms=int(timeout * 1000),
        )
        sender = self._sender(name, topic, settings.large(config), size=size, numbers=count())
        if acks == "all":
            self._bursts.append(((topic, partition), sender.tally))
        try:
            for _ in range(records):
                sender.send(partition)
                sender.serve(0)
        except KafkaException as error:
            if not self._ended_by(name, error):
                raise
        sender.finish(timeout + 1.0)
        tally = sender.tally
        failed = tally.outcomes[SendOutcome.FAIL]
        unknown = tally.sent - tally.acknowledged - failed
        return BurstResult(tally.sent, tally.acknowledged, failed, unknown, dict(tally.errors))

    def final_read(
        self, timeout: float, gone: Collection[str] = (), deleted: Callable[[], Collection[str]] = tuple
    ) -> FinalReadResult:
        """Stop everything that runs, then read all topics of the plan from beginning to end with a fresh consumer:
        also those, and the partitions, that its steps created. Ask for the committed offsets of each group first.
        Topics in `gone` were deleted by a step, and so were the values that `deleted` returns: the read waits for
        neither.

        A read that hangs is given up: the journal names the call that does not return."""
        self.stop(until=time.monotonic() + timeout)
        longest = (len(self._plan.groups) + 2) * timeout + MARGIN_SECONDS
        try:
            return in_time("the final read", longest, partial(self._final_read, timeout, gone, deleted))
        except CallHangs as error:
            self._journal.hangs(str(error), error.seconds)
            return FinalReadResult(complete=False, records=0, missing=len(self._promised))

    def _final_read(
        self, timeout: float, gone: Collection[str], deleted: Callable[[], Collection[str]]
    ) -> FinalReadResult:
        for group in self._plan.groups:
            self._ask_committed(group, time.monotonic() + timeout)
        name = f"final-{next(self._final_reads)}"
        config = settings.consumer(self._cluster("main"), self._plan.timing, name)
        partitions = [at for topic in self._partitions if topic not in gone for at in self._of(topic)]
        partitions += (at for at in self._created_by_steps(timeout) if at not in partitions)
        settle = settings.settle_seconds(self._plan.timing)
        return read_everything(
            name,
            partitions,
            config,
            self._journal,
            frozenset(self._promised),
            timeout,
            settle,
            transactions=any(producer.transactions for producer in self._plan.workload.producers),
            deleted=deleted,
        )

    def _admin(self, timeout: float) -> AdminClient:
        return named(AdminClient(settings.admin(self._cluster("main"), self._plan.timing, timeout)), "the harness")

    def _ask_committed(self, group: str, deadline: float) -> None:
        """Ask until the coordinator answers, or until `deadline`."""
        config = settings.consumer(self._cluster("main"), self._plan.timing, f"committed-{group}")
        members = [spec for spec in self._plan.workload.consumers if spec.membership and spec.membership.group == group]
        partitions = [at for topic in dict.fromkeys(spec.topic for spec in members) for at in self._of(topic)]
        senders = [spec for spec in self._plan.workload.producers if spec.transactions]
        partitions += [(spec.topic, 0) for spec in senders if spec.transactions and spec.transactions.group == group]
        partitions = list(dict.fromkeys(partitions))
        while True:
            op = f"committed-{group}-{next(self._member_events)}"
            if committed_offsets(group, partitions, config, self._journal, op) or time.monotonic() > deadline:
                return
            time.sleep(ASK_AGAIN_SECONDS)

    def _starts(self, spec: ProducerSpec | ConsumerSpec, only: Collection[str] | None) -> bool:
        return spec.name not in self._running and (spec.name in only if only else spec.start is None)

    def _created_by_steps(self, timeout: float) -> list[TopicPartition]:
        """Return the partitions that are there of topics that steps changed, and those that acknowledged a burst and
        that no step deletes.

        A partition that acknowledged records at acks=all and is gone keeps the final read from being complete, unless
        a step deletes it: the checkers know the lives of a topic. Of a huge topic only partitions with records are
        read.
        """
        deleted = deleted_topics(self._plan)
        promised = [at for at, tally in self._bursts if tally.acknowledged and at[0] not in deleted]
        if not (changed := frozenset(changed_topics(self._plan))):
            return promised
        admin = self._admin(timeout)
        try:
            there = topics_there(admin, changed.union(topic for (topic, _), _ in self._bursts), timeout)
        except KafkaException:  # no broker answers: the read itself will say so
            return promised
        whole = sorted((changed & there.keys()) - self._plan.huge_topics)
        found = ((name, number) for name in whole for number in sorted(there[name].partitions))
        written = (at for at, tally in self._bursts if tally.acknowledged and at[0] in there)
        return list(dict.fromkeys((*found, *promised, *written)))

    def _produce(self, spec: ProducerSpec, stopped: threading.Event) -> None:
        """An idempotent producer gives no record up before it is stopped: doing so would begin a new session."""
        if spec.transactions is not None:
            self._transactions(spec, spec.transactions).run(stopped)
            return
        record_timeout_ms = settings.record_timeout_ms(self._plan.timing)
        idempotent = spec.idempotent and spec.acks == "all"
        config = settings.producer(
            self._cluster(spec.site),
            self._plan.timing,
            spec.name,
            acks=str(spec.acks),
            idempotent=idempotent,
            retry=True,
            timeout_ms=self._plan.deadline_ms if idempotent else record_timeout_ms,
        )
        sender = self._sender(spec.name, spec.topic, config, size=spec.size, numbers=self._numbers[spec.name])
        try:
            outstanding = OUTSTANDING if spec.in_flight is None else spec.in_flight
            send_at_rate(sender, self._partitions[spec.topic], spec.rate, stopped, outstanding)
        finally:
            sender.finish(record_timeout_ms / 1000)

    def _transactions(self, spec: ProducerSpec, transactions: TransactionSpec) -> TransactionalProducer:
        """Return the transactional producer of a spec, which is made at its first start."""
        timing, id = self._plan.timing, spec.transactional_id or spec.name

        def open_session() -> Sender:
            usual = settings.producer(
                self._cluster(spec.site), timing, spec.name, acks="all", idempotent=True, retry=True, timeout_ms=1
            )
            config = settings.transactional(usual, id, transactions.timeout_ms)
            return self._sender(spec.name, spec.topic, config, size=spec.size, numbers=self._numbers[spec.name])

        if spec.name not in self._transactional:
            self._transactional[spec.name] = TransactionalProducer(
                spec,
                transactions,
                self._partitions[spec.topic],
                open_session,
                self._journal,
                has_rival=lambda: bool(self._rivals(spec)),
                rival_begun=partial(self._rival_begun, spec),
                sleeper_is_awake=partial(self._sleeper_is_awake, spec),
                open_group=lambda group: named(
                    Consumer(settings.consumer(self._cluster(spec.site), timing, spec.name) | {"group.id": group}),
                    spec.name,
                ),
            )
        return self._transactional[spec.name]

    def _rivals(self, spec: ProducerSpec) -> list[str]:
        """Return the producers with the same transactional id that were started after this one."""
        ids = {each.name: each.transactional_id for each in self._plan.workload.producers}
        if spec.name not in self._started:
            return []
        later = self._started[_last(self._started, spec.name) + 1 :]
        return [name for name in later if ids.get(name) == spec.transactional_id]

    def _rival_begun(self, spec: ProducerSpec) -> bool:
        rivals = (self._transactional.get(name) for name in self._rivals(spec))
        return any(rival is not None and rival.has_begun for rival in rivals)

    def _sleeper_is_awake(self, spec: ProducerSpec) -> bool:
        """Return whether a producer that sleeps when this one starts, and that runs, has not slept yet."""
        for other in self._plan.workload.producers:
            sender = self._transactional.get(other.name)
            sleeps = other.transactions is not None and other.transactions.sleeps and spec.name in self._rivals(other)
            if sender is not None and sleeps and other.name in self._running and not sender.has_slept:
                return True
        return False

    def _consume(self, spec: ConsumerSpec, stopped: threading.Event) -> None:
        isolation = spec.isolation or "read_committed"
        config = settings.consumer(self._cluster(spec.site), self._plan.timing, spec.name, isolation)
        if spec.rack is not None:
            config["client.rack"] = spec.rack
        on_read = partial(self._count_reads, spec)
        if spec.membership is not None:
            config = settings.member(config, spec.membership, spec.name)
            self._take_part(spec, spec.membership, config, stopped, on_read)
            return
        reader = Reader(spec.name, self._of(spec.topic), config, self._journal)
        try:
            read_along(reader, spec.name, self._journal, stopped, on_read)
        finally:
            reader.close()

    def _take_part(
        self,
        spec: ConsumerSpec,
        membership: MembershipSpec,
        config: settings.ClientSettings,
        stopped: threading.Event,
        on_read: Callable[[list[str]], None],
    ) -> None:
        """Be a member until stopped. One that a fatal error ends is started again, as an application would be."""
        while not stopped.is_set():
            try:
                Member(spec, membership, config, self._journal, self._member_events).run(stopped, on_read)
            except KafkaException as error:
                cause: KafkaError = error.args[0]
                if cause.code() != KafkaError._FATAL:
                    raise
                data = {"what": CLIENT_RESTARTED, "client": spec.name, "error": cause.name(), "message": cause.str()}
                self._journal.write("note", spec.name, "seen", data)

    def _count_reads(self, spec: ConsumerSpec, values: list[str]) -> None:
        """A record that was read at read_committed is committed: the final read waits for it."""
        self._reads[spec.name] += len(values)
        if spec.isolation is None:
            self._promised.update(values)

    def _sender(
        self, name: str, topic: str, config: settings.ClientSettings, *, size: int, numbers: "count[int]"
    ) -> Sender:
        sender = Sender(name, topic, config, self._journal, size=size, numbers=numbers, on_promise=self._promised.add)
        self._tallies.append((name, topic, sender.tally))
        return sender

    def _of(self, topic: str) -> list[TopicPartition]:
        return [(topic, number) for number in range(self._partitions[topic])]

    def _launch(self, name: str, work: Callable[[threading.Event], None]) -> None:
        stopped = threading.Event()
        self._started.append(name)

        def run() -> None:
            try:
                work(stopped)
            except CallHangs as error:
                first = error.__context__ if isinstance(error.__context__, CallHangs) else error
                self._journal.hangs(str(first), first.seconds)
            except Exception as error:
                if not self._ended_by(name, error):
                    self._journal.infrastructure(
                        f"the client {name} of the workload failed: {type(error).__name__}: {error}"
                    )

        self._running[name] = (Activity(f"the client {name} of the workload", run), stopped)

    def _ended_by(self, client: str, error: Exception) -> bool:
        """Journal a fatal error of the client library, and return whether it is one.

        The answers of the target can lead to it, so it is not a failure of the harness.
        """
        cause = error.args[0] if isinstance(error, KafkaException) else None
        if not isinstance(cause, KafkaError) or not cause.fatal():
            return False
        data = {"what": CLIENT_ENDED, "client": client, "error": cause.name(), "message": cause.str()}
        self._journal.write("note", client, "seen", data)
        return True


def _last(names: Sequence[str], name: str) -> int:
    return max(place for place, each in enumerate(names) if each == name)


def _wanted(name: str, only: Collection[str] | None) -> bool:
    return not only or name in only
