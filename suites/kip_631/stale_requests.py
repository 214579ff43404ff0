"""Heartbeats, ISR changes and fetches with stale epochs are refused and change nothing."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

FOREIGN_CLUSTER = "Zm9yZWlnbi1jbHVzdGVyLQ"
AHEAD = 1000
"""A leader epoch that no partition of a short run reaches."""
LEASE_MS = 6000
"""Longer than an election on a busy machine, too, so that the leases of the brokers outlive the failover."""


@v.scenario("stale-requests", "Stale heartbeats, ISR changes and fetches are refused and change nothing", seconds=12)
def build(draft: v.Draft) -> v.Plan:
    """First the epochs move, so that each later request was valid once."""
    target = draft.target
    deposed = draft.leader
    steps: list[v.Step] = [
        v.Bind(as_="old-broker-epoch", value=f"broker-epoch:{deposed}"),
        v.Bind(as_="old-leader-epoch", value="leader-epoch:t-0"),
        v.inject("away", v.CutParameters(from_=deposed, to="controllers")),
        v.LeaderIs(as_="moved", partition="t-0", is_not=deposed, expect=v.must("D631-07")),
        _alter_isr("fenced-member", v.answers("D631-20", "error:107"), isr=tuple(map(v.node_name, v.BROKER_IDS))),
        v.Heal(as_="mend", fault="away"),
        v.BrokerActive(as_="returned", node=deposed, expect=v.must("K631-44")),
        v.Converged(as_="settled", expect=v.must("LIVE-01")),
        *_requests("", target, deposed),
        *_misdirected(target, deposed),
        v.Bind(as_="old-active", node="active-controller"),
        v.inject("failover", v.KillParameters(nodes="$old-active")),
        v.ActiveController(as_="elected", is_not="$old-active", expect=v.must("LIVE-02")),
        v.TopicCreatedThrough(as_="working-again", node=deposed, expect=v.must("LIVE-02")),
        *_requests("again-", target, deposed),
    ]
    return draft.timed(lease_ms=LEASE_MS).plan(
        steps, "fenced-member", "fetch-ahead", "again-fetch-ahead", "again-foreign-vote"
    )


def _misdirected(target: v.TargetFacts, broker: str) -> list[v.Step]:
    """Send a valid heartbeat to a broker in place of a controller. Shipped Kafka's brokers do not know the request."""
    if target.dialect is not v.Dialect.KIP_631:
        return []
    return [_heartbeat("not-a-controller", broker, broker, v.answers("K631-58", "error:41"))]


def _heartbeat(name: str, node: str, broker: str, expect: v.ExpectOutcome, epoch: v.Value = "current") -> v.Step:
    return v.HeartbeatProbe(
        as_=name, node=node, broker=broker, broker_epoch=epoch, expect=expect, unchanged=("brokers", "t-0")
    )


def _requests(prefix: str, target: v.TargetFacts, deposed: str) -> list[v.Step]:
    """Send requests that are wrong in one way each. With AK-03 a fence keeps the broker epoch; one below is stale."""
    old_epoch: v.Value = "stale" if target.differs("AK-03") else "$old-broker-epoch"

    def refused(
        name: str,
        error: int,
        *,
        broker: str = "leader:t-0",
        epoch: v.Value = "current",
        leader_term: v.Value = "current",
    ) -> v.AlterIsrProbe:
        return _alter_isr(
            f"{prefix}{name}",
            v.answers("D631-20", f"error:{error}", "ISR-04"),
            broker=broker,
            broker_epoch=epoch,
            leader_epoch=leader_term,
        )

    def fetch(name: str, requirement: str, outcome: str, *, epoch: v.Value = "current", leader_term: v.Value) -> v.Step:
        return v.ReplicaFetchProbe(
            as_=f"{prefix}fetch-{name}",
            node="leader:t-0",
            topic="t",
            broker=deposed,
            broker_epoch=epoch,
            leader_epoch=leader_term,
            expect=v.answers(requirement, outcome),
            unchanged=("t-0",),
        )

    return [
        _heartbeat(f"{prefix}heartbeat", "active-controller", deposed, v.answers("D631-19", "error:77"), old_epoch),
        refused("broker-epoch", 77, epoch="stale"),
        refused("leader-ahead", 41, leader_term=AHEAD),
        refused("leader-behind", 74, leader_term="$old-leader-epoch"),
        refused("not-leader", 42, broker=deposed),
        _alter_isr(f"{prefix}version-behind", v.answers("D631-20", "error:95", "D631-17"), version="stale"),
        _alter_isr(f"{prefix}without-leader", v.answers("D631-20", "error:42"), isr="followers:t-0"),
        fetch("broker-epoch", "D631-16", "refused", epoch=old_epoch, leader_term="current"),
        fetch("behind", "D631-21", "error:74", leader_term="$old-leader-epoch"),
        fetch("ahead", "D631-21", "error:75", leader_term=AHEAD),
        v.VoteProbe(
            as_=f"{prefix}foreign-vote",
            node="active-controller",
            candidate="active-controller",
            epoch="current",
            cluster=FOREIGN_CLUSTER,
            expect=v.answers("CTRL-06", "error:104", "D631-35"),
            unchanged=("t-0", "brokers"),
        ),
    ]


def _alter_isr(
    name: str,
    expect: v.ExpectOutcome,
    *,
    broker: str = "leader:t-0",
    broker_epoch: v.Value = "current",
    leader_epoch: v.Value = "current",
    version: v.Value = "current",
    isr: v.NodeRefs | None = None,
) -> v.AlterIsrProbe:
    return v.AlterIsrProbe(
        as_=name,
        node="active-controller",
        topic="t",
        broker=broker,
        broker_epoch=broker_epoch,
        leader_epoch=leader_epoch,
        version=version,
        isr=isr,
        expect=expect,
        unchanged=("t-0", "brokers"),
    )
