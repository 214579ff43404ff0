"""The last batches of an idempotent producer, which a leader knows once it has restarted."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

TOPIC = "r"
"""The topic of one replica: its leader leads again after the restart."""
EPOCH = 0
NO_ID = -1
ANSWER_MS = 5000


@v.fault_scenario(
    "batches-retried", "A leader that restarted knows the last batches of an idempotent producer", seconds=10
)
def retried(draft: v.Draft) -> v.Plan:
    """A leader appends two batches of a producer and is killed before the producer hears of them.

    The producer has to send both again. Each is in the log, and among the last five that a leader remembers.
    """
    leader, *others = draft.roles
    steps: list[v.Step] = [
        _id(leader),
        _batch("first", leader, 0, v.serves("CRD-06")),
        _batch("second", leader, 1, v.serves("CRD-06")),
        _batch("first-retried", leader, 0, v.serves("CRD-06")),
        v.inject("crash", v.KillParameters(nodes=leader)),
        v.Heal(as_="restart", fault="crash"),
        v.LeaderIs(as_="leads-again", partition=f"{TOPIC}-0", is_=leader, expect=v.must("LIVE-01")),
        _batch("second-after", leader, 1, v.serves("CRD-06"), within_ms=v.LIVENESS_TIMEOUT_MS),
        _batch("first-after", leader, 0, _of_an_earlier_batch(draft.target)),
    ]
    if draft.target.lacks("idempotence"):
        steps = [step for step in steps if not isinstance(step, v.ApiProbe)]
    return draft.plan(steps, "whole", topics=[v.topic([leader, *others]), v.topic([leader], name=TOPIC, min_isr=1)])


def _of_an_earlier_batch(target: v.TargetFacts) -> v.ExpectOutcome:
    """Return the claim about the batch before the last one, which shipped Kafka forgets in a restart."""
    expect, forgotten = v.serves("CRD-06"), v.answers("CRD-06", "error:45")
    return target.unless("AZ-06", target.unless("AK-13", expect, forgotten), forgotten)


def _id(broker: str) -> v.ApiProbe:
    body = {"transactional_id": None, "transaction_timeout": 60_000, "producer_id": NO_ID, "producer_epoch": NO_ID}
    return v.ApiProbe(
        as_="id",
        node=broker,
        api="init_producer_id",
        version=4,
        body=body,
        timeout_ms=ANSWER_MS,
        within_ms=v.LIVENESS_TIMEOUT_MS,
        binds={"id": "producer_id"},
        expect=v.serves("CRD-05"),
    )


def _batch(name: str, broker: str, sequence: int, expect: v.ExpectOutcome, *, within_ms: int = 0) -> v.ApiProbe:
    """Produce the batch of one record with this sequence number, at acks=all."""
    batch = {
        "records": [{"value": f"r-{sequence}"}],
        "producer_id": "$id",
        "producer_epoch": EPOCH,
        "base_sequence": sequence,
    }
    topic = {"name": TOPIC, "partition_data": [{"index": 0, "records": batch}]}
    body = {"transactional_id": None, "acks": -1, "timeout": ANSWER_MS, "topic_data": [topic]}
    return v.ApiProbe(
        as_=name,
        node=broker,
        api="produce",
        version=9,
        body=body,
        timeout_ms=ANSWER_MS,
        within_ms=within_ms,
        expect=expect,
    )
