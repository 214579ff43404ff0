"""The transactions of transactional ids: state, partitions, timeout.

Sources: KIP-98 (states, and the requests that lead from one to the next), KIP-890 (TxnOffsetCommit from version 5 and
Produce from version 12 add their partitions by themselves; an abort of nothing is accepted), KIP-664 and the
descriptions of DescribeTransactions and ListTransactions.

A transaction that was ended has to come to its end, so the states in between are wrong once there was time for it.
One that was not is open for half of its timeout; after that its coordinator may have aborted it at any time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, NamedTuple

from fencepost.harness.model.effect import DONE, Effect
from fencepost.harness.model.kind import Kind, Question, Scope, results
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.transactional import (
    OFFSETS_TOPIC,
    OWED,
    REFUSED,
    TransactionalEffect,
    added,
    code_of,
    written,
)
from fencepost.harness.model.worlds import State

EMPTY, ONGOING = "Empty", "Ongoing"
COMMITTING, ABORTING, FENCING = "PrepareCommit", "PrepareAbort", "PrepareEpochFence"
COMMITTED, ABORTED = "CompleteCommit", "CompleteAbort"
NOT_FOUND = 105
_ABORT = frozenset({FENCING, ABORTING, ABORTED})
_SHOWN = {COMMITTING: frozenset({COMMITTING, COMMITTED}), ABORTING: _ABORT, FENCING: _ABORT}
"""The phases in which an end may be described that is on its way."""


class Transaction(NamedTuple):
    """The last transaction of an id. `partitions` and `timeout` (milliseconds) are None where they are not known."""

    phase: str = EMPTY
    partitions: frozenset[str] | None = frozenset()
    timeout: int | None = None
    until: float = -inf
    """It is open for certain until then, in seconds of the run."""

    @property
    def is_open(self) -> bool:
        return self.phase == ONGOING

    def ended(self, phase: str) -> Transaction:
        return Transaction(phase, frozenset(), self.timeout)


@dataclass(frozen=True)
class _Begin(TransactionalEffect):
    """A producer begins: whatever was open before has come to its end."""

    timeout: int

    @property
    def title(self) -> str:
        return f"begin as {self.object}"

    def after(self, state: State) -> State:
        return Transaction(timeout=self.timeout)


@dataclass(frozen=True)
class _Abort(Effect):
    """A coordinator aborts what another producer has left open, some time after it was asked to begin."""

    lasting: ClassVar[bool] = True

    @property
    def title(self) -> str:
        return f"abort what {self.object} had open"

    def after(self, state: State) -> State:
        return _transaction(state).ended(ABORTING)

    def step(self, state: State) -> Iterator[State]:
        if _transaction(state).is_open:
            yield self.after(state)


@dataclass(frozen=True)
class _Add(TransactionalEffect):
    """A request adds partitions; the first of them open the transaction."""

    partitions: frozenset[str]
    at: float
    by_itself: bool = False
    """Older versions of the request leave this to one before it."""

    @property
    def title(self) -> str:
        return f"add {', '.join(sorted(self.partitions))} as {self.object}"

    def after(self, state: State) -> State:
        before = _transaction(state)
        if before.is_open:
            known = before.partitions
            return before._replace(partitions=None if known is None else known | self.partitions)
        until = -inf if before.timeout is None else self.at + OWED * before.timeout / 1000
        return Transaction(ONGOING, self.partitions, before.timeout, until)

    def step(self, state: State) -> Iterator[State]:
        if self.by_itself and self.code == DONE:
            yield state
        yield from super().step(state)


@dataclass(frozen=True)
class _End(TransactionalEffect):
    committed: bool

    @property
    def title(self) -> str:
        return f"{'commit' if self.committed else 'abort'} as {self.object}"

    def after(self, state: State) -> State:
        return _transaction(state).ended(COMMITTED if self.committed else ABORTED)

    def step(self, state: State) -> Iterator[State]:
        """Without an answer the end may still be on its way; an abort of nothing may be accepted."""
        before = _transaction(state)
        if self.code != DONE:
            yield state
            if before.is_open and self.may_be_done:
                yield before.ended(COMMITTING if self.committed else ABORTING)
        elif state is None or before.is_open or not self.committed or before.phase in _SHOWN[COMMITTING]:
            yield self.after(state)


class Transactions(Kind):
    """A transactional id has the transaction that its requests led to, and no ended one is left on its way."""

    name = "transactions"
    requirement = "MDL-19"
    changed_by = frozenset(
        {"init_producer_id", "add_partitions_to_txn", "add_offsets_to_txn", "txn_offset_commit", "produce", "end_txn"}
    )
    begins_absent = True

    def questions(self, scope: Scope) -> Iterator[Question]:
        followed = [each for each in scope.objects if each not in scope.of_clients]
        for id in followed:
            yield Question("describe_transactions", {"transactional_ids": [id]}, [id])
        if followed:
            body = {"state_filters": [], "producer_id_filters": [], "duration_filter": -1}
            yield Question("list_transactions", body, (), followed=followed)

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Only the coordinator of a transactional id says anything about it."""
        if question.api == "list_transactions":
            listed = {
                each["transactional_id"]: {"state": each["transaction_state"]}
                for each in answer["transaction_states"]
                if each["transactional_id"] in question.followed
            }
            return listed or None
        [described] = answer["transaction_states"]
        if described["error_code"]:
            return {} if described["error_code"] == NOT_FOUND else None
        partitions = [f"{topic['topic']}-{each}" for topic in described["topics"] for each in topic["partitions"]]
        seen = {"state": described["transaction_state"], "timeout": described["transaction_timeout"]}
        return {described["transactional_id"]: {**seen, "partitions": sorted(partitions)}}

    def state(self, seen: Any) -> State:
        if "partitions" not in seen:
            return Transaction(seen["state"], None)
        names = (OFFSETS_TOPIC if each.startswith(f"{OFFSETS_TOPIC}-") else each for each in seen["partitions"])
        return Transaction(seen["state"], frozenset(names), seen["timeout"])

    def aged(self, state: State, now: float) -> State:
        return state._replace(until=-inf) if isinstance(state, Transaction) and state.until <= now else state

    def fits(self, state: State, seen: State) -> Iterator[State]:
        """While an end is on its way, the partitions are those that have no marker yet."""
        if not (isinstance(state, Transaction) and isinstance(seen, Transaction)):
            yield from super().fits(state, seen)
            return
        shown = _SHOWN.get(state.phase, frozenset({state.phase}))
        if state.is_open and state.until == -inf:
            shown |= _ABORT
        partitions = state.partitions if state.phase == seen.phase else frozenset()
        is_same = seen.phase in _SHOWN or None in (partitions, seen.partitions) or partitions == seen.partitions
        if seen.phase in shown and is_same and (state.timeout is None or seen.timeout in (None, state.timeout)):
            known = seen.partitions if partitions is None else partitions
            timeout = seen.timeout if state.timeout is None else state.timeout
            yield Transaction(seen.phase, known, timeout, state.until if seen.phase == ONGOING else -inf)

    def says(self, state: State) -> str:
        if not isinstance(state, Transaction):
            return super().says(state)
        places = "" if not state.partitions else f" with {', '.join(sorted(state.partitions))}"
        return f"{state.phase}{places}" + ("" if state.timeout is None else f", timeout {state.timeout} ms")

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        id: Any = sent.body.get("transactional_id")
        code = code_of(sent)
        match sent.api:
            case "init_producer_id":
                if id is not None:
                    yield _Begin(id, code, sent.body["transaction_timeout"])
                    if code != DONE and code not in REFUSED:
                        yield _Abort(id, DONE)
            case "add_partitions_to_txn":
                yield from (_Add(each.id, each.code, each.partitions, sent.begun) for each in added(sent))
            case "add_offsets_to_txn":
                yield _Add(id, code, frozenset({OFFSETS_TOPIC}), sent.begun)
            case "txn_offset_commit":
                yield _Add(id, _best(sent), frozenset({OFFSETS_TOPIC}), sent.begun, by_itself=True)
            case "produce":
                for batch in written(sent):
                    yield _Add(id, batch.code, frozenset({batch.partition}), sent.begun, by_itself=True)
            case _:
                yield _End(id, code, sent.body["committed"])


def _transaction(state: State) -> Transaction:
    return state if isinstance(state, Transaction) else Transaction()


def _best(sent: Sent) -> int | None:
    """Return DONE if one of the offsets was taken, else an error; None without an answer."""
    codes = [each["error_code"] for topic in results(sent.response, "topics") for each in topic["partitions"]]
    return min(codes, default=None)
