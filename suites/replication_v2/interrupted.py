"""kill -9 of the leader at every step of a reassignment: the next leader finishes it."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.replication_v2 import log_lines as log

STEPS = (
    "noticed",
    "start-replica-sent",
    "caught-up",
    "close-replica-sent",
    "old-out-of-isr",
    "isr-written",
    "replicas-written",
    "self-close-sent",
    "reassigned-deleted",
    "leader-deleted",
)
"""The steps as the leader logs them, in their order (DLD-26)."""
OF_OUTSIDERS = ("self-close-sent",)
"""Steps that only a leader outside the new replicas takes."""


def moved(step: str, outside: bool, draft: v.Draft) -> v.Plan:
    """A partition moves from two replicas to two, of which one is new. The old leader is one of them, unless `outside`.

    The leader may have taken the next step already when the line is seen and the process is killed.
    """
    leader, follower, duplicate = draft.roles
    to = (follower, duplicate) if outside else (duplicate, leader)
    steps: list[v.Step] = [
        v.ReassignProbe(as_="move", node=leader, partition="t-0", to=to, expect=v.serves("DLD-18")),
        v.inject("kill", v.KillParameters(nodes=leader), when=v.LogLine(says=log.reached(step, "t-0"))),
        v.LeaderIs(as_="led", partition="t-0", is_not=leader, expect=v.must("DLD-10")),
        v.Heal(as_="restart", fault="kill"),
        v.AssignmentIs(as_="moved", partition="t-0", is_=to, expect=v.must("DLD-26", "LD-54")),
        v.IsrIs(as_="in-sync", partition="t-0", is_=to, expect=v.must("LD-76", "DLD-36")),
        v.znode_absent("done", "/brokers/partitions_reassigned/t/0", v.must("DLD-11")),
        v.LeaderIs(as_="leads", partition="t-0", is_not=leader if outside else None, expect=v.must("LIVE-01")),
    ]
    return draft.plan(steps, "moved", v.acknowledged("moved.ended"), topics=[v.topic([leader, follower])])


for _outside, _where in ((False, "inside"), (True, "outside")):
    for _step in STEPS:
        if _outside or _step not in OF_OUTSIDERS:
            v.replication_v2_scenario(
                f"v2-reassignment-{_where}-{_step}",
                f"A reassignment completes although its leader, {_where} the new replicas, is killed at {_step}",
                _step,
                _outside,
                seconds=12,
            )(moved)
