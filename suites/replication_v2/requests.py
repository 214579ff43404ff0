"""Requests in a queue: those of a former leader, those for a closed replica, and the life of each request."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.replication_v2 import log_lines as log


@v.replication_v2_scenario(
    "v2-requests-of-the-past",
    "A start request at an old epoch is ignored; a close request is carried out at any epoch",
    seconds=15,
)
def former_leader(draft: v.Draft) -> v.Plan:
    """A close request at an old epoch is carried out, since a close is compared with no epoch; a start request at that
    epoch is ignored, and one at the present epoch is carried out. The replica restarts empty, and catches up.

    Its leader also asks it to start when it finds that it does not fetch: it may be out of the ISR for a moment.
    """
    leader = draft.leader
    started = f"{log.completed('start-replica', 't-0')} request from leader [0-9]+"
    steps: list[v.Step] = [
        v.inject("kill", v.KillParameters(nodes=leader)),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("LD-31")),
        v.Heal(as_="restart", fault="kill"),
        v.IsrIs(as_="rejoined", partition="t-0", has=leader, expect=v.must("LD-71")),
        v.Bind(as_="epoch", value="leader-epoch:t-0"),
        v.Bind(as_="new", node="leader:t-0"),
        log.request("old-close", leader, "close-replica", "t-0", sender=leader, epoch=0),
        log.has_line(
            "closes", leader, log.completed("close-replica", "t-0"), v.must("LD-34", "DLD-24"), after="rejoined.ended"
        ),
        log.has_line(
            "dropped", "$new", rf"t-0: ISR is \[(?!.*\b{v.node_id(leader)}\b)", v.must("LD-70"), after="rejoined.ended"
        ),
        log.request("old-start", leader, "start-replica", "t-0", sender=leader, epoch=0),
        v.Backlog(as_="taken", node=leader, is_=0, expect=v.must("LD-32")),
        log.has_line("starts", leader, f"{started}, at epoch 0$", v.never("LD-36"), within_ms=2000),
        log.has_line("ignores", leader, log.ignored("start-replica", "t-0"), v.must("LD-36"), after="dropped.ended"),
        log.request("start", leader, "start-replica", "t-0", sender=leader, epoch=1),
        log.has_line("starts-now", leader, f"{started}, at epoch 1$", v.must("LD-36"), after="dropped.ended"),
        v.IsrIs(as_="back", partition="t-0", has=leader, expect=v.must("DLD-43")),
        v.LeaderEpochAbove(as_="another", partition="t-0", value="$epoch", within_ms=200, expect=v.never("LD-03")),
        v.goes_on(),
    ]
    return draft.plan(steps, "ignores", "starts-now", v.acknowledged("back.ended"))


@v.replication_v2_scenario(
    "v2-life-of-a-reassignment", "Each state change of a reassignment away from the leader can be followed", seconds=10
)
def lifecycle(draft: v.Draft) -> v.Plan:
    """A partition moves under load, away from its leader; each broker logs its requests and steps.

    A broker that does not host the partition is not notified of its changes of leader.
    """
    leader, follower, added = draft.roles
    to = (follower, added)
    life: list[v.Step] = [
        log.has_line("noticed", leader, log.reached("noticed", "t-0"), v.must("LD-19")),
        log.has_line("asked-to-start", leader, log.requested("start-replica", "t-0", added), v.must("LD-37")),
        log.has_line("heard", added, log.received("start-replica", "t-0"), v.must("LD-07")),
        log.has_line("started", added, log.completed("start-replica", "t-0"), v.must("DLD-03")),
        log.has_line("caught-up", leader, log.reached("caught-up", "t-0"), v.must("LD-74")),
        log.has_line("written", leader, log.reached("isr-written", "t-0"), v.must("LD-76")),
        log.has_line("asked-itself", leader, log.requested("close-replica", "t-0", leader), v.must("LD-77")),
        log.has_line("closed-itself", leader, log.completed("close-replica", "t-0"), v.must("LD-46")),
    ]
    steps: list[v.Step] = [
        v.ReassignProbe(as_="move", node=added, partition="t-0", to=to, expect=v.serves("DLD-18")),
        *life,
        v.AssignmentIs(as_="moved", partition="t-0", is_=to, expect=v.must("LD-78")),
        v.LeaderIs(as_="led", partition="t-0", is_=follower, expect=v.must("LD-29")),
        v.IsrIs(as_="in-sync", partition="t-0", is_=to, expect=v.must("LD-76")),
        v.MetadataProbe(as_="known", node=leader, topic="t", expect=v.serves("DLD-19")),
    ]
    return draft.plan(steps, "closed-itself", v.acknowledged("led.ended"), topics=[v.topic([leader, follower])])
