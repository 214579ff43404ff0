"""A leader dies while its followers do not know all that it has committed, or do not have it."""

from __future__ import annotations

from functools import partial
from typing import Literal

from fencepost.suites import vocabulary as v

UNREPORTED, BEFORE = 5, 50
"""Records that the successor does not know to be committed, and those before them."""
LAG_MS = 8000
"""So long that a successor which elections delay on a busy machine leads before its follower leaves the ISR."""
LONG_LAG_MS = 20_000
"""Long enough that no stall of the scenario drops a replica from the ISR."""
LATE_MS = 8000
"""How late the answers of the second leader are: it dies after its first answer, and before its second one."""


@v.fault_scenario(
    "empty-behind-the-successor",
    "A replica that lacks what the last leader had committed does not join the ISR, and the visible end stays",
    seconds=25,
)
def empty_follower(draft: v.Draft) -> v.Plan:
    """The successor holds committed records that it does not know to be committed, and the last replica has none.

    That replica's fetches are not answered, so that it stays empty: it must not join the ISR, although it lacks nothing
    that the successor knows to be committed (KAFKA-7128). Nor does the end of the partition, as clients see it, go back
    to that (KIP-207).
    """
    leader, successor, empty = draft.roles
    moved = v.must(draft.target.rule("D631-07", "INT-28", "LD-31"))
    steps: list[v.Step] = [
        *v.held_unreported(leader, successor, empty, UNREPORTED, end=UNREPORTED),
        v.IsrIs(as_="left", partition="u-0", lacks=empty, expect=v.must("ISR-05")),
        _committed(leader, UNREPORTED),
        # The observer asks each leader for the end once a second.
        v.Hold(as_="end-shown", after="committed.ended", ms=1500),
        v.inject("unanswered", v.StallParameters(from_=empty, to=successor, streams="replies")),
        v.inject("leader-dies", v.KillParameters(nodes=leader)),
        v.LeaderIs(as_="moved", partition="u-0", is_=successor, expect=moved),
        v.learns_leader("known", empty, "u-0", successor, moved),
        v.IsrIs(as_="joins-empty", partition="u-0", has=empty, within_ms=4000, expect=v.never("ISR-10")),
    ]
    return draft.timed(lag_ms=LAG_MS).plan(
        steps,
        *_acknowledged("leader-dies"),
        "known",
        "afterwards",
        topics=[v.topic([leader, successor, empty], name="u")],
        workload=None,
        afterwards=[v.burst("afterwards", "u", 10)],
    )


def _committed(leader: str, records: int) -> v.Step:
    return v.Checkpoint(as_="committed", node=leader, partition="u-0", at_least=records)


def _acknowledged(before: str) -> list[v.Coverage]:
    return [
        v.acknowledged(before=f"{before}.injected", by=f"unreported-{number}") for number in range(1, UNREPORTED + 1)
    ]


_second = partial(
    v.fault_scenario,  # A design whose followers truncate to their own high watermark loses records here (KIP-101).
    dialects=v.WITHOUT_ZOOKEEPER | v.ZOOKEEPER_MODE,
)


@_second(
    "successor-dies-unheard",
    "A follower that cannot ask its new leader drops nothing that was acknowledged",
    "silent",
    seconds=20,
)
@_second(
    "successor-dies-after-an-answer",
    "A follower that has compared its log with its new leader's drops nothing that both have",
    "slow",
    seconds=30,
)
def second_death(second: Literal["silent", "slow"], draft: v.Draft) -> v.Plan:
    """The leader dies, and its successor before the last replica has compared its log with the successor's.

    The last replica is in the ISR and holds all that was acknowledged, but does not know that it is committed. It may
    drop nothing that the successor has: it leads next. The successor's answers do not reach it at all (`silent`), or
    late, so that it gets the first one only (`slow`).
    """
    leader, successor, last = draft.roles
    draft = draft.timed(lag_ms=LONG_LAG_MS)
    moved = draft.target.rule("D631-07", "INT-28", "LD-31")
    answers: v.Step = v.inject("unheard", v.StallParameters(from_=last, to=successor, streams="replies"))
    if second == "slow":
        answers = v.inject("unheard", v.SlowParameters(from_=last, to=successor, latency_ms=LATE_MS, streams="replies"))
    steps: list[v.Step] = [
        v.burst("before", "u", BEFORE),
        *v.held_unreported(leader, last, successor, UNREPORTED, end=BEFORE + UNREPORTED),
        v.Heal(as_="released", fault="slow"),
        _committed(leader, BEFORE + UNREPORTED),
        v.LogEnd(as_="shared", node=successor, partition="u-0", is_=BEFORE + UNREPORTED),
        answers,
        v.inject("leader-dies", v.KillParameters(nodes=leader)),
        v.LeaderIs(as_="moved", partition="u-0", is_=successor, expect=v.must(moved)),
        v.learns_leader("known", last, "u-0", successor, v.must(moved)),
        v.Hold(as_="first-answer", after="known.ended", ms=LATE_MS * 5 // 4 if second == "slow" else 1000),
        *_keeps_its_log(draft.target, last),
        v.IsrIs(as_="in-sync", partition="u-0", has=last),
        v.inject("successor-dies", v.KillParameters(nodes=successor)),
        v.LeaderIs(as_="leads", partition="u-0", is_=last, expect=v.must(moved, "ISR-06")),
        v.burst("others", "u", 10),
    ]
    return draft.plan(
        steps,
        v.acknowledged(by="before", at_least=BEFORE),
        *_acknowledged("leader-dies"),
        v.acknowledged(by="others", at_least=10),
        topics=[v.topic([leader, successor, last], name="u", min_isr=1)],
        workload=None,
        afterwards=[v.burst("afterwards", "u", 10)],
    )


def _keeps_its_log(target: v.TargetFacts, last: str) -> list[v.Step]:
    """Expect that a follower keeps what its high watermark does not cover, in a design with a quorum of controllers."""
    if target.uses_zookeeper:
        return []
    return [
        v.LogEnd(as_="keeps-its-log", node=last, partition="u-0", is_=BEFORE + UNREPORTED, expect=v.must("D631-34"))
    ]
