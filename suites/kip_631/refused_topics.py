"""Topics that the controller has to refuse: it answers, and goes on in office."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

TIMES = 3


@v.scenario("refused-topics", "A controller that refuses topics goes on in office", seconds=8)
def build(draft: v.Draft) -> v.Plan:
    """Nothing else happens, so that a controller that leaves its office does so for the requests (KAFKA-14996)."""
    leader = draft.leader
    steps: list[v.Step] = [
        _create("exists", leader, "error:36", topic="t"),
        _create("too-many-replicas", leader, "error:38", topic="wide", replicas=len(v.BROKER_IDS) + 1),
        _create("no-name", leader, "error:17", topic="no/name"),
        v.DeleteTopicProbe(
            as_="unknown",
            node=leader,
            topic="unknown",
            repeat=TIMES,
            timeout_ms=5000,
            expect=v.answers("ADM-02", "error:3"),
        ),
        v.TopicCreatedThrough(as_="goes-on", node=leader, expect=v.must("LIVE-02")),
    ]
    return draft.plan(steps, "unknown", v.acknowledged("unknown.ended"))


def _create(name: str, broker: str, outcome: str, **topic: object) -> v.Step:
    return v.CreateTopicProbe.model_validate(
        {
            "as": name,
            "node": broker,
            "repeat": TIMES,
            "timeout_ms": 5000,
            "expect": v.answers("ADM-02", outcome),
            **topic,
        }
    )
