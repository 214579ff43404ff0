"""Watches a cluster from outside, all the time: what each node says of itself, and what the controllers' log says.

One thread for each node asks it about every 100 ms through the probe site's own link, which no fault breaks; one more
follows the metadata log at the leader of the highest epoch. What is new is journalled (`state`), and wakes those who
wait for a condition.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import TypeVar

from kio.schema.describe_quorum.v1.request import DescribeQuorumRequest, PartitionData, TopicData
from kio.schema.describe_quorum.v1.response import DescribeQuorumResponse
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v12.request import MetadataRequest
from kio.schema.metadata.v12.response import MetadataResponse
from kio.schema.types import TopicName
from kio.static.primitive import i32

from harness.clients.metadata.image import BrokerEntry, Image, PartitionEntry
from harness.clients.metadata.tail import DRAFT_TOPIC, KRAFT_TOPIC, NotLeader, Tail
from harness.clients.raw import NoAnswer, RawConnection, Unanswered
from harness.errors import InfrastructureError
from harness.network.addresses import Endpoint
from harness.targets.target import Dialect
from results.records.journal import JournalWriter

EVERY = 0.1
"""Seconds between two questions to one node."""
IDLE = 0.02
"""Seconds of rest after an answer with nothing newly committed: a leader that cannot commit answers at once."""
SILENT_AFTER = 0.6
"""Seconds without an answer that count as silence."""
RECHECK = 0.05
"""Seconds between two looks at conditions that are not about what is observed here (a process, a counter)."""


Result = TypeVar("Result")


class Answer(StrEnum):
    """How a node took the last question."""

    SERVING = "serving"
    REFUSING = "refusing"
    """It answered, but not what was asked for."""
    SILENT = "silent"
    CLOSED = "closed"
    """The connection was refused or ended: nothing listens, or it serves nobody."""
    STANDBY = "standby"
    """A controller that says it does not lead."""
    UNKNOWN = "unknown"
    """Not asked yet."""


@dataclass(frozen=True)
class PartitionView:
    """A partition as a broker describes it. Leader -1 is no leader."""

    topic: str
    partition: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]


@dataclass(frozen=True)
class BrokerView:
    """What a broker answers to Metadata: which brokers live, who leads."""

    answer: Answer = Answer.UNKNOWN
    brokers: frozenset[int] = frozenset()
    partitions: Mapping[str, PartitionView] = field(default_factory=dict)


@dataclass(frozen=True)
class ControllerView:
    """What a controller answers to DescribeQuorum. Shipped Kafka names a leader only at the leader: -1 elsewhere."""

    answer: Answer = Answer.UNKNOWN
    leader: int = -1
    epoch: int = -1
    high_watermark: int = field(default=-1, compare=False)
    """Where the committed part of the metadata log ends."""


@dataclass(frozen=True)
class Observation:
    """All that is known at one instant, by node name; `image` is the controllers' committed log."""

    brokers: Mapping[str, BrokerView] = field(default_factory=dict)
    controllers: Mapping[str, ControllerView] = field(default_factory=dict)
    image: Image = field(default_factory=Image)


@dataclass(frozen=True)
class Watched:
    """A node as the observer needs it."""

    name: str
    id: int
    endpoint: Endpoint
    is_controller: bool


