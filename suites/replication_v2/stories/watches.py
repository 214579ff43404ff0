"""What the design costs in watches, and whom a change of leader wakes."""

from __future__ import annotations

from functools import partial

from faults.capabilities import Capability
from harness.plan.conditions import LeaderEpochAbove, LeaderIs, Watches
from harness.plan.injects import InjectKill
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone, TopicSpec
from harness.plan.steps import Heal, Step, ZnodeStep
from suites.building import BROKER_IDS, LIVELY_MS, cast, closing, compose, must, never, node, opening, pace, topic
from suites.replication_v2.story import replication_v2, saw_a_change, says
from suites.story import Story, TargetFacts

TOPICS, PARTITIONS = 1000, 3
"""The text's own example, on three brokers."""
LONG_SESSION_MS = 15_000
"""A broker that starts thousands of replicas on a busy machine is heard of in time."""
STARTED_WITHIN_MS = 120_000
DEADLINE_MS = 300_000


def counted(replicas: int, story: Story, target: TargetFacts, seed: int) -> Plan:
    """As many watches on leaders as there are replicas. The topics are there before the brokers start.

    One partition loses its leader: only its own broker, or brokers, hear of it.
    """
    leader = cast(story, seed)[0]
    partitions = TOPICS * PARTITIONS
    woken, asleep = _hosts("many-7", replicas)
    steps: list[Step] = [
        Watches(
            as_="counted",
            kind="leader",
            topics="many-.*",
            count=replicas * partitions,
            within_ms=STARTED_WITHIN_MS,
            expect=must("LD-05"),
        ),
        LeaderIs(as_="led", partition="many-7-0", within_ms=LIVELY_MS, expect=must("LD-30")),
        ZnodeStep(as_="leaderless", action="delete", path="/brokers/topics/many-7/0/leader"),
        *(
            says(f"woken-{name}", name, saw_a_change("many-7-0"), must("LD-09"), after="leaderless.begun")
            for name in woken
        ),
        *(says(f"asleep-{name}", name, saw_a_change("many-7-0"), never("LD-09"), within_ms=300) for name in asleep),
        LeaderEpochAbove(as_="next", partition="many-7-0", value=0, within_ms=LIVELY_MS, expect=must("LD-31")),
    ]
    plan = compose(
        story,
        target,
        seed,
        timing=pace(target, session_ms=LONG_SESSION_MS, lag_ms=LONG_SESSION_MS),
        topics=[topic([leader], min_isr=1), *_many(replicas)],
        steps=[*opening(leader), *steps, *closing()],
        coverage=[StepDone(step="counted"), StepDone(step="next"), Acknowledged(by="p1", acks="all")],
    )
    return plan.model_copy(update={"deadline_ms": DEADLINE_MS})


def _assigned(name: str, partition: int, replicas: int) -> tuple[int, ...]:
    first = int(name.removeprefix("many-")) + partition
    return tuple(BROKER_IDS[(first + each) % len(BROKER_IDS)] for each in range(replicas))


def _many(replicas: int) -> list[TopicSpec]:
    return [
        TopicSpec(
            name=name,
            assignments=tuple(_assigned(name, partition, replicas) for partition in range(PARTITIONS)),
            prepared=True,
        )
        for name in (f"many-{each}" for each in range(TOPICS))
    ]


def _hosts(name: str, replicas: int) -> tuple[list[str], list[str]]:
    """The brokers that host its first partition, and the others."""
    hosts = _assigned(name, 0, replicas)
    return [node(each) for each in hosts], [node(each) for each in BROKER_IDS if each not in hosts]


def no_herd(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A leader dies that shares one partition with each of the two others: each hears of its own, and of no other."""
    dead, first, second = cast(story, seed)
    topics = {"t": (first, second), "u": (dead, first), "v": (dead, second)}
    steps = [
        *opening(first),
        LeaderIs(as_="u-led", partition="u-0", is_=dead, within_ms=LIVELY_MS),
        LeaderIs(as_="v-led", partition="v-0", is_=dead, within_ms=LIVELY_MS),
        InjectKill(as_="kill", nodes=dead),
        LeaderIs(as_="u-moved", partition="u-0", is_=first, within_ms=LIVELY_MS, expect=must("LD-31")),
        LeaderIs(as_="v-moved", partition="v-0", is_=second, within_ms=LIVELY_MS, expect=must("LD-31")),
        says("u-heard", first, saw_a_change("u-0"), must("LD-06"), after="kill.proven"),
        says("v-heard", second, saw_a_change("v-0"), must("LD-06"), after="kill.proven"),
        says("u-unheard", second, saw_a_change("u-0"), never("LD-09"), within_ms=300),
        says("v-unheard", first, saw_a_change("v-0"), never("LD-09"), within_ms=300),
        says("t-unheard", first, saw_a_change("t-0"), never("LD-09"), within_ms=300, after="kill.proven"),
        says("not-asked", first, "received start-replica for topic v", never("LD-02"), within_ms=200),
        Heal(as_="restart", fault="kill"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic(replicas, name=name, min_isr=1) for name, replicas in topics.items()],
        steps=steps,
        coverage=[
            FaultProven(fault="kill"),
            StepDone(step="u-moved"),
            StepDone(step="v-moved"),
            Acknowledged(by="p1", acks="all", after="v-moved.ended"),
        ],
    )


STORIES = (
    replication_v2(
        "v2-no-herd",
        "A change of leader wakes only the brokers that host the partition",
        no_herd,
        11,
        "LD-01",
        "LD-21",
        needs={Capability.KILL},
    ),
    *(
        replication_v2(
            f"v2-watches-at-{replicas}",
            f"1,000 topics of 3 partitions with {replicas} replica{'s' * (replicas > 1)}: "
            f"{replicas * TOPICS * PARTITIONS:,} watches on leaders",
            partial(counted, replicas),
            14 if replicas == 1 else 60,
            "LD-20",
            "DLD-19",
        )
        for replicas in (1, 3)
    ),
)
