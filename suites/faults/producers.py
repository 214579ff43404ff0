"""The last batches of an idempotent producer, which a leader knows once it has restarted."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

TOPIC = "r"
"""The topic of one replica: its leader leads again after the restart."""
EPOCH = 0


@v.fault_scenario(
    "batches-retried", "A leader that restarted knows the last batches of an idempotent producer", seconds=10
)
def retried(draft: v.Draft) -> v.Plan:
    """A leader appends two batches of a producer and is killed before the producer hears of them.

    The producer has to send both again. Each is in the log, and among the last five that a leader remembers.
    """
    leader, *others = draft.roles
    steps: list[v.Step] = [
        v.producer_id_given(leader, v.serves("CRD-05")),
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


def _batch(name: str, broker: str, sequence: int, expect: v.ExpectOutcome, *, within_ms: int = 0) -> v.ApiProbe:
    """Produce the batch of one record with this sequence number, at acks=all."""
    producer = {"producer_id": "$id", "producer_epoch": EPOCH, "base_sequence": sequence}
    records = [{"value": f"r-{sequence}"}]
    return v.produced(name, broker, TOPIC, records, producer=producer, within_ms=within_ms, expect=expect)
