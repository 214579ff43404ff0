"""The number of watches that the design needs, and the brokers that a change of leader wakes."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.replication_v2 import log_lines as log

TOPICS, PARTITIONS = 1000, 3
"""The example of the document, on three brokers."""
LONG_SESSION_MS = 15_000
"""Long enough for a broker that starts thousands of replicas on a busy machine to keep its session."""
STARTED_WITHIN_MS = 120_000
DEADLINE_MS = 300_000


@v.replication_v2_scenario(
    "v2-watches-at-1", "1,000 topics of 3 partitions with 1 replica: 3,000 watches on leaders", 1, seconds=14
)
@v.replication_v2_scenario(
    "v2-watches-at-3", "1,000 topics of 3 partitions with 3 replicas: 9,000 watches on leaders", 3, seconds=60
)
def counted(replicas: int, draft: v.Draft) -> v.Plan:
    """There are as many watches on leaders as replicas. The topics exist before the brokers start.

    One partition loses its leader: only the brokers that host it are notified.
    """
    leader = draft.roles[0]
    partitions = TOPICS * PARTITIONS
    woken, asleep = _hosts("many-7", replicas)
    steps: list[v.Step] = [
        v.Watches(
            as_="counted",
            kind="leader",
            topics="many-.*",
            count=replicas * partitions,
            within_ms=STARTED_WITHIN_MS,
            expect=v.must("LD-05"),
        ),
        v.LeaderIs(as_="led", partition="many-7-0", expect=v.must("LD-30")),
        v.ZnodeStep(as_="leaderless", action="delete", path="/brokers/topics/many-7/0/leader"),
        *(
            log.has_line(f"woken-{name}", name, log.saw_a_change("many-7-0"), v.must("LD-09"), after="leaderless.begun")
            for name in woken
        ),
        *(
            log.has_line(f"asleep-{name}", name, log.saw_a_change("many-7-0"), v.never("LD-09"), within_ms=300)
            for name in asleep
        ),
        v.LeaderEpochAbove(as_="next", partition="many-7-0", value=0, expect=v.must("LD-31")),
    ]
    plan = draft.timed(session_ms=LONG_SESSION_MS, lag_ms=LONG_SESSION_MS).plan(
        steps, "counted", "next", v.acknowledged(), topics=[v.topic([leader], min_isr=1), *_many(replicas)]
    )
    return plan.model_copy(update={"deadline_ms": DEADLINE_MS})


def _assigned(name: str, partition: int, replicas: int) -> tuple[int, ...]:
    first = int(name.removeprefix("many-")) + partition
    return tuple(v.BROKER_IDS[(first + place) % len(v.BROKER_IDS)] for place in range(replicas))


def _many(replicas: int) -> list[v.TopicSpec]:
    return [
        v.TopicSpec(
            name=name,
            assignments=tuple(_assigned(name, partition, replicas) for partition in range(PARTITIONS)),
            prepared=True,
        )
        for name in (f"many-{number}" for number in range(TOPICS))
    ]


def _hosts(name: str, replicas: int) -> tuple[list[str], list[str]]:
    """Return the brokers that host the topic's first partition, and the others."""
    hosts = _assigned(name, 0, replicas)
    return [v.node_name(broker) for broker in hosts], [
        v.node_name(broker) for broker in v.BROKER_IDS if broker not in hosts
    ]


@v.replication_v2_scenario(
    "v2-no-herd", "A change of leader wakes only the brokers that host the partition", seconds=11
)
def no_herd(draft: v.Draft) -> v.Plan:
    """A leader that shares one partition with each of two others dies: each is notified of its own, and no other."""
    dead, first, second = draft.roles
    topics = {"t": (first, second), "u": (dead, first), "v": (dead, second)}
    steps: list[v.Step] = [
        v.LeaderIs(as_="u-led", partition="u-0", is_=dead),
        v.LeaderIs(as_="v-led", partition="v-0", is_=dead),
        v.inject("kill", v.KillParameters(nodes=dead)),
        v.LeaderIs(as_="u-moved", partition="u-0", is_=first, expect=v.must("LD-31")),
        v.LeaderIs(as_="v-moved", partition="v-0", is_=second, expect=v.must("LD-31")),
        log.has_line("u-heard", first, log.saw_a_change("u-0"), v.must("LD-06"), after="kill.proven"),
        log.has_line("v-heard", second, log.saw_a_change("v-0"), v.must("LD-06"), after="kill.proven"),
        log.has_line("u-unheard", second, log.saw_a_change("u-0"), v.never("LD-09"), within_ms=300),
        log.has_line("v-unheard", first, log.saw_a_change("v-0"), v.never("LD-09"), within_ms=300),
        log.has_line("t-unheard", first, log.saw_a_change("t-0"), v.never("LD-09"), within_ms=300, after="kill.proven"),
        log.has_line("not-asked", first, "received start-replica for topic v", v.never("LD-02"), within_ms=200),
        v.Heal(as_="restart", fault="kill"),
    ]
    return draft.plan(
        steps,
        "u-moved",
        "v-moved",
        v.acknowledged("v-moved.ended"),
        topics=[v.topic(replicas, name=name, min_isr=1) for name, replicas in topics.items()],
    )
