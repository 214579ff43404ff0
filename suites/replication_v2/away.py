"""A broker is away while topics are created, deleted and moved."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.replication_v2 import log_lines as log

OLD, NEW = 5, 2
"""Records of the deleted topic, and of the new one of the same name."""
LONG_SESSION_MS = 4000
"""Long enough that a paused broker counts as live while a topic is created."""
GIVEN_UP_MS = 1500


@v.replication_v2_scenario(
    "v2-away-during-delete", "A broker that was away when a topic was deleted closes its replica on return", seconds=12
)
def deleted(draft: v.Draft) -> v.Plan:
    """The topic is gone for all other brokers at once; the absent broker learns of it from its queue."""
    return _deleted(draft, [], "nowhere")


@v.replication_v2_scenario(
    "v2-away-during-delete-and-create",
    "A topic that is deleted and created again while a broker is away holds nothing of the old one",
    seconds=15,
)
def created_again(draft: v.Draft) -> v.Plan:
    """Another topic of the same name moves to the broker in the end: it holds no record of the old one."""
    leader, away, _ = draft.roles
    again: list[v.Step] = [
        v.ReassignProbe(as_="hand-over", node=leader, partition="gone-0", to=away, expect=v.serves("DLD-18")),
        v.AssignmentIs(as_="handed-over", partition="gone-0", is_=away, expect=v.must("LD-76")),
        v.LeaderIs(as_="leads", partition="gone-0", is_=away, expect=v.must("LD-78")),
        # Its epoch is later than the old topic's and its ISR is written: from now on it serves clients.
        log.has_line("serves", away, r"gone-0: leads on at leader epoch [1-9]", v.must("LD-46")),
        v.FetchProbe(as_="only", node=away, topic="gone", offset=NEW, timeout_ms=5000, expect=v.serves("LD-46")),
        v.FetchProbe(as_="nothing-old", node=away, topic="gone", offset=NEW + 1, expect=v.answers("LD-46", "error:1")),
    ]
    return _deleted(draft, again, "nothing-old")


def _deleted(draft: v.Draft, again: list[v.Step], last: str) -> v.Plan:
    leader, away, other = draft.roles
    recreate: list[v.Step] = [
        v.CreateTopicProbe(
            as_="again", node=other, topic="gone", replicas=2, timeout_ms=10_000, expect=v.serves("LD-57")
        ),
        v.LeaderIs(as_="led-anew", partition="gone-0", expect=v.must("LD-35")),
        v.IsrIs(as_="shared-anew", partition="gone-0", has=(leader, other), expect=v.must("LD-53")),
        v.Produce(as_="new", topic="gone", acks=1, records=NEW, expect=v.serves("LD-55")),
    ]
    absent = v.MetadataProbe(as_="nowhere", node=away, topic="gone", repeat=3, expect=v.answers("LD-04", "error:3"))
    steps: list[v.Step] = [
        v.CreateTopicProbe(as_="create", node=leader, topic="gone", timeout_ms=10_000, expect=v.serves("LD-58")),
        v.LeaderIs(as_="led", partition="gone-0", expect=v.must("LD-35")),
        v.IsrIs(as_="shared", partition="gone-0", has=(leader, away, other), expect=v.must("LD-53")),
        v.Produce(as_="old", topic="gone", acks=1, records=OLD, expect=v.serves("LD-55")),
        v.inject("kill", v.KillParameters(nodes=away)),
        v.Registered(as_="left", node=away, is_=False, expect=v.must("LD-10")),
        v.DeleteTopicProbe(as_="delete", node=leader, topic="gone", timeout_ms=10_000, expect=v.serves("DLD-12")),
        v.znode_absent("deleted", "/brokers/topics/gone", v.must("LD-64")),
        v.znode_absent("done", "/brokers/partitions_reassigned/gone/0", v.must("LD-66")),
        *(recreate if again else []),
        v.Heal(as_="restart", fault="kill"),
        log.has_line("closes", away, log.completed("close-replica", "gone-0"), v.must("LD-25"), after="restart.begun"),
        v.BrokerActive(as_="returned", node=away, expect=v.must("LD-27")),
        *(again or [absent]),
    ]
    return draft.plan(steps, "old", last, v.acknowledged("restart.ended"))


@v.replication_v2_scenario(
    "v2-away-during-create",
    "The creation of a topic on a paused broker fails in time, and its remains are cleaned",
    seconds=18,
)
def created(draft: v.Draft) -> v.Plan:
    """The creation of a topic on a paused broker fails in time, and the broker that carried it out dies.

    The next creation, without these two brokers, cleans the remains; they find their requests in their queues.
    """
    leader, away, coordinator = draft.roles
    steps: list[v.Step] = [
        v.inject("sleep", v.PauseParameters(nodes=away)),
        v.CreateTopicProbe(
            as_="too-slow", node=coordinator, topic="late", timeout_ms=GIVEN_UP_MS, expect=v.never_serves("DLD-32")
        ),
        v.znode_present(
            "left-over", "/brokers/partitions_reassigned/late/0", v.must("LD-59"), has=str(v.node_id(away))
        ),
        v.inject("kill", v.KillParameters(nodes=coordinator)),
        *(
            v.Registered(as_=f"gone-{broker}", node=broker, is_=False, expect=v.must("LD-10"))
            for broker in (away, coordinator)
        ),
        v.CreateTopicProbe(
            as_="again", node=leader, topic="late", replicas=1, timeout_ms=10_000, expect=v.serves("LD-63")
        ),
        v.znode_present("created", "/brokers/topics/late/0/replicas", v.must("LD-61"), has=f"[{v.node_id(leader)}]"),
        v.znode_absent("cleaned", "/brokers/partitions_reassigned/late/0", v.must("LD-61")),
        v.Heal(as_="wake", fault="sleep"),
        v.Heal(as_="restart", fault="kill"),
        *(
            v.IsrIs(as_=f"rejoined-{broker}", partition="t-0", has=broker, expect=v.must("LD-71"))
            for broker in (away, coordinator)
        ),
        v.AssignmentIs(as_="as-created", partition="late-0", is_=leader, expect=v.must("LD-42")),
        v.IsrIs(as_="on-its-own", partition="late-0", is_=leader, expect=v.must("LD-42")),
    ]
    return draft.timed(session_ms=LONG_SESSION_MS).plan(steps, "left-over", "created", v.acknowledged("wake.ended"))


@v.replication_v2_scenario(
    "v2-away-during-reassignment", "A reassignment to a paused broker completes when the broker wakes", seconds=14
)
def reassigned(draft: v.Draft) -> v.Plan:
    """The new replica is paused when the partition moves to it: the reassignment waits for it, and then completes."""
    leader, old, away = draft.roles
    steps: list[v.Step] = [
        v.inject("sleep", v.PauseParameters(nodes=away)),
        v.ReassignProbe(as_="move", node=leader, partition="t-0", to=(leader, away), expect=v.serves("DLD-18")),
        log.has_line("asked", leader, log.requested("start-replica", "t-0", away), v.must("LD-37")),
        v.Registered(as_="given-up", node=away, is_=False, expect=v.must("LD-10")),
        log.has_line("not-before", leader, log.reached("close-replica-sent", "t-0"), v.never("LD-74"), within_ms=500),
        v.Heal(as_="wake", fault="sleep"),
        log.has_line("starts", away, log.completed("start-replica", "t-0"), v.must("LD-36")),
        v.AssignmentIs(as_="moved", partition="t-0", is_=(leader, away), expect=v.must("LD-76")),
        v.IsrIs(as_="in-sync", partition="t-0", is_=(leader, away), expect=v.must("DLD-10")),
        v.znode_absent("done", "/brokers/partitions_reassigned/t/0", v.must("LD-14")),
        log.has_line("closed", old, log.completed("close-replica", "t-0"), v.must("LD-46")),
    ]
    return draft.timed(session_ms=3000).plan(
        steps, "moved", v.acknowledged("moved.ended"), topics=[v.topic([leader, old])]
    )


@v.replication_v2_scenario(
    "v2-old-replica-silent", "A partition moves away from a dead replica even without writes", seconds=13
)
def silent(draft: v.Draft) -> v.Plan:
    """The old replica dies as the partition moves away from it, without writes: the reassignment does not wait for it.

    Its log is removed from its disk when it returns.
    """
    leader, old, new = draft.roles
    steps: list[v.Step] = [
        v.burst("before", "u", 20),
        v.inject("kill", v.KillParameters(nodes=old)),
        v.ReassignProbe(as_="move", node=leader, partition="u-0", to=(leader, new), expect=v.serves("DLD-18")),
        log.has_line("asked", leader, log.requested("close-replica", "u-0", old), v.must("LD-74")),
        v.IsrIs(as_="out", partition="u-0", lacks=old, expect=v.must("DLD-09", "DLD-07")),
        v.AssignmentIs(as_="moved", partition="u-0", is_=(leader, new), expect=v.must("LD-75")),
        v.IsrIs(as_="in-sync", partition="u-0", is_=(leader, new), expect=v.must("LD-76")),
        v.Heal(as_="restart", fault="kill"),
        log.has_line("closes", old, log.completed("close-replica", "u-0"), v.must("LD-04")),
    ]
    return draft.plan(
        steps,
        "moved",
        "closes",
        v.acknowledged(by="after", at_least=20),
        topics=[v.topic([leader, old], name="u", min_isr=1)],
        workload=None,
        afterwards=[v.burst("after", "u", 20)],
    )
