"""Topics are created, extended, moved and deleted through their znodes."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.suites import vocabulary as v

OLD = 5
"""Records that the deleted topic held."""
SETTING, CHANGED = "max.message.bytes", "1000001"
"""A setting of the other topic, and its new value."""


@v.internals_scenario(
    "topic-deleted-while-away",
    "A topic that is deleted while a broker is away does not come back with it, and a changed setting is known",
    seconds=11,
)
def deleted_while_away(draft: v.Draft) -> v.Plan:
    """The topic is gone for every broker when the absent broker returns, and for that broker as well.

    A setting of another topic is changed meanwhile: clients get it from those that were there and from those that were
    not.
    """
    brokers = draft.roles
    altered = v.configured("alter", brokers[0], "t", {SETTING: CHANGED}, validate_only=None, version=1)
    described: list[v.Step] = [
        v.described(
            f"described-{broker}",
            broker,
            "t",
            [SETTING],
            v.serves("META-01"),
            version=3,
            answer={v.setting(SETTING): CHANGED},
            within_ms=v.LIVENESS_TIMEOUT_MS,
        )
        for broker in brokers
    ]
    return _deleted(draft, described, "nowhere", [altered])


@v.internals_scenario(
    "topic-recreated",
    "A topic that is deleted while a broker is away, and created again, holds nothing of the old one",
    seconds=12,
)
def recreated(draft: v.Draft) -> v.Plan:
    """The topic is created again with another id, and the broker that was away leads it with an empty log."""
    away = draft.roles[1]
    again: list[v.Step] = [
        *v.create_topic("again", "gone", v.topic_id(draft.seed, "gone again"), (away,)),
        *v.leaders_in_metadata("known-again", "gone", (away,)),
        v.produced_at("first", away, 1, v.serves("DINT-23"), topic="gone", repeat=2, timeout_ms=2000),
        v.FetchProbe(as_="only", node=away, topic="gone", offset=2, expect=v.serves("DINT-23")),
        v.FetchProbe(as_="nothing-old", node=away, topic="gone", offset=3, expect=v.answers("DINT-23", "error:1")),
    ]
    return _deleted(draft, again, "nothing-old")


def _deleted(draft: v.Draft, again: list[v.Step], last: str, meanwhile: Sequence[v.Step] = ()) -> v.Plan:
    leader, away, _ = draft.roles
    path = "/brokers/topics/gone"
    steps: list[v.Step] = [
        *v.create_topic("create", "gone", v.topic_id(draft.seed, "gone"), (leader, away)),
        *v.leaders_in_metadata("known", "gone", (leader, away)),
        v.produced_at("old", leader, 1, topic="gone", repeat=OLD, every_ms=20, timeout_ms=2000),
        v.inject("kill", v.KillParameters(nodes=away)),
        v.Registered(as_="left", node=away, is_=False, expect=v.must("INT-43")),
        v.DeleteTopicProbe(as_="delete", node="active-controller", topic="gone", timeout_ms=2000),
        *meanwhile,
        v.Heal(as_="restart", fault="kill"),
        v.Znode(as_="deleted", path=path, exists=False, expect=v.must("INT-24")),
        v.Znode(as_="done", path="/admin/delete_topics/gone", exists=False, expect=v.must("INT-36")),
        v.MetadataProbe(as_="nowhere", node=away, topic="gone", repeat=3, expect=v.answers("DINT-23", "error:3")),
        *again,
    ]
    return draft.plan(steps, "old", last, v.acknowledged("restart.ended"))


@v.internals_scenario("partitions-added", "A partition that is added to a topic's znode is soon served", seconds=8)
def grown(draft: v.Draft) -> v.Plan:
    leader, follower, _ = draft.roles
    identity = v.topic_id(draft.seed, "grown")
    before, after = [(leader, follower)], [(leader, follower), (follower, leader)]
    steps: list[v.Step] = [
        *v.create_topic("create", "grown", identity, *before),
        v.ZnodeStep(as_="grow", action="set", path="/brokers/topics/grown", data=v.topic_data(identity, after)),
        v.partition_state_written("grown", "grown", 1, "INT-35"),
        *v.leaders_in_metadata("known", "grown", *after),
        *(
            v.produced_at(
                f"serves-{partition}",
                replicas[0],
                1,
                v.serves("INT-22"),
                topic="grown",
                partition=partition,
                timeout_ms=5000,
                repeat=3,
            )
            for partition, replicas in enumerate(after)
        ),
    ]
    return draft.plan(steps, "serves-1", v.acknowledged("grow.ended"))


@v.internals_scenario("reassignment", "A partition moves to other replicas under load", seconds=9)
def reassigned(draft: v.Draft) -> v.Plan:
    """Under load the topic moves from the first two brokers to the last two."""
    leader, follower, controller = draft.roles
    steps: list[v.Step] = [
        v.reassign("move", {"t-0": (follower, controller)}),
        v.AssignmentIs(as_="moved", partition="t-0", is_=(follower, controller), expect=v.must("INT-04")),
        v.LeaderIs(as_="led", partition="t-0", is_=follower, expect=v.must("INT-38")),
        v.IsrIs(as_="in-sync", partition="t-0", is_=(follower, controller), expect=v.must("INT-10")),
        v.Znode(as_="done", path=v.REASSIGN, exists=False, expect=v.must("DINT-20")),
        v.goes_on(),
    ]
    return draft.plan(steps, "done", v.acknowledged("done.ended"), topics=[v.topic([leader, follower])])
