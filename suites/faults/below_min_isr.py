"""Fewer replicas are in sync than min.insync.replicas: nothing more is acknowledged, and readers are served."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

BEFORE = 50
LAG_MS = 4000
"""So long that a follower that stalls is in the ISR while a request is sent."""
AWAY_MS = 5000
"""The time for which a broker is watched that must not lead."""


@v.fault_scenario(
    "below-min-isr",
    "Below min.insync.replicas no record counts as committed, and what was committed can be read",
    seconds=25,
)
def build(draft: v.Draft) -> v.Plan:
    """A record waits for the only follower, which leaves the ISR: one replica that holds it is not enough.

    Later the leader alone is in sync, is shut down and killed, and returns: it must serve what was committed, although
    it can commit nothing without the follower.
    """
    target = draft.target
    leader, follower, _ = draft.roles
    leads = v.must(target.rule("D631-07", "INT-28", "LD-31"))
    stays_away = target.differs("AK-14")
    steps: list[v.Step] = [
        v.burst("before", "u", BEFORE),
        v.inject("stall", v.StallParameters(from_=follower, to=leader)),
        v.produced_at("waits", leader, "all", v.never_serves("ISR-08"), topic="w", timeout_ms=3 * LAG_MS),
        v.IsrIs(as_="left", partition="w-0", is_=leader, expect=v.must("ISR-05")),
        v.Heal(as_="mend", fault="stall"),
        v.IsrIs(as_="back", partition="u-0", has=follower, expect=v.must("ISR-06")),
        v.Checkpoint(as_="noted", node=leader, partition="u-0", at_least=BEFORE),
        *([] if target.leader_driven else _alone(leader, follower, leads, stays_away)),
    ]
    return draft.timed(lag_ms=LAG_MS).plan(
        steps,
        "left",
        "waits",
        *([] if target.leader_driven else ["after-stop"]),
        *([] if target.leader_driven or stays_away else ["after-crash"]),
        v.acknowledged(by="before", at_least=BEFORE),
        topics=[v.topic([leader, follower], name=name) for name in ("u", "w")],
        workload=None,
        afterwards=[v.burst("afterwards", "u", 10)],
    )


def _alone(leader: str, follower: str, leads: v.Expect, stays_away: bool) -> list[v.Step]:
    """Leave the leader alone in sync, and restart it twice.

    Without a controller a dead follower that lacks nothing stays in the ISR, and a leader begins with its log's end.
    On a target that lists AK-14 it `stays_away` after the crash, until the follower is back.
    """
    leads_again = v.LeaderIs(as_="crashed", partition="u-0", is_=leader, expect=leads)
    waits = v.LeaderIs(
        as_="crashed",
        partition="u-0",
        is_=leader,
        within_ms=AWAY_MS,
        expect=v.never("D631-07").model_copy(update={"difference": "AK-14"}),
    )
    return [
        v.inject("gone", v.KillParameters(nodes=follower)),
        v.IsrIs(as_="alone", partition="u-0", is_=leader, expect=v.must("ISR-05")),
        _readable("readable", leader),
        v.Shutdown(as_="stop", nodes=leader),
        v.Start(as_="start", nodes=leader),
        v.LeaderIs(as_="stopped", partition="u-0", is_=leader, expect=leads),
        _readable("after-stop", leader),
        v.inject("crash", v.KillParameters(nodes=leader)),
        v.LeaderIs(as_="leaderless", partition="u-0", is_="none", expect=v.must("ISR-09")),
        v.Heal(as_="restart", fault="crash"),
        *([waits] if stays_away else [leads_again, _readable("after-crash", leader)]),
    ]


def _readable(as_: str, leader: str) -> v.Step:
    """Ask a leader for the end that consumers may read to, until it is that of all records so far."""
    return v.listed(
        as_,
        leader,
        "u",
        v.END,
        version=2,
        epoch=None,
        answer={f"{v.LISTED}.offset": BEFORE},
        within_ms=v.LIVENESS_TIMEOUT_MS,
        expect=v.serves("HW-06"),
    )
