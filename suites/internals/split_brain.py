"""Split brain: the document's two leaders of one partition, and a former controller."""

from __future__ import annotations

from fencepost.suites import vocabulary as v


@v.internals_scenario(
    "two-leaders",
    "The old one of two leaders acknowledges nothing at acks=all, since its shrink fails the compare-and-set",
    seconds=16,
    levels=("base",),
)
def two_leaders(draft: v.Draft) -> v.Plan:
    """The old leader is paused past its session and wakes before it is notified that another broker leads.

    One replica in sync is enough for the topic, so that the old leader would acknowledge alone if it could shrink its
    ISR. No follower fetches from it any more: its shrink comes after the lag time, and fails.
    """
    old, new, controller = draft.roles
    steps: list[v.Step] = [
        v.inject("unnotified", v.StallParameters(from_=controller, to=old)),
        v.inject("sleep", v.PauseParameters(nodes=old)),
        *(
            v.produced_at(
                f"asleep-{number}",
                old,
                "all",
                v.never_serves("INT-57"),
                background=True,
                timeout_ms=4 * draft.timing.session_ms + 2 * draft.timing.lag_ms,
            )
            for number in (1, 2)
        ),
        v.LeaderIs(as_="moved", partition="t-0", is_not=old, expect=v.must("INT-54")),
        v.Bind(as_="successor", node="leader:t-0"),
        v.learns_leader("successor-knows", new, "t-0", "$successor", v.must("INT-22")),
        v.Heal(as_="wake", fault="sleep"),
        v.produced_at("believes", old, 1, repeat=5, every_ms=200, timeout_ms=500),
        v.produced_at("awake", old, "all", v.never_serves("INT-58"), repeat=2, timeout_ms=700),
        v.Hold(as_="lag-over", after="wake.ended", ms=2 * draft.timing.lag_ms),
        v.produced_at(
            "cannot-shrink",
            old,
            "all",
            v.never_serves("INT-59", "INT-31", "INT-67", "DINT-01"),
            repeat=2,
            timeout_ms=700,
        ),
        v.LeaderIs(as_="leads-again", partition="t-0", is_=old, within_ms=300, expect=v.never("INT-59")),
        v.Heal(as_="notify", fault="unnotified"),
    ]
    return draft.plan(
        steps,
        v.OutcomeSeen(step="believes", outcome="served"),
        "cannot-shrink",
        v.acknowledged("notify.ended"),
        topics=[v.topic([old, new, controller], min_isr=1)],
    )


@v.internals_scenario(
    "old-controller", "Late commands of a former controller are refused", seconds=15, requirements=("DINT-04", "INT-64")
)
def old_controller(draft: v.Draft) -> v.Plan:
    """Commands of a controller wait in its links while another is elected, and arrive in the other's term.

    Their topic is deleted meanwhile; if a broker obeyed the old command, the topic would come back. The former
    controller itself missed the deletion (AZ-07).
    """
    leader, follower, controller = draft.roles
    brokers = (leader, follower)
    identity = v.topic_id(draft.seed, "late")
    steps: list[v.Step] = [
        v.Bind(as_="old", node="active-controller"),
        v.Bind(as_="old-epoch", value="controller-epoch"),
        v.inject("waiting", v.StallParameters(from_="$old", to=brokers)),
        *v.create_topic("queued", "late", identity, brokers),
        v.inject("sleep", v.PauseParameters(nodes="$old")),
        v.ActiveController(as_="elected", is_not="$old", expect=v.must("INT-66")),
        *(
            v.MetadataFrom(as_=f"known-{broker}", node=broker, partition="late-0", expect=v.must("META-01"))
            for broker in brokers
        ),
        v.DeleteTopicProbe(
            as_="delete", node="active-controller", topic="late", timeout_ms=9000, expect=v.serves("INT-36")
        ),
        v.Znode(as_="deleted", path="/brokers/topics/late", exists=False, expect=v.must("INT-24")),
        v.inject("blind", v.CutParameters(from_="$old", to="zookeeper")),
        v.Heal(as_="wake", fault="sleep"),
        v.Heal(as_="release", fault="waiting"),
        *(
            v.MetadataProbe(
                as_=f"not-back-{broker}",
                node=broker,
                topic="late",
                repeat=5,
                every_ms=200,
                expect=v.answers("DINT-05", "error:3"),
            )
            for broker in brokers
        ),
        *refused_at_old_epoch("raw", leader, "$old-epoch"),
        v.Heal(as_="sees", fault="blind"),
        v.TopicCreatedThrough(as_="works", node=follower, expect=v.must("INT-05")),
        v.ActiveController(as_="again", is_=controller, within_ms=500, expect=v.never("INT-62")),
        *([_takes_the_place("late")] if draft.target.differs("AZ-07") else []),
    ]
    return draft.plan(steps, "raw-update-metadata", v.acknowledged("elected.ended"))


def _takes_the_place(topic: str) -> v.Step:
    """Create a topic that a broker missed the deletion of, where it keeps it until one of that name is created."""
    return v.CreateTopicProbe(
        as_="replace", node="active-controller", topic=topic, timeout_ms=10_000, expect=v.serves("LIVE-04")
    )


def refused_at_old_epoch(name: str, broker: str, epoch: str) -> list[v.Step]:
    """Send the present controller's commands at an older controller epoch: they are refused for the epoch alone."""
    refused = v.answers("DINT-05", "error:11")
    return [
        v.LeaderAndIsrProbe(
            as_=f"{name}-leader-and-isr",
            node=broker,
            topic="t",
            controller_epoch=epoch,
            expect=refused,
            unchanged=("t-0", "brokers"),
        ),
        v.UpdateMetadataProbe(
            as_=f"{name}-update-metadata",
            node=broker,
            controller_epoch=epoch,
            expect=refused,
            unchanged=("t-0", "brokers"),
        ),
    ]
