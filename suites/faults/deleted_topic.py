"""A topic is deleted while a broker is away."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

KEPT_MS = 10_000
"""For how long a target that keeps a deleted topic is watched."""


@v.fault_scenario(
    "deleted-while-away",
    "A broker that was away while a topic was deleted agrees with all others again",
    seconds=20,
    dialects=v.ALL_DESIGNS,
)
def build(draft: v.Draft) -> v.Plan:
    """A broker without a replica of a topic is given up while the topic is deleted, and agrees with all others again.

    The creation at the end is for a target that keeps the topic (AZ-07): it takes the place of what the broker has.
    """
    target = draft.target
    leader, away, other = draft.roles
    through = "active-controller" if target.uses_zookeeper and not target.leader_driven else other
    served = v.serves("LIVE-04")
    given_up = v.must(target.rule("K631-43", "INT-43", "LD-10"))
    left: list[v.Step] = [v.BrokerFenced(as_="left", node=away, expect=given_up)]
    deleted: list[v.Step] = []
    if target.uses_zookeeper:
        left = [v.Registered(as_="left", node=away, is_=False, expect=given_up)]
        deleted = [v.znode_absent("deleted", "/brokers/topics/gone", v.must("ADM-05"))]
    steps: list[v.Step] = [
        v.inject("alone", v.CutParameters(from_=away, to="zookeeper" if target.uses_zookeeper else "controllers")),
        *left,
        v.DeleteTopicProbe(as_="delete", node=through, topic="gone", timeout_ms=10_000, expect=served),
        *deleted,
        v.Heal(as_="mend", fault="alone"),
        v.BrokerActive(as_="returned", node=away, expect=v.must(target.rule("K631-44", "INT-51", "DLD-16"))),
        v.Converged(
            as_="agree",
            within_ms=KEPT_MS if target.differs("AZ-07") else v.LIVENESS_TIMEOUT_MS,
            expect=target.unless("AZ-07", v.must("META-01"), v.never("META-01")),
        ),
        v.CreateTopicProbe(as_="again", node=through, topic="gone", replicas=2, timeout_ms=10_000, expect=served),
    ]
    topics = [v.topic(draft.roles), v.topic([leader, other], name="gone")]
    return draft.plan(steps, "again", topics=topics)