class Observer:
    """Entered it watches, left it has stopped. All methods may be called from any thread."""

    def __init__(self, nodes: tuple[Watched, ...], dialect: Dialect, journal: JournalWriter) -> None:
        self._nodes = nodes
        self._dialect = dialect
        self._journal = journal
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._now = Observation()
        self._version = 0
        self._failed: Exception | None = None
        self._threads = [threading.Thread(target=self._guard, args=(self._watch, node)) for node in nodes]
        self._threads.append(threading.Thread(target=self._guard, args=(self._follow_log,)))

    @property
    def now(self) -> Observation:
        return self._now

    def wait(self, condition: Callable[[], bool], deadline: float) -> bool:
        """Until `condition` holds, looked at after each change; False once the monotonic `deadline` has passed.

        InfrastructureError if the watching itself has failed, for then nothing would ever come true.
        """
        while True:
            seen = self._version
            if condition():
                return True
            if self._failed is not None:
                raise InfrastructureError(f"watching the cluster failed: {self._failed!r}") from self._failed
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            with self._changed:
                self._changed.wait_for(lambda: self._version > seen, min(left, RECHECK))  # noqa: B023  # called here

    def __enter__(self) -> Observer:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _guard(self, work: Callable[..., None], *arguments: Watched) -> None:
        try:
            work(*arguments)
        except Exception as error:
            self._failed = error
            self._journal.trouble(f"watching the cluster failed: {error!r}")

    def _watch(self, node: Watched) -> None:
        with Line(node.endpoint) as line:
            while not self._stopping.is_set():
                began = time.monotonic()
                try:
                    line.ask(partial(self._see, node))
                except NoAnswer as error:
                    self._unseen(node, Answer.SILENT if isinstance(error, Unanswered) else Answer.CLOSED)
                self._stopping.wait(max(0.0, EVERY - (time.monotonic() - began)))

    def _see(self, node: Watched, connection: RawConnection) -> None:
        if node.is_controller:
            self._set_controller(node, ask_quorum(connection, self._dialect))
        else:
            self._set_broker(node, ask_metadata(connection))

    def _unseen(self, node: Watched, answer: Answer) -> None:
        """The node did not answer: what it said last is no longer known."""
        if node.is_controller:
            self._set_controller(node, ControllerView(answer))
        else:
            self._set_broker(node, BrokerView(answer))

    def _set_broker(self, node: Watched, view: BrokerView) -> None:
        before = self._now.brokers.get(node.name, BrokerView())
        if view == before:
            return
        if view.answer is not before.answer:
            self._write(node.name, {"what": "answer", "id": node.id, "state": view.answer.value})
        for name, partition in view.partitions.items():
            if partition != before.partitions.get(name) and not partition.topic.startswith("__"):
                self._write(node.name, _partition_data(partition))
        with self._changed:
            self._now = replace(self._now, brokers={**self._now.brokers, node.name: view})
            self._version += 1
            self._changed.notify_all()

    def _set_controller(self, node: Watched, view: ControllerView) -> None:
        before = self._now.controllers.get(node.name, ControllerView())
        if view == before:
            return
        if view.answer is not before.answer:
            self._write(node.name, {"what": "answer", "id": node.id, "state": view.answer.value})
        if view.epoch >= 0:
            self._write(node.name, {"what": "controller", "active": view.leader, "epoch": view.epoch})
        with self._changed:
            self._now = replace(self._now, controllers={**self._now.controllers, node.name: view})
            self._version += 1
            self._changed.notify_all()

    def _follow_log(self) -> None:
        tail = Tail(self._dialect)
        while not self._stopping.is_set():
            leader = self._leader()
            if leader is None:
                self._stopping.wait(EVERY)
            else:
                self._follow(leader, tail)

    def _follow(self, leader: tuple[Watched, int], tail: Tail) -> None:
        """For as long as this controller leads at this epoch."""
        node, epoch = leader
        with Line(node.endpoint) as line:
            while not self._stopping.is_set() and self._leader() == leader:
                before = tail.image.offset
                try:
                    line.ask(partial(self._read_on, tail, epoch))
                except (NoAnswer, NotLeader):
                    self._stopping.wait(EVERY)
                else:
                    self._stopping.wait(IDLE if tail.image.offset == before else 0.0)

    def _read_on(self, tail: Tail, epoch: int, connection: RawConnection) -> None:
        for image in tail.read(connection, epoch):
            self._set_image(image)

    def _leader(self) -> tuple[Watched, int] | None:
        """The controller that says it leads, at the highest epoch anybody claims, and that epoch."""
        node = active_controller(self._now, {node.id: node.name for node in self._nodes if node.is_controller})
        if node is None:
            return None
        return next(each for each in self._nodes if each.name == node), self._now.controllers[node].epoch

    def _set_image(self, image: Image) -> None:
        before = self._now.image
        names = {node.id: node.name for node in reversed(self._nodes)}
        for id, broker in image.brokers.items():
            if broker != before.brokers.get(id):
                self._write(None, _broker_data(names.get(id), broker))
        for name, partition in image.partitions.items():
            if partition != before.partitions.get(name):
                self._write(None, {**_partition_data(partition), "replicas": list(partition.replicas)})
        with self._changed:
            self._now = replace(self._now, image=image)
            self._version += 1
            self._changed.notify_all()

    def _write(self, node: str | None, data: dict[str, object]) -> None:
        self._journal.write("state", node or "log", "seen", data, node=node)


