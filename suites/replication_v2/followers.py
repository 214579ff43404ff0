"""Followers that are paused, that do not hear ZooKeeper, or whose queue is full."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.replication_v2 import log_lines as log

QUEUE = 5
"""state.change.queue.max.requests at the level `small-queue`."""
LONG_SESSION_MS = 8000
"""Long enough that a follower which hears nothing stays registered."""


@v.replication_v2_scenario("v2-follower-paused", "A paused follower leaves the ISR and returns", seconds=11)
def paused(draft: v.Draft) -> v.Plan:
    """The follower is paused past KeepInSyncTime and its session: the leader drops it, and takes it back in sync."""
    leader, follower, other = draft.roles
    steps: list[v.Step] = [
        v.inject("sleep", v.PauseParameters(nodes=follower)),
        v.IsrIs(as_="dropped", partition="t-0", is_=(leader, other), expect=v.must("LD-70", "LD-23")),
        v.goes_on("LD-70"),
        v.Registered(as_="gone", node=follower, is_=False, expect=v.must("LD-10")),
        v.Heal(as_="wake", fault="sleep"),
        v.IsrIs(as_="rejoined", partition="t-0", has=follower, expect=v.must("LD-71", "LD-16")),
    ]
    return draft.plan(steps, v.acknowledged("dropped.ended", before="wake.begun"))


@v.replication_v2_scenario(
    "v2-follower-slow-to-be-notified",
    "A request to a slow follower waits in its queue, and is carried out when it hears of it",
    seconds=11,
)
def slow_to_be_notified(draft: v.Draft) -> v.Plan:
    """A follower does not hear ZooKeeper for a while, and the partition is moved away from it.

    The close request waits in its queue. Until it hears of it, the follower replicates on, since its session lives.
    """
    leader, follower, other = draft.roles
    asked = log.requested("close-replica", "t-0", follower)
    steps: list[v.Step] = [
        v.inject("deaf", v.StallParameters(from_=follower, to="zookeeper")),
        v.ReassignProbe(as_="move", node=leader, partition="t-0", to=(leader, other), expect=v.serves("DLD-18")),
        log.has_line("asked", leader, asked, v.must("LD-39")),
        v.Backlog(as_="waits", node=follower, is_=1, expect=v.must("LD-08")),
        log.has_line("not-yet", follower, log.received("close-replica", "t-0"), v.never("LD-21"), within_ms=1000),
        v.IsrIs(as_="in-sync", partition="t-0", has=follower, within_ms=200, expect=v.must("LD-75")),
        v.Heal(as_="mend", fault="deaf"),
        log.has_line("closes", follower, log.completed("close-replica", "t-0"), v.must("LD-32")),
        v.Backlog(as_="taken", node=follower, is_=0, expect=v.must("LD-32")),
        v.AssignmentIs(as_="moved", partition="t-0", is_=(leader, other), expect=v.must("LD-76")),
    ]
    return draft.timed(session_ms=LONG_SESSION_MS).plan(
        steps, "closes", v.acknowledged("deaf.proven", before="mend.begun")
    )


@v.replication_v2_scenario(
    "v2-queue-full",
    "A full queue keeps the close requests, refuses the rest, and is drained later",
    seconds=16,
    levels=("small-queue",),
)
def full(draft: v.Draft) -> v.Plan:
    """The queue of a broker that is away is filled, first with requests to start, then with requests to close.

    Start requests are dropped for a topic that is deleted; close requests are never dropped, so that the leader finds
    no space for its own, and retries when the broker has returned and drained the queue.
    """
    leader, away, other = draft.roles
    queue = f"/brokers/state/{v.node_id(away)}"
    starts = [
        log.request(f"start-{number}", away, "start-replica", "t-0", sender=other, epoch=number)
        for number in range(QUEUE)
    ]
    closes = [
        log.request(f"close-{number}", away, "close-replica", f"old-{number}", sender=other, epoch=number)
        for number in range(QUEUE - 1)
    ]
    steps: list[v.Step] = [
        v.CreateTopicProbe(as_="create", node=leader, topic="one", timeout_ms=10_000, expect=v.serves("LD-58")),
        v.inject("kill", v.KillParameters(nodes=away)),
        v.Registered(as_="left", node=away, is_=False, expect=v.must("LD-10")),
        *starts,
        v.DeleteTopicProbe(as_="delete", node=leader, topic="one", timeout_ms=10_000, expect=v.serves("DLD-12")),
        v.znode_present("shrunk", queue, v.must("DLD-14"), has='"shrunk":1'),
        v.Backlog(as_="only-to-close", node=away, is_=1, expect=v.must("LD-40")),
        *closes,
        v.ReassignProbe(as_="move", node=leader, partition="t-0", to=(leader, other), expect=v.serves("DLD-18")),
        log.has_line(
            "squeezed-in", leader, log.requested("close-replica", "t-0", away), v.never("LD-40"), within_ms=3000
        ),
        log.has_line("full", leader, "FollowerStateChangeQueueFull", v.must("LD-41")),
        v.Backlog(as_="still-full", node=away, at_most=QUEUE, expect=v.must("LD-41")),
        v.Heal(as_="restart", fault="kill"),
        log.has_line("closed", away, log.completed("close-replica", "one-0"), v.must("LD-04")),
        log.has_line("nothing-there", away, log.completed("close-replica", "old-0"), v.must("DLD-39")),
        log.request("not-its-own", away, "start-replica", "old-9", sender=leader, epoch=0),
        log.has_line("refuses", away, "(failed|ignored) start-replica for topic old partition 9,", v.must("LD-33")),
        log.has_line("moved-away", away, log.completed("close-replica", "t-0"), v.must("DLD-14")),
        log.has_line(
            "dropped",
            away,
            f"{log.received('start-replica', 't-0')} from leader {v.node_id(other)},",
            v.never("LD-40"),
            within_ms=200,
        ),
        v.AssignmentIs(as_="moved", partition="t-0", is_=(leader, other), expect=v.must("LD-76")),
        v.MetadataProbe(as_="nowhere", node=away, topic="one", expect=v.answers("LD-04", "error:3")),
    ]
    return draft.plan(steps, "shrunk", "full", v.acknowledged("restart.ended"))
