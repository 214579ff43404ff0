"""The requests of transactional producers, read in all their versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.harness.model.effect import DONE, NOTHING_DONE, Effect
from fencepost.harness.model.kind import results
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

OFFSETS_TOPIC = "__consumer_offsets"
"""Stands without a partition: which one a group has is known to its coordinator."""
CONCURRENT = 51
"""CONCURRENT_TRANSACTIONS: an earlier end is under way, or one that the request itself began."""
REFUSED = NOTHING_DONE | {47, 48, 49, 55}
"""Errors of a request that did nothing: also INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE, INVALID_PRODUCER_ID_MAPPING and
OPERATION_NOT_ATTEMPTED."""
OWED = 0.5
"""The fraction of its timeout for which a transaction is left open: clocks of nodes may run fast."""
_OLD = "v3_and_below_"


@dataclass(frozen=True)
class TransactionalEffect(Effect):
    """The effect of a transactional request, which its errors may leave open."""

    @property
    def may_be_done(self) -> bool:
        return self.code != CONCURRENT and self.code not in REFUSED

    def step(self, state: State) -> Iterator[State]:
        if self.code != DONE:
            yield state
        if self.may_be_done:
            yield self.after(state)


@dataclass(frozen=True)
class Added:
    """Partitions that a request adds to the transaction of an id. `code` is None without an answer."""

    id: str
    producer_id: int
    producer_epoch: int
    partitions: frozenset[str]
    code: int | None


def code_of(sent: Sent) -> int | None:
    """Return the error of a whole answer; None without an answer."""
    return None if sent.response is None else sent.response.get("error_code", DONE)


def added(sent: Sent) -> Iterator[Added]:
    """Yield what AddPartitionsToTxn adds: of one id in the versions of clients, of several in those between brokers."""
    if f"{_OLD}transactional_id" in sent.body:
        fields = {key.removeprefix(_OLD): value for key, value in sent.body.items()}
        code = None if sent.response is None else _first_error(sent.response, "results_by_topic_v3_and_below")
        yield _of(fields, code)
        return
    answers = {
        each["transactional_id"]: (sent.response or {}).get("error_code") or _first_error(each, "topic_results")
        for each in results(sent.response, "results_by_transaction")
    }
    for each in sent.body["transactions"]:
        if not each["verify_only"]:
            yield _of(each, answers.get(each["transactional_id"]))


def _of(fields: Mapping[str, Any], code: int | None) -> Added:
    partitions = {f"{topic['name']}-{each}" for topic in fields.get("topics", ()) for each in topic["partitions"]}
    return Added(
        fields["transactional_id"], fields["producer_id"], fields["producer_epoch"], frozenset(partitions), code
    )


def _first_error(answer: Mapping[str, Any], topics: str) -> int:
    codes = (each["partition_error_code"] for topic in answer[topics] for each in topic["results_by_partition"])
    return next(filter(None, codes), DONE)


@dataclass(frozen=True)
class Written:
    """A batch of a transaction that a request writes to one partition."""

    partition: str
    producer_id: int
    producer_epoch: int
    code: int | None
    offset: int
    """Its base offset; -1 if it is not known."""


def written(sent: Sent) -> Iterator[Written]:
    """Yield the batches of a transactional Produce, by partition. Versions that name topics by ids are not read."""
    answers = {
        f"{topic['name']}-{each['index']}": each
        for topic in results(sent.response, "responses")
        if "name" in topic
        for each in topic["partition_responses"]
    }
    for topic in sent.body["topic_data"] if sent.body.get("transactional_id") is not None else ():
        for each in topic["partition_data"] if "name" in topic else ():
            place, records = f"{topic['name']}-{each['index']}", each["records"]
            if isinstance(records, list) and records and "producer_id" in records[0]:
                first, answer = records[0], answers.get(place, {})
                code, offset = answer.get("error_code"), answer.get("base_offset", -1)
                yield Written(place, first["producer_id"], first["producer_epoch"], code, offset)
