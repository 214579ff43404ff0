"""Produce single records to a named node, which an ordinary client cannot be made to do.

Each is journalled as a `send` as well, so that the checkers hold the cluster to what it acknowledged.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any, Literal

from kio.records.schema import NewRecordBatch, Record
from kio.records.writers import write_batch
from kio.schema.errors import ErrorCode
from kio.schema.types import TopicName
from kio.static.primitive import Records, TZAwareMicros, i8, i16, i32, i64

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, ProbeOutcome, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import Acks
from fencepost.harness.plan.requests.request import OfPartition, milliseconds
from fencepost.harness.wire.no_answer import NoAnswer
from fencepost.harness.wire.old_requests import message_set
from fencepost.harness.wire.versions import PRODUCE
from fencepost.results.records.journal import JournalWriter

WITH_BATCHES = 3
"""The first version of Produce that takes record batches (magic 2)."""
REFUSED_BEFORE_APPEND = frozenset(
    {
        ErrorCode.unknown_topic_or_partition,
        ErrorCode.leader_not_available,
        ErrorCode.not_leader_or_follower,
        ErrorCode.broker_not_available,
        ErrorCode.replica_not_available,
        ErrorCode.not_enough_replicas,
        ErrorCode.invalid_required_acks,
        ErrorCode.fenced_leader_epoch,
        ErrorCode.stale_broker_epoch,
        ErrorCode.unsupported_version,
    }
)
"""Errors after which the record is certainly not in the log; after any other, or without an answer, it may be."""
WHILE_IT_WAITED = frozenset(
    {ErrorCode.unknown_topic_or_partition, ErrorCode.not_leader_or_follower, ErrorCode.fenced_leader_epoch}
)
"""At acks=all these errors may come after the append, too: the leader was deposed while the record waited."""


class ProduceProbe(OfPartition):
    """One record, sent directly to this node. With acks 0 there is no response: the outcome is `unanswered`."""

    phrase = "Produce to {node} directly, acks={acks}"
    listener = Listener.CLIENT
    request: Literal["produce"] = "produce"
    acks: Acks = 1

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        return send_record(
            connection,
            run.journal,
            process=run.step,
            number=run.nth,
            topic=self.topic,
            partition=self.partition,
            acks=self.acks,
            timeout_ms=self.timeout_ms,
        )


def send_record(
    connection: Connection,
    journal: JournalWriter,
    *,
    process: str,
    number: int,
    topic: str,
    partition: int,
    acks: Acks,
    timeout_ms: int,
) -> ProbeAnswer:
    """Send one record in one batch. Raise NoAnswer without an answer; at acks 0 it is always `unanswered`."""
    api = connection.newest(PRODUCE)
    value = f"{process}-{number}"
    data: dict[str, object] = {"process": process, "f": "send", "topic": topic, "partition": partition}
    sent = {"value": value, "acks": str(acks), "idempotent": False}
    journal.write("op", f"send-{value}", "invoke", data | sent)
    request = _request(api, topic, partition, acks, timeout_ms, value)
    try:
        if acks == 0:
            connection.send(request)
            journal.write("op", f"send-{value}", "info", data | {"error": "acks 0 has no answer"})
            return ProbeAnswer(ProbeOutcome.UNANSWERED, None, {"value": value})
        answer = connection.call(request, api.ProduceResponse, timeout_ms / 1000)
    except NoAnswer as error:
        journal.write("op", f"send-{value}", "info", data | {"error": str(error)})
        raise
    found = answer.responses[0].partition_responses[0]
    if found.error_code is ErrorCode.none:
        journal.write("op", f"send-{value}", "ok", data | {"offset": found.base_offset})
    else:
        certain = REFUSED_BEFORE_APPEND - (WHILE_IT_WAITED if acks == "all" else frozenset())
        phase = "fail" if found.error_code in certain else "info"
        journal.write(
            "op", f"send-{value}", phase, data | {"error": found.error_code.name, "code": found.error_code.value}
        )
    return answered(found.error_code, value=value, offset=found.base_offset)


def _request(api: Any, topic: str, partition: int, acks: Acks, timeout_ms: int, value: str) -> Any:
    old = api.ProduceRequest.__version__ < WITH_BATCHES
    records = Records((message_set if old else _batch)(value.encode()))
    return api.ProduceRequest(
        acks=i16(-1 if acks == "all" else acks),
        timeout=milliseconds(timeout_ms),
        topic_data=(
            api.request.TopicProduceData(
                name=TopicName(topic),
                partition_data=(api.request.PartitionProduceData(index=i32(partition), records=records),),
            ),
        ),
    )


def _batch(value: bytes) -> bytes:
    record = Record(
        attributes=i8(0),
        timestamp=TZAwareMicros.parse(datetime.now(UTC).replace(microsecond=0)),
        offset=i64(0),
        key=None,
        value=value,
        headers=(),
    )
    batch = NewRecordBatch(
        producer_id=i64(-1), producer_epoch=i16(-1), base_sequence=i32(-1), records=(record,), attributes=i16(0)
    )
    out = io.BytesIO()
    write_batch(out, batch)
    return out.getvalue()
