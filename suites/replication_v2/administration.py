"""Ordinary clients administer the cluster: any broker carries out their requests."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v
from fencepost.suites.replication_v2 import log_lines as log

COMMAND_TIMEOUT_MS = 10_000
TOPIC_EXISTS, ALREADY_MOVING = "error:36", "error:60"


def _served(requirement: str) -> v.ExpectOutcome:
    return v.serves(requirement)


@v.replication_v2_scenario(
    "v2-topics-administered", "A topic is created, grown, moved and deleted by requests to any broker", seconds=11
)
def topics(draft: v.Draft) -> v.Plan:
    """A topic is created, grown, moved and deleted, each by another broker, under load."""
    leader, follower, other = draft.roles
    steps: list[v.Step] = [
        v.CreateTopicProbe(
            as_="create", node=follower, topic="made", timeout_ms=COMMAND_TIMEOUT_MS, expect=_served("LD-58")
        ),
        v.znode_present("assigned", "/brokers/topics/made/0/replicas", v.must("LD-11")),
        v.znode_absent("settled", "/brokers/partitions_reassigned/made/0", v.must("LD-61")),
        v.znode_present("in-sync", "/brokers/topics/made/0/ISR", v.must("LD-13"), has='"epoch":0'),
        v.CreateTopicProbe(as_="again", node=other, topic="made", expect=v.answers("LD-56", TOPIC_EXISTS)),
        v.CreatePartitionsProbe(
            as_="grow", node=other, topic="made", count=2, timeout_ms=COMMAND_TIMEOUT_MS, expect=_served("LD-59")
        ),
        v.LeaderIs(as_="grown", partition="made-1", expect=v.must("LD-35")),
        v.IsrIs(as_="shared", partition="made-1", has=(leader, follower, other), expect=v.must("DLD-33")),
        *_limited("made", follower),
        v.ReassignProbe(as_="move", node=follower, partition="made-1", to=(other,), expect=_served("DLD-18")),
        v.AssignmentIs(as_="moved", partition="made-1", is_=other, expect=v.must("LD-76")),
        v.LeaderIs(as_="led", partition="made-1", is_=other, expect=v.must("LD-78")),
        v.ListReassignmentsProbe(as_="nothing-moves", node=leader, expect=_served("DLD-18")),
        v.DeleteTopicProbe(
            as_="delete", node=leader, topic="made", timeout_ms=COMMAND_TIMEOUT_MS, expect=_served("LD-64")
        ),
        v.znode_absent("deleted", "/brokers/topics/made", v.must("LD-64")),
        v.znode_absent("forgotten", "/brokers/partitions_reassigned/made", v.must("LD-66")),
        log.has_line("asked", other, log.requested("close-replica", "made-1", other), v.must("LD-38")),
        log.has_line("closed", other, log.completed("close-replica", "made-1"), v.must("LD-46")),
        v.MetadataProbe(as_="unknown", node=follower, topic="made", repeat=2, expect=v.answers("DLD-19", "error:3")),
    ]
    return draft.plan(steps, "closed", "unknown", v.acknowledged("delete.ended"))


def _limited(topic: str, asked: str) -> list[v.Step]:
    """Limit the size of records through one broker; the leader, whichever it is, refuses larger ones from then on."""
    within: dict[str, Any] = {"timeout_ms": COMMAND_TIMEOUT_MS}
    limit = {"max.message.bytes": "200"}
    return [
        v.configured("limit", asked, topic, limit, validate_only=None, version=1, expect=_served("DLD-52"), **within),
        v.produced(
            "too-large",
            f"leader:{topic}-0",
            topic,
            [{"value": "x" * 300}],
            acks=1,
            within_ms=v.LIVENESS_TIMEOUT_MS,
            expect=v.answers("DLD-52", "error:10"),
            **within,
        ),
    ]


@v.replication_v2_scenario(
    "v2-reassignments-administered",
    "A reassignment under way is listed, and neither cancelled nor replaced",
    seconds=12,
)
def moves(draft: v.Draft) -> v.Plan:
    """A reassignment that cannot end, since its new replica is dead, is listed, and neither cancelled nor replaced."""
    leader, follower, added = draft.roles
    steps: list[v.Step] = [
        v.inject("kill", v.KillParameters(nodes=added)),
        v.ReassignProbe(as_="move", node=leader, partition="t-0", to=(leader, added), expect=_served("DLD-30")),
        v.ListReassignmentsProbe(as_="listed", node=follower, expect=_served("DLD-18")),
        v.ReassignProbe(as_="the-same", node=leader, partition="t-0", to=(leader, added), expect=_served("DLD-30")),
        v.ReassignProbe(
            as_="another",
            node=follower,
            partition="t-0",
            to=(follower, leader),
            expect=v.answers("DLD-30", ALREADY_MOVING),
        ),
        v.ReassignProbe(as_="give-up", node=leader, partition="t-0", expect=v.answers("DLD-30", "error:42")),
        v.Backlog(as_="waits", node=added, at_least=1, expect=v.must("LD-39")),
        v.produced_at("goes-on", leader, "all", v.serves("LD-74"), timeout_ms=5000),
        v.Heal(as_="restart", fault="kill"),
        v.AssignmentIs(as_="moved", partition="t-0", is_=(leader, added), expect=v.must("LD-76")),
        v.znode_present(
            "assigned", "/brokers/topics/t/0/replicas", v.must("LD-76"), has=f"[{v.node_id(leader)},{v.node_id(added)}]"
        ),
        v.LeaderIs(as_="stays", partition="t-0", is_=leader, expect=v.must("DLD-11")),
        v.znode_absent("settled", "/brokers/partitions_reassigned/t/0", v.must("DLD-11")),
        v.ReassignProbe(as_="nothing", node=leader, partition="t-0", expect=v.answers("DLD-30", "error:85")),
    ]
    return draft.timed(session_ms=4000).plan(
        steps, "listed", "nothing", v.acknowledged("moved.ended"), topics=[v.topic([leader, follower])]
    )
