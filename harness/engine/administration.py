"""The condition that an administrator is served through each running broker: every kind of request, one after another.

Each broker has a topic of its own that goes through the stages below. A stage is tried again until it is done, so the
condition does not become true while one broker leaves one of them undone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from kio.schema.errors import ErrorCode

from fencepost.faults.capabilities import Processes, Running
from fencepost.harness.clients.asking import ask_metadata
from fencepost.harness.clients.raw import NoAnswer, NotOffered, RawConnection
from fencepost.harness.clients.views import PartitionView
from fencepost.harness.engine.context import Clients
from fencepost.harness.engine.references import References
from fencepost.harness.engine.topics import broker_with, send_change
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.requests.create_topic import create_topic
from fencepost.harness.plan.requests.produce import send_record
from fencepost.harness.wire.versions import DELETE_TOPICS
from fencepost.results.records.journal import JournalWriter

ANSWER_MS = 1000
"""Milliseconds for one attempt of one request."""

Result = TypeVar("Result")


class Stage(StrEnum):
    """The stages of a topic, in their order; each is named by what it waits for."""

    CREATED = "created"
    LED = "led"
    """The broker describes the topic, and names its leader."""
    WRITTEN = "written"
    """Its leader acknowledges a record."""
    DELETED = "deleted"
    GONE = "gone"
    """The broker no longer describes the topic."""


@dataclass
class _Round:
    """The stages of the topic of one broker."""

    node: str
    topic: str
    left: list[Stage] = field(default_factory=lambda: list(Stage))
    attempts: int = 0
    last: str = "not asked yet"


@dataclass
class Administration:
    """All stages of all running brokers are done. `name` is the name of the step, which topics are named after."""

    name: str
    references: References
    clients: Clients
    processes: Processes
    journal: JournalWriter
    _rounds: dict[str, _Round] = field(default_factory=dict)

    def __call__(self) -> bool:
        for node in self.references.nodes("brokers"):
            if self.processes.status(node).running is Running.RUNNING:
                self._rounds.setdefault(node, _Round(node, f"{self.name}-{node}"))
        for each in self._rounds.values():
            self._advance(each)
        return not any(each.left for each in self._rounds.values())

    @property
    def found(self) -> Mapping[str, object]:
        """Return the stage that each broker left undone, and the last answer."""
        return {
            each.node: f"{each.topic} is not {each.left[0]}: {each.last}" for each in self._rounds.values() if each.left
        }

    def _advance(self, at: _Round) -> None:
        while at.left:
            stage = at.left[0]
            base = {"process": "admin", "f": "admin", "request": stage.value, "topic": at.topic}
            op = f"{stage}-{at.topic}"
            if not at.attempts:
                self.journal.write("op", op, "invoke", base, node=at.node)
            at.attempts += 1
            try:
                at.last = self._try(stage, at)
            except NotOffered as error:
                self.journal.write("op", op, "info", base | {"error": f"not asked: {error}"}, node=at.node)
                at.left.pop(0)
                at.attempts = 0
                continue
            except NoAnswer as error:
                at.last = str(error)
            if at.last:
                return
            self.journal.write("op", op, "ok", base, node=at.node)
            at.left.pop(0)
            at.attempts = 0

    def _try(self, stage: Stage, at: _Round) -> str:
        """Try the stage once. Return why it is not done, nothing if it is. Raise NoAnswer without an answer."""
        match stage:
            case Stage.CREATED:
                return self._change(at.node, lambda line: self._create(line, at.topic), ErrorCode.topic_already_exists)
            case Stage.LED:
                led = self._described(at)
                return "" if led is not None and led.leader >= 0 else f"{at.node} names no leader"
            case Stage.WRITTEN:
                return self._write(at)
            case Stage.DELETED:
                unknown = ErrorCode.unknown_topic_or_partition
                return self._change(at.node, lambda line: _delete(line, at.topic), unknown)
            case Stage.GONE:
                return "" if self._described(at) is None else f"{at.node} still describes it"

    def _described(self, at: _Round) -> PartitionView | None:
        view = self._ask(at.node, lambda line: ask_metadata(line, [at.topic]))
        return view.partitions.get(f"{at.topic}-0")

    def _write(self, at: _Round) -> str:
        led = self._described(at)
        leader = None if led is None else broker_with(led.leader, self.references)
        if leader is None:
            return f"{at.node} names no leader"
        answer = self._ask(
            leader,
            lambda line: send_record(
                line,
                self.journal,
                process=at.topic,
                number=at.attempts,
                topic=at.topic,
                partition=0,
                acks=1,
                timeout_ms=ANSWER_MS,
            ),
        )
        return "" if answer.error is None else f"{leader} answers {ErrorCode(answer.error).name}"

    def _change(self, node: str, request: Callable[[RawConnection], ErrorCode], done: ErrorCode) -> str:
        node, error = send_change(node, request, self.clients, self.references)
        return "" if error in (ErrorCode.none, done) else f"{node} answers {error.name}"

    def _create(self, line: RawConnection, topic: str) -> ErrorCode:
        replicates = self.references.promises.replication == "isr"
        replicas = min(2, len(self._rounds)) if replicates else 1  # two have to reach each other
        error, _ = create_topic(line, topic, partitions=1, replicas=replicas, timeout_ms=ANSWER_MS)
        return error

    def _ask(self, node: str, question: Callable[[RawConnection], Result]) -> Result:
        with self.clients.connect(node, Listener.CLIENT, ANSWER_MS / 1000) as line:
            return question(line)


def _delete(line: RawConnection, topic: str) -> ErrorCode:
    body = {"topic_names": [topic], "timeout": ANSWER_MS}
    return ErrorCode(DELETE_TOPICS.ask(line, body).responses[0].error_code)
