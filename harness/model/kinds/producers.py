"""The producer ids and epochs of transactional ids.

Sources: the descriptions of InitProducerId (KIP-98; KIP-360: a producer names the id and epoch that it has),
AddPartitionsToTxn, AddOffsetsToTxn, EndTxn (KIP-890: each transaction has an epoch of its own) and DescribeTransactions
(KIP-664).

Of an epoch the lowest one is known that it can be: a coordinator raises it by itself when it ends a transaction that
took too long. At the end of its epochs, before 32,767, a transactional id gets another producer id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fencepost.harness.model.effect import DONE, NOTHING_DONE, Effect
from fencepost.harness.model.kind import Kind, Question, Scope
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.transactional import added, code_of
from fencepost.harness.model.worlds import State

NOT_FOUND = 105
LAST_EPOCHS = 32_765
"""From this epoch on the next one may be of another producer id: the last one is 32,766, and one more may be taken to
fence a producer."""
NEAR_THE_END = LAST_EPOCHS - 10
"""From this epoch on requests without an answer may have led to the end of the epochs."""


class Producer(NamedTuple):
    """A producer id, None if it is not known, and the lowest epoch that it can have."""

    id: int | None
    epoch: int

    def allows(self, id: int, epoch: int) -> bool:
        """Return whether it may be at this epoch now or later."""
        return epoch >= 0 and (self.id is None or (epoch >= self.epoch if id == self.id else self.epoch >= LAST_EPOCHS))


@dataclass(frozen=True)
class _Begin(Effect):
    """A producer begins: it gets a higher epoch than all before, or again the one that it asked for before."""

    given: Producer
    repeats: bool
    """It named the epoch that it had, so that the answer may be one that was lost."""

    @property
    def title(self) -> str:
        return f"begin as {self.object}" + (f", at {_words(self.given)}" if self.code == DONE else "")

    def after(self, state: State) -> State:
        return self.given

    def step(self, state: State) -> Iterator[State]:
        if self.code == DONE:
            before = state if isinstance(state, Producer) else Producer(None, -1)
            is_next = self.given != before or self.repeats
            if is_next and before.allows(self.given.id or 0, self.given.epoch):
                yield self.given
            return
        yield state
        if self.code in NOTHING_DONE:
            return
        if state is None:
            yield Producer(None, 0)
        elif isinstance(state, Producer) and NEAR_THE_END <= state.epoch < LAST_EPOCHS:
            yield state._replace(epoch=state.epoch + 1)  # elsewhere it does not matter that it may be higher


@dataclass(frozen=True)
class _Use(Effect):
    """A request of a producer, which a fenced one cannot have accepted."""

    verb: str
    producer: Producer
    spared: int = 0
    """The epochs below the present one at which it may be accepted, as a repetition."""
    then: Producer | None = None
    """The producer as it goes on."""

    @property
    def title(self) -> str:
        return f"{self.verb} as {self.object} at {_words(self.producer)}"

    def after(self, state: State) -> State:
        assert isinstance(state, Producer)
        latest = max(state.epoch, self.producer.epoch) if state.id == self.producer.id else self.producer.epoch
        if self.then is None or (self.then.id == self.producer.id and self.then.epoch <= latest):
            return Producer(self.producer.id, latest)
        return self.then

    def step(self, state: State) -> Iterator[State]:
        if self.code != DONE:
            yield state
        elif isinstance(state, Producer) and state.allows(self.producer.id or 0, self.producer.epoch + self.spared):
            yield self.after(state)


class Producers(Kind):
    """The epoch of a transactional id does not go back, and a producer with an earlier one stays fenced."""

    name = "producers"
    requirement = "MDL-12"
    changed_by = frozenset({"init_producer_id", "add_partitions_to_txn", "add_offsets_to_txn", "end_txn"})
    begins_absent = True

    def questions(self, scope: Scope) -> Iterator[Question]:
        for id in scope.objects:
            if id not in scope.of_clients:
                yield Question("describe_transactions", {"transactional_ids": [id]}, [id])

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Only the coordinator of a transactional id says anything about it."""
        [described] = answer["transaction_states"]
        if described["error_code"]:
            return {} if described["error_code"] == NOT_FOUND else None
        return {described["transactional_id"]: [described["producer_id"], described["producer_epoch"]]}

    def state(self, seen: Any) -> State:
        return Producer(*seen)

    def fits(self, state: State, seen: State) -> Iterator[State]:
        if not (isinstance(state, Producer) and isinstance(seen, Producer)):
            yield from super().fits(state, seen)
        elif state.allows(seen.id or 0, seen.epoch):
            yield seen

    def says(self, state: State) -> str:
        return _words(state) if isinstance(state, Producer) else super().says(state)

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        body, response, code = sent.body, sent.response, code_of(sent)
        match sent.api:
            case "init_producer_id":
                if body["transactional_id"] is not None:
                    given = _producer(response or {})
                    yield _Begin(body["transactional_id"], code, given, body.get("producer_epoch", -1) >= 0)
            case "add_partitions_to_txn":
                for each in added(sent):
                    yield _Use(each.id, each.code, "add partitions", Producer(each.producer_id, each.producer_epoch))
            case "add_offsets_to_txn":
                yield _Use(body["transactional_id"], code, "add offsets", _producer(body))
            case _:
                ends_epoch = response is not None and response.get("producer_epoch", -1) >= 0
                then = _producer(response or {}) if ends_epoch else None
                bumps = response is not None and "producer_epoch" in response
                yield _Use(body["transactional_id"], code, "end", _producer(body), int(bumps), then)


def _producer(fields: Mapping[str, Any]) -> Producer:
    return Producer(fields.get("producer_id", -1), fields.get("producer_epoch", -1))


def _words(producer: Producer) -> str:
    return f"epoch {producer.epoch} of " + ("any producer id" if producer.id is None else f"producer {producer.id}")
