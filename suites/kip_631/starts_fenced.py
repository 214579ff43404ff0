"""A broker that has just started answers no client before it is admitted."""

from __future__ import annotations

from fencepost.suites import vocabulary as v


@v.scenario(
    "starts-fenced", "A broker starts fenced and serves only once it is admitted", seconds=9, dialects=v.ALL_DESIGNS
)
def build(draft: v.Draft) -> v.Plan:
    """The new broker is cut off at first, so that its first state can be observed for as long as needed."""
    target = draft.target
    leader, follower, new_broker = draft.roles
    admits = target.rule("K631-34", "K343-32" if target.has_kip_343 else "INT-25", "LD-27")
    steps: list[v.Step] = [
        v.inject("cut", v.CutParameters(from_=new_broker, to=_admitted_by(target, follower))),
        v.Start(as_="start", nodes=new_broker, until="running"),
        *v.service_probes("unregistered", new_broker, _unregistered(target), repeat=4),
        v.MetadataFrom(as_="unseen", node=leader, lacks=new_broker, expect=v.must(admits)),
        v.Heal(as_="mend", fault="cut"),
        v.BrokerActive(as_="active", node=new_broker, expect=v.must(admits, "K631-26")),
        v.MetadataProbe(as_="registered", node=new_broker, topic="t", expect=v.serves(admits, "K631-42")),
        v.TopicCreatedThrough(as_="useful", node=new_broker, expect=v.must("LIVE-01")),
    ]
    return draft.plan(
        steps,
        "unregistered-produce",
        "registered",
        topology=v.smallest_cluster(target, follower, held_back=[new_broker]),
        topics=[v.topic([leader, follower])],
    )


def _admitted_by(target: v.TargetFacts, controller: str) -> str:
    """Return the nodes that admit a broker: with heartbeats the controller, even if the broker registers earlier."""
    if not target.uses_zookeeper:
        return "controllers"
    return controller if target.has_kip_343 else "zookeeper"


def _unregistered(target: v.TargetFacts) -> v.ExpectOutcome:
    rule = target.rule("K631-33", "D343-07" if target.has_kip_343 else "INT-50", "DLD-49")
    return v.never_serves(rule, "D631-09")
