"""Slow followers leave the ISR; below min.insync.replicas no produce at acks=all is acknowledged."""

from __future__ import annotations

from fencepost.suites import vocabulary as v


@v.scenario(
    "slow-follower",
    "A follower whose link stalls leaves the ISR and returns; below min.insync.replicas produce is refused",
    seconds=16,
    dialects=v.ALL_DESIGNS,
)
def slow_follower(draft: v.Draft) -> v.Plan:
    return v.followers_leave_and_return(draft)


@v.scenario(
    "lone-record-after-a-shrink",
    "A record that waits for a stalled replica is committed once that leaves the ISR, without a later record",
    seconds=12,
    dialects=v.ALL_DESIGNS,
)
def lone_record(draft: v.Draft) -> v.Plan:
    """A client waits for one record, and the only other replica stalls. It leaves the ISR, and the record is committed:
    no later record moves the high watermark (KAFKA-13091)."""
    leader, slow, _ = draft.roles
    waits = v.ProducerSpec(name="p1", topic="t", rate=20, in_flight=1)
    steps: list[v.Step] = [
        v.inject("stall", v.StallParameters(from_=slow, to=leader)),
        v.IsrIs(as_="leaves", partition="t-0", is_=leader, expect=v.must("ISR-05")),
        v.WorkloadAcks(as_="committed", more=5, expect=v.must("ISR-05")),
        v.Heal(as_="mend", fault="stall"),
        v.IsrIs(as_="returns", partition="t-0", has=slow, expect=v.must("ISR-06")),
    ]
    return draft.plan(
        steps,
        "leaves",
        "returns",
        topics=[v.topic([leader, slow], min_isr=1)],
        workload=v.WorkloadSpec(producers=(waits,), consumers=v.WORKLOAD.consumers),
    )
