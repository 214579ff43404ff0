"""The cluster has no active controller for longer than a lease."""

from __future__ import annotations

from fencepost.suites import vocabulary as v


@v.scenario(
    "quorum-lost", "Without a controller quorum every broker fences itself, and returns with the quorum", seconds=12
)
def build(draft: v.Draft) -> v.Plan:
    """Two of three controllers die, so that nothing can be committed and no lease renewed."""
    leader, *followers = draft.roles
    # So long that no broker gives up an answer that has its new epoch, also on a busy machine.
    draft = draft.timed(request_ms=10 * v.Timing().request_ms)
    serves_on = draft.target.unless("AK-05", v.never_serves("K631-31", "K631-30", "K631-32"), v.serves("K631-31"))
    after = v.After(event="lost.proven", plus_ms=draft.timing.lease_ms)
    steps: list[v.Step] = [
        v.inject("lost", v.KillParameters(nodes=("node-1", "node-2"))),
        v.Hold(as_="leases-over", after="lost.proven", ms=draft.timing.lease_ms),
        *v.service_probes("leader", leader, serves_on, after=after),
        *(
            v.MetadataProbe(as_=f"metadata-{follower}", node=follower, topic="t", after=after, expect=serves_on)
            for follower in followers
        ),
        v.Heal(as_="restart", fault="lost"),
        *_granted_anew(draft.target, (leader, *followers)),
    ]
    return draft.plan(steps, "leader-produce", f"metadata-{followers[-1]}", v.acknowledged("restart.ended"))


def _granted_anew(target: v.TargetFacts, brokers: tuple[str, ...]) -> list[v.Step]:
    """Each broker has reported that its lease ran out, and uses the epoch that it was granted: no other has its id."""
    if target.dialect is not v.Dialect.KIP_631:
        return []
    returned = [
        v.BrokerActive(as_=f"active-{broker}", node=broker, expect=v.must("K631-44", "D631-06")) for broker in brokers
    ]
    refused = [
        v.Logged(
            as_=f"refused-{broker}",
            node=broker,
            says="another process holds its broker id",
            after=v.After(event="lost.proven"),
            within_ms=300,
            expect=v.never("D631-08"),
        )
        for broker in brokers
    ]
    return [*returned, *refused]
