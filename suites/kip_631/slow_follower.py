"""Slow followers leave the ISR; below min.insync.replicas no produce at acks=all is acknowledged."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

LAG_MS = 4000
"""So long that a follower that stalls is in the ISR while a request is sent and answered."""


def build(draft: v.Draft) -> v.Plan:
    leader, first, second = draft.roles
    steps = [
        *v.setup(leader),
        v.inject("stall-first", v.StallParameters(from_=first, to=leader)),
        # Until it leaves the ISR, nothing is acknowledged that it lacks.
        v.ProduceProbe(
            as_="unheard", node=leader, topic="t", acks="all", timeout_ms=LAG_MS // 4, expect=v.never_serves("HW-02")
        ),
        v.IsrIs(as_="first-leaves", partition="t-0", is_=(leader, second), expect=v.must("ISR-05")),
        v.WorkloadAcks(as_="two-are-enough", more=20, expect=v.must("ISR-05")),
        v.inject("stall-second", v.StallParameters(from_=second, to=leader)),
        v.IsrIs(as_="second-leaves", partition="t-0", is_=leader, expect=v.must("ISR-05")),
        v.logs_sole_isr("adopted", leader, "t-0", since="stall-second.injected"),
        v.ProduceProbe(
            as_="too-few",
            node=leader,
            topic="t",
            acks="all",
            repeat=3,
            after=v.After(event="adopted.ended"),
            expect=v.answers("ISR-08", "error:[19, 20]"),
        ),
        v.Heal(as_="mend-second", fault="stall-second"),
        v.IsrIs(as_="second-returns", partition="t-0", has=second, expect=v.must("ISR-06")),
        v.WorkloadAcks(as_="two-again", more=20, expect=v.must("LIVE-03")),
        v.Heal(as_="mend-first", fault="stall-first"),
        v.IsrIs(as_="first-returns", partition="t-0", is_=(leader, first, second), expect=v.must("ISR-06")),
        *v.teardown(),
    ]
    return draft.timed(lag_ms=LAG_MS).plan(
        steps, v.StepDone(step="too-few"), v.acknowledged("first-leaves.ended", before="stall-second.injected")
    )


def lone_record(draft: v.Draft) -> v.Plan:
    """A client waits for one record, and the only other replica stalls. It leaves the ISR, and the record is committed:
    no later record moves the high watermark (KAFKA-13091)."""
    leader, slow, other = draft.roles
    waits = v.ProducerSpec(name="p1", topic="t", rate=20, in_flight=1)
    steps = [
        *v.setup(leader),
        v.inject("stall", v.StallParameters(from_=slow, to=leader)),
        v.IsrIs(as_="leaves", partition="t-0", is_=leader, expect=v.must("ISR-05")),
        v.WorkloadAcks(as_="committed", more=5, expect=v.must("ISR-05")),
        v.Heal(as_="mend", fault="stall"),
        v.IsrIs(as_="returns", partition="t-0", has=slow, expect=v.must("ISR-06")),
        *v.teardown(),
    ]
    return draft.plan(
        steps,
        v.StepDone(step="leaves"),
        v.StepDone(step="returns"),
        topology=v.smallest_cluster(draft.target, other),
        topics=[v.topic([leader, slow], min_isr=1)],
        workload=v.WorkloadSpec(producers=(waits,), consumers=v.WORKLOAD.consumers),
    )


SCENARIOS = (
    v.Scenario(
        slug="lone-record-after-a-shrink",
        title="A record that waits for a stalled replica is committed once that leaves the ISR, without a later record",
        requirements=("ISR-05", "ISR-06", "LIVE-01", "LIVE-03"),
        needs=frozenset({v.Capability.LINKS}),
        seconds=12,
        build=lone_record,
        dialects=v.ALL_DESIGNS,
    ),
    v.Scenario(
        slug="slow-follower",
        title="A follower whose link stalls leaves the ISR and returns; below min.insync.replicas produce is refused",
        requirements=("HW-02", "ISR-05", "ISR-06", "ISR-08", "LIVE-01", "LIVE-03"),
        needs=frozenset({v.Capability.LINKS}),
        seconds=16,
        build=build,
        dialects=v.ALL_DESIGNS,
    ),
)
