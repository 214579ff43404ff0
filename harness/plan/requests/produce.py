"""Produce single records to a named node, which an ordinary client cannot be made to do.

Each is journalled as a `send` as well, so that the checkers hold the cluster to what it acknowledged.
"""

from __future__ import annotations

from typing import Literal

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, ProbeOutcome, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import Acks
from fencepost.harness.plan.requests.request import OfPartition
from fencepost.harness.wire.no_answer import NoAnswer
from fencepost.harness.wire.versions import PRODUCE
from fencepost.results.records.journal import JournalWriter

WITH_BATCHES = 3
"""The first version of Produce that takes record batches (magic 2)."""
REFUSED_BEFORE_APPEND = frozenset(
    {
        "unknown_topic_or_partition",
        "leader_not_available",
        "not_leader_or_follower",
        "broker_not_available",
        "replica_not_available",
        "not_enough_replicas",
        "invalid_required_acks",
        "fenced_leader_epoch",
        "stale_broker_epoch",
        "unsupported_version",
    }
)
"""Errors after which the record is certainly not in the log; after any other, or without an answer, it may be."""
WHILE_IT_WAITED = frozenset({"unknown_topic_or_partition", "not_leader_or_follower", "fenced_leader_epoch"})
"""At acks=all these errors may come after the append, too: the leader was deposed while the record waited."""


class ProduceProbe(OfPartition):
    """One record, sent directly to this node. With acks 0 there is no response: the outcome is `unanswered`."""

    phrase = "Produce to {node} directly, acks={acks}"
    harmless = True
    listener = Listener.CLIENT
    sends = ("produce",)
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
    from fencepost.harness.wire.record_sets import (
        batch,
        message_set,
    )  # loads kio, which a reader of plans does not need

    old = connection.newest_version(PRODUCE) < WITH_BATCHES
    value = f"{process}-{number}"
    data: dict[str, object] = {"process": process, "f": "send", "topic": topic, "partition": partition}
    sent = {"value": value, "acks": str(acks), "idempotent": False}
    journal.write("op", f"send-{value}", "invoke", data | sent)
    records = (message_set if old else batch)(value.encode())
    of_topic = {"name": topic, "partition_data": [{"index": partition, "records": records}]}
    body = {"acks": -1 if acks == "all" else acks, "timeout": timeout_ms, "topic_data": [of_topic]}
    request, response = PRODUCE.prepared(connection, body)
    try:
        if acks == 0:
            connection.send(request)
            journal.write("op", f"send-{value}", "info", data | {"error": "acks 0 has no answer"})
            return ProbeAnswer(ProbeOutcome.UNANSWERED, None, {"value": value})
        answer = connection.call(request, response, timeout_ms / 1000)
    except NoAnswer as error:
        journal.write("op", f"send-{value}", "info", data | {"error": str(error)})
        raise
    found = answer.responses[0].partition_responses[0]
    if not found.error_code:
        journal.write("op", f"send-{value}", "ok", data | {"offset": found.base_offset})
    else:
        certain = REFUSED_BEFORE_APPEND - (WHILE_IT_WAITED if acks == "all" else frozenset())
        phase = "fail" if found.error_code.name in certain else "info"
        journal.write(
            "op", f"send-{value}", phase, data | {"error": found.error_code.name, "code": found.error_code.value}
        )
    return answered(found.error_code, value=value, offset=found.base_offset)
