"""Requests of one transactional id, `x`, and their answers, for the kinds that follow transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fencepost.harness.model.sent import Sent

PRODUCER = {"transactional_id": "x", "producer_id": 7, "producer_epoch": 0}


def answered(api: str, body: Mapping[str, Any], t: float, response: Mapping[str, Any] | None) -> Sent:
    """Return a request that began at `t` seconds. Without a response it has no answer."""
    return Sent(api, body, t) if response is None else Sent(api, body, t, t + 0.1, response)


def begin(t: float, code: int | None = 0, timeout: int = 60_000, id: str = "x") -> Sent:
    body = {"transactional_id": id, "transaction_timeout": timeout, "producer_id": -1, "producer_epoch": -1}
    return answered("init_producer_id", body, t, None if code is None else {"error_code": code})


def add(t: float, partitions: Sequence[int] = (0,), code: int | None = 0, id: int = 7) -> Sent:
    body = {**PRODUCER, "producer_id": id, "topics": [{"name": "a", "partitions": list(partitions)}]}
    answers = [{"partition_index": each, "partition_error_code": code} for each in partitions]
    response = {"results_by_topic_v3_and_below": [{"name": "a", "results_by_partition": answers}]}
    old = {f"v3_and_below_{key}": value for key, value in body.items()}
    return answered("add_partitions_to_txn", old, t, None if code is None else response)


def add_offsets(t: float, code: int | None = 0) -> Sent:
    body = {**PRODUCER, "group_id": "g"}
    return answered("add_offsets_to_txn", body, t, None if code is None else {"error_code": code})


def commit_offset(t: float, offset: int, code: int | None = 0, partition: int = 0, id: str = "x") -> Sent:
    """Commit an offset of the group `g` at a partition of `a` in the transaction."""
    each = {"partition_index": partition, "committed_offset": offset, "committed_metadata": ""}
    body = {**PRODUCER, "transactional_id": id, "group_id": "g", "topics": [{"name": "a", "partitions": [each]}]}
    answers = [{"name": "a", "partitions": [{"partition_index": partition, "error_code": code}]}]
    return answered("txn_offset_commit", body, t, None if code is None else {"topics": answers})


def write(t: float, offset: int, code: int | None = 0, partition: int = 0, epoch: int = 0, id: int = 7) -> Sent:
    """Write a batch whose base offset is `offset`."""
    records = [{"offset": 0, "key": None, "value": "v", "producer_id": id, "producer_epoch": epoch}]
    data = [{"index": partition, "records": records}]
    body = {"transactional_id": "x", "acks": -1, "topic_data": [{"name": "a", "partition_data": data}]}
    answers = [{"index": partition, "error_code": code, "base_offset": offset if code == 0 else -1}]
    response = {"responses": [{"name": "a", "partition_responses": answers}]}
    return answered("produce", body, t, None if code is None else response)


def end(t: float, *, commit: bool = True, code: int | None = 0, id: str = "x") -> Sent:
    body = {**PRODUCER, "transactional_id": id, "committed": commit}
    return answered("end_txn", body, t, None if code is None else {"error_code": code})
