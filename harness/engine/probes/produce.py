"""Single records, straight to a named node: what no ordinary client can be made to do.

Each is journalled as a `send` as well, so that the oracle of the workload holds the cluster to what it acknowledged.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

from kio.records.schema import NewRecordBatch, Record
from kio.records.writers import write_batch
from kio.schema.errors import ErrorCode
from kio.schema.produce.v9.request import PartitionProduceData, ProduceRequest, TopicProduceData
from kio.schema.produce.v9.response import ProduceResponse
from kio.schema.types import TopicName
from kio.static.primitive import Records, TZAwareMicros, i8, i16, i32, i32Timedelta, i64

from harness.clients.raw import NoAnswer, RawConnection
from harness.engine.probes.answer import Answer, Outcome, answered
from harness.plan.base import Acks
from results.records.journal import JournalWriter

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
"""After any other error, or none at all, the record may be in the log."""
WHILE_IT_WAITED = frozenset(
    {ErrorCode.unknown_topic_or_partition, ErrorCode.not_leader_or_follower, ErrorCode.fenced_leader_epoch}
)
"""At acks=all these may come after the append, too: the leader was deposed while the record waited."""


def send_record(
    connection: RawConnection,
    journal: JournalWriter,
    *,
    process: str,
    number: int,
    topic: str,
    partition: int,
    acks: Acks,
    timeout_ms: int,
) -> Answer:
    """One record in one batch. `raw.NoAnswer` if there is no answer; at acks 0 there never is: `unanswered`."""
    value = f"{process}-{number}"
    data: dict[str, object] = {"process": process, "f": "send", "topic": topic, "partition": partition}
    sent = {"value": value, "acks": str(acks), "idempotent": False}
    journal.write("op", f"send-{value}", "invoke", data | sent)
    request = _request(topic, partition, acks, timeout_ms, value)
    try:
        if acks == 0:
            connection.send(request)
            journal.write("op", f"send-{value}", "info", data | {"error": "acks 0 has no answer"})
            return Answer(Outcome.UNANSWERED, None, {"value": value})
        answer = connection.call(request, ProduceResponse, timeout_ms / 1000)
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


def _request(topic: str, partition: int, acks: Acks, timeout_ms: int, value: str) -> ProduceRequest:
    records = Records(_batch(value.encode()))
    return ProduceRequest(
        acks=i16(-1 if acks == "all" else acks),
        timeout=i32Timedelta.parse(timedelta(milliseconds=timeout_ms)),
        topic_data=(
            TopicProduceData(
                name=TopicName(topic),
                partition_data=(PartitionProduceData(index=i32(partition), records=records),),
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