class Line:
    """A connection that is opened when it is needed, and anew after it was lost."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._connection: RawConnection | None = None

    def ask(self, question: Callable[[RawConnection], Result]) -> Result:
        """`question` of the connection. NoAnswer if there is none, or it had no answer."""
        try:
            if self._connection is None:
                self._connection = RawConnection(self._endpoint.host, self._endpoint.port, SILENT_AFTER)
            return question(self._connection)
        except NoAnswer:
            self._connection = None
            raise

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()


def active_controller(now: Observation, names: Mapping[int, str]) -> str | None:
    """The controller that itself says it leads, at the highest epoch that any names. None: nobody does."""
    newest = max((view.epoch for view in now.controllers.values()), default=-1)
    for name, view in now.controllers.items():
        if view.epoch == newest >= 0 and names.get(view.leader) == name:
            return name
    return None


def ask_metadata(connection: RawConnection) -> BrokerView:
    """What a broker says of all topics. NoAnswer if it says nothing."""
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False, include_topic_authorized_operations=False)
    answer = connection.call(request, MetadataResponse)
    if not answer.brokers:
        return BrokerView(Answer.REFUSING)
    partitions = {
        f"{topic.name}-{partition.partition_index}": PartitionView(
            topic.name or "",
            partition.partition_index,
            partition.leader_id,
            partition.leader_epoch,
            tuple(partition.isr_nodes),
        )
        for topic in answer.topics
        for partition in topic.partitions
    }
    return BrokerView(Answer.SERVING, frozenset(broker.node_id for broker in answer.brokers), partitions)


def ask_quorum(connection: RawConnection, dialect: Dialect) -> ControllerView:
    """What a controller says of the metadata quorum. NoAnswer if it says nothing."""
    name = TopicName(KRAFT_TOPIC if dialect is Dialect.KRAFT else DRAFT_TOPIC)
    topic = TopicData(topic_name=name, partitions=(PartitionData(partition_index=i32(0)),))
    answer = connection.call(DescribeQuorumRequest(topics=(topic,)), DescribeQuorumResponse)
    if answer.error_code is not ErrorCode.none or not answer.topics:
        return ControllerView(Answer.REFUSING)
    partition = answer.topics[0].partitions[0]
    if partition.error_code is ErrorCode.not_leader_or_follower:
        return ControllerView(Answer.STANDBY)
    if partition.error_code is not ErrorCode.none:
        return ControllerView(Answer.REFUSING)
    return ControllerView(Answer.SERVING, partition.leader_id, partition.leader_epoch, partition.high_watermark)


def _broker_data(node: str | None, broker: BrokerEntry) -> dict[str, object]:
    return {
        "what": "broker",
        "node": node,
        "id": broker.id,
        "state": broker.state,
        "epoch": broker.epoch,
        "offset": broker.offset,
    }


def _partition_data(partition: PartitionView | PartitionEntry) -> dict[str, object]:
    data: dict[str, object] = {
        "what": "partition",
        "topic": partition.topic,
        "partition": partition.partition,
        "leader": partition.leader,
        "leader_epoch": partition.leader_epoch,
        "isr": list(partition.isr),
    }
    return data if isinstance(partition, PartitionView) else {**data, "offset": partition.offset}
