"""Failovers so fast that a replica leads before it has heard of what its predecessor wrote."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

BEFORE = 40
"""Records that all replicas have."""
AHEAD, ALONE = 10, 5
"""Records that the first leader and one follower hold, and those that the next leader takes at the same offsets."""
LAG_MS = 20_000
"""Long enough that the stalls of this scenario drop no replica from the ISR."""


@v.fault_scenario(
    "terms-unheard",
    "Two replicas that led in turn without hearing of each other have the same log in the end",
    seconds=20,
    dialects=frozenset({v.Dialect.KIP_631}),
)
def build(draft: v.Draft) -> v.Plan:
    """Two replicas hold other records at the same offsets, each of an epoch that the other lacks (KIP-279).

    A leader that holds fewer records than a follower takes records alone, and that follower leads before it heard of
    them. Until the returning one is back in the ISR the last leader takes no record: its epoch has none (KAFKA-7415).
    """
    target = draft.target
    first, between, last = draft.roles
    moved = v.must(target.rule("D631-07", "INT-28", "LD-31"))
    steps: list[v.Step] = [
        v.burst("before", "u", BEFORE, idempotent=False),
        v.inject("behind", v.StallParameters(from_=between, to=first)),
        v.Produce(as_="ahead", topic="u", node=first, acks=1, records=AHEAD, expect=v.serves("LIVE-03")),
        v.LogEnd(as_="held", node=last, partition="u-0", is_=BEFORE + AHEAD),
        v.inject("unheard", v.CutParameters(from_=last, to=between)),
        v.inject("dies", v.KillParameters(nodes=first)),
        v.LeaderIs(as_="moved", partition="u-0", is_=between, expect=moved),
        _knows(target, "known", between, "u", between),
        v.Produce(as_="alone", topic="u", node=between, acks=1, records=ALONE, expect=v.serves("LIVE-03")),
        v.inject("silent", v.CutParameters(from_=between, to=v.lease_sources(target))),
        v.LeaderIs(as_="moved-on", partition="u-0", is_=last, expect=moved),
        _knows(target, "known-last", last, "u", last),
        v.Heal(as_="heard", fault="silent"),
        v.BrokerActive(as_="returned", node=between, expect=v.must(target.rule("K631-44", "INT-51", "DLD-16"))),
        v.IsrIs(as_="rejoined", partition="u-0", has=between, expect=v.must("HW-04")),
        v.burst("committed", "u", 20, idempotent=False),
        v.inject("dies-too", v.KillParameters(nodes=last)),
        v.LeaderIs(as_="leads-again", partition="u-0", is_=between, expect=v.must("ISR-06")),
    ]
    return draft.timed(lag_ms=LAG_MS).plan(
        steps,
        v.Acknowledged(by="ahead", acks=1, before="dies.injected"),
        v.Acknowledged(by="alone", acks=1, after="moved.ended"),
        v.acknowledged("rejoined.ended", by="committed"),
        topics=[v.topic([first, between, last], name="u", min_isr=1)],
        workload=None,
        afterwards=[v.burst("after", "u", 10, idempotent=False)],
    )


def _knows(target: v.TargetFacts, as_: str, broker: str, topic: str, leader: str) -> v.Step:
    return v.learns_leader(as_, broker, f"{topic}-0", leader, v.must(target.rule("D631-07", "INT-28", "LD-31")))
