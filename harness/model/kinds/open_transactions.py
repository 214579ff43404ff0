"""The transactions that the leaders of partitions have open, by producer.

Sources: KIP-98 (a transaction begins in a partition with its first batch, and ends with its marker), KIP-664 and the
description of DescribeProducers. A leader may forget a producer that has nothing open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, NamedTuple

from fencepost.harness.model.effect import DONE, Effect
from fencepost.harness.model.kind import Kind, Question, Scope, deleted_topics
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.transactional import OWED, REFUSED, TransactionalEffect, added, code_of, written
from fencepost.harness.model.worlds import State

NONE = -1
"""The start of a transaction of a producer that has none open."""


class Place(NamedTuple):
    """A partition as one producer of one transactional id writes to it."""

    partition: str
    id: str
    producer_id: int

    def __str__(self) -> str:
        return f"{self.partition} as {self.producer_id} of {self.id}"


class Writing(NamedTuple):
    """A producer at a partition. `start` is the offset of its open transaction, None if that is not known."""

    start: int | None = NONE
    epoch: int = 0
    """The lowest epoch that the leader can have of it."""
    timeout: int | None = None
    """The timeout of its transactions, in milliseconds."""
    until: float = -inf
    """A transaction is open for certain until then, in seconds of the run."""
    is_added: bool = False
    """The partition belongs to the transaction, whether it has records or not."""

    @property
    def is_open(self) -> bool:
        return self.start != NONE

    def added(self, at: float) -> Writing:
        if self.is_added:
            return self
        until = -inf if self.timeout is None else at + OWED * self.timeout / 1000
        return self._replace(until=until, is_added=True)

    def closed(self) -> Writing:
        return Writing(epoch=self.epoch, timeout=self.timeout)


@dataclass(frozen=True)
class _Begin(TransactionalEffect):
    """The next producer of the id begins once what was open is aborted."""

    timeout: int

    @property
    def title(self) -> str:
        return f"begin as {place_of(self.object).id}"

    def after(self, state: State) -> State:
        return _writing(state).closed()._replace(timeout=self.timeout)


@dataclass(frozen=True)
class _Abort(Effect):
    """An open transaction is aborted, some time after another producer was asked for, or goes with its topic."""

    why: str
    lasting: ClassVar[bool] = True

    @property
    def title(self) -> str:
        return self.why

    def after(self, state: State) -> State:
        return _writing(state).closed()


@dataclass(frozen=True)
class _Add(TransactionalEffect):
    at: float

    @property
    def title(self) -> str:
        return f"add {self.object}"

    def after(self, state: State) -> State:
        return _writing(state).added(self.at)


@dataclass(frozen=True)
class _Write(TransactionalEffect):
    epoch: int
    offset: int
    at: float

    @property
    def title(self) -> str:
        return f"write to {self.object}" + (f", at {self.offset}" if self.offset >= 0 else "")

    def after(self, state: State) -> State:
        before = _writing(state).added(self.at)
        start = before.start if before.is_open else self.offset if self.offset >= 0 else None
        return before._replace(start=start, epoch=max(before.epoch, self.epoch))

    def step(self, state: State) -> Iterator[State]:
        """A leader takes nothing of an earlier epoch than it has seen."""
        if self.code != DONE or self.epoch >= _writing(state).epoch:
            yield from super().step(state)


@dataclass(frozen=True)
class _End(TransactionalEffect):
    """The end of a transaction is answered once it is decided; its markers follow."""

    committed: bool

    @property
    def title(self) -> str:
        return f"{'commit' if self.committed else 'abort'} as {place_of(self.object).id}"

    def after(self, state: State) -> State:
        return _writing(state).closed()


class OpenTransactions(Kind):
    """A leader has the transactions open that were written to and not ended, from their first offsets on."""

    name = "open transactions"
    requirement = "MDL-20"
    changed_by = frozenset({"init_producer_id", "add_partitions_to_txn", "produce", "end_txn", "delete_topics"})
    begins_absent = True
    absent = Writing()

    def questions(self, scope: Scope) -> Iterator[Question]:
        places = [(name, place_of(name)) for name in scope.objects]
        followed = [(name, place) for name, place in places if place.id not in scope.of_clients]
        for partition in sorted({place.partition for _, place in followed}):
            topic, _, index = partition.rpartition("-")
            names = [name for name, place in followed if place.partition == partition]
            body = {"topics": [{"name": topic, "partition_indexes": [int(index)]}]}
            yield Question("describe_producers", body, names)

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Only the leader of a partition says anything about it. A producer that it has forgotten is left out."""
        [partition] = answer["topics"][0]["partitions"]
        if partition["error_code"]:
            return None
        active = {each["producer_id"]: each for each in partition["active_producers"]}
        return {
            name: [known["current_txn_start_offset"], known["producer_epoch"]]
            for name in question.scope or ()
            if (known := active.get(place_of(name).producer_id))
        }

    def state(self, seen: Any) -> State:
        return Writing(*seen)

    def aged(self, state: State, now: float) -> State:
        return state._replace(until=-inf) if isinstance(state, Writing) and state.until <= now else state

    def fits(self, state: State, seen: State) -> Iterator[State]:
        before, shown = _writing(state), _writing(seen)
        if not shown.is_open:
            if not before.is_open or before.until == -inf:
                yield before if not before.is_open else before.closed()
        elif before.is_open and before.start in (None, shown.start) and shown.epoch >= before.epoch:
            yield before._replace(start=shown.start, epoch=shown.epoch)

    def says(self, state: State) -> str:
        writing = _writing(state)
        if not writing.is_open:
            return "no open transaction"
        start = "an offset that is not known" if writing.start is None else str(writing.start)
        return f"a transaction of epoch {writing.epoch} that is open from {start} on"

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        id: Any = sent.body.get("transactional_id")
        code = code_of(sent)
        match sent.api:
            case "add_partitions_to_txn":
                for each in added(sent):
                    for partition in sorted(each.partitions):
                        yield _Add(str(Place(partition, each.id, each.producer_id)), each.code, sent.begun)
            case "produce":
                for batch in written(sent):
                    place = str(Place(batch.partition, str(id), batch.producer_id))
                    yield _Write(place, batch.code, batch.producer_epoch, batch.offset, sent.begun)
            case "delete_topics":
                deleted = deleted_topics(sent)
                for name in objects:
                    if deleted is None or place_of(name).partition.rpartition("-")[0] in deleted:
                        yield _Abort(name, DONE, "delete its topic")
            case _:
                for name in objects:
                    if place_of(name).id == id:
                        yield from self._of_all(sent, name, code)

    def _of_all(self, sent: Sent, name: str, code: int | None) -> Iterator[Effect]:
        if sent.api == "end_txn":
            yield _End(name, code, sent.body["committed"])
            return
        yield _Begin(name, code, sent.body["transaction_timeout"])
        if code != DONE and code not in REFUSED:
            yield _Abort(name, DONE, f"abort what {sent.body['transactional_id']} had open")


def place_of(name: str) -> Place:
    """Return the place that an object's name stands for."""
    partition, _, rest = name.partition(" as ")
    producer_id, _, id = rest.partition(" of ")
    return Place(partition, id, int(producer_id))


def _writing(state: State) -> Writing:
    assert isinstance(state, Writing)
    return state
