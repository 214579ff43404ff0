"""The answer to a follower's request of an earlier leader term comes when that term is long over."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

BEFORE, DURING = 20, 20
"""Records before the request that is answered late, and those that are committed after it."""
LAG_MS = 20_000
"""Long enough that no stall of the scenario drops a replica from the ISR, and that no follower gives a request up."""
PREFERRED = 0
"""The election type of ElectLeaders (KIP-460)."""


@v.fault_scenario(
    "earlier-answer",
    "A follower cuts nothing by an answer of an earlier leader term",
    seconds=18,
    dialects=v.WITHOUT_ZOOKEEPER | v.ZOOKEEPER_MODE,
)
def build(draft: v.Draft) -> v.Plan:
    """Leadership moves away and back twice, and all that a follower asked in the second term is answered in the fourth.

    The answer says where the logs differed then. Since then the follower has taken more records, which were
    acknowledged: it may cut none of them (KAFKA-18991), and leads next.
    """
    target = draft.target
    leader, other, follower = draft.roles
    moved = target.rule("D631-07", "INT-28", "LD-31")
    steps: list[v.Step] = [
        v.burst("before", "u", BEFORE),
        # The follower has another partition of this leader, so that it keeps the connection.
        v.inject("late", v.StallParameters(from_=follower, to=leader, streams="replies")),
        *_move(target, 1, (other, leader, follower)),
        *_move(target, 2, (leader, other, follower)),
        v.learns_leader("asks", follower, "u-0", leader, v.must("META-01")),
        *_move(target, 3, (other, leader, follower)),
        v.burst("during", "u", DURING),
        *_move(target, 4, (leader, other, follower)),
        v.learns_leader("follows", follower, "u-0", leader, v.must("META-01")),
        v.inject("they-die", v.KillParameters(nodes=(leader, other))),
        v.Heal(as_="answered", fault="late"),
        v.LeaderIs(as_="leads", partition="u-0", is_=follower, expect=v.must(moved, "ISR-06")),
        v.burst("others", "u", 5),
    ]
    return draft.timed(lag_ms=LAG_MS).plan(
        steps,
        v.acknowledged("late.proven", by="during", at_least=DURING),
        v.acknowledged("answered.ended", by="others", at_least=5),
        topics=[
            v.topic([leader, other, follower], name="u", min_isr=1),
            v.topic([leader, follower], name="kept", min_isr=1),
        ],
        topology=v.smallest_cluster(target, other),
        workload=None,
        afterwards=[v.burst("afterwards", "u", 10)],
    )


def _move(target: v.TargetFacts, number: int, replicas: tuple[str, str, str]) -> list[v.Step]:
    """Let the first of the replicas lead: make it the preferred one, and elect that."""
    # With ZooKeeper a broker forwards no such request to the controller, which is one of the brokers.
    through = "active-controller" if target.uses_zookeeper and not target.leader_driven else replicas[0]
    body = {
        "election_type": PREFERRED,
        "topic_partitions": [{"topic": "u", "partitions": [0]}],
        "timeout": v.LIVENESS_TIMEOUT_MS,
    }
    return [
        v.ReassignProbe(as_=f"prefer-{number}", node=through, partition="u-0", to=replicas, timeout_ms=5000),
        v.AssignmentIs(
            as_=f"preferred-{number}",
            partition="u-0",
            is_=replicas,
            expect=v.must(target.rule("D631-70", "INT-04", "LD-76")),
        ),
        v.ask_until(f"elect-{number}", through, "elect_leaders", body),
        v.LeaderIs(
            as_=f"term-{number}",
            partition="u-0",
            is_=replicas[0],
            expect=v.must(target.rule("D631-71", "INT-39", "LD-78")),
        ),
    ]
