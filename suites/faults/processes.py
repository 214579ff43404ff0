"""Processes that crash, restart, crash again, or find another disk when they return."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

LIVES_MS = (200, 800, 1600)
"""Lifetimes of the processes that crash: some end before they can be in the ISR, some after."""
MORE = 100
"""Records that a replica lacks when it comes back."""
LAG_MS = 20_000
"""Long enough that a follower which hears nothing is in the ISR while a deletion waits for it."""
DELETED, DELETION_MS = 1, 1500
"""The first offset that a deletion leaves, and for how long the leader waits for its followers."""


@v.fault_scenario("crash-loop", "A partition serves on while a follower crashes again and again", seconds=15)
def crash_loop(draft: v.Draft) -> v.Plan:
    """A follower dies, returns, and dies again three times; each time it has announced itself to the cluster."""
    _, follower, _ = draft.roles
    steps: list[v.Step] = [
        v.inject("loop", v.CrashLoopParameters(node=follower, lives_ms=LIVES_MS, until="ready")),
        v.goes_on("ISR-05", more=MORE),
        v.Heal(as_="stay", fault="loop"),
        _back("back", follower, "ISR-06"),
    ]
    return draft.plan(steps, "whole", v.acknowledged("loop.proven"), may_lose=True)


@v.fault_scenario("rolling-restart", "A rolling restart of all brokers under load loses no record", seconds=15)
def rolling(draft: v.Draft) -> v.Plan:
    """One broker after the other shuts down on request and returns, while records are acknowledged."""
    leader, *others = draft.roles
    steps: list[v.Step] = [
        v.inject("roll", v.RollingRestartParameters(nodes=(*others, leader))),
        *(_back(f"back-{broker}", broker, "ISR-06") for broker in (*others, leader)),
    ]
    return draft.plan(steps, "whole", v.acknowledged("roll.proven"), may_lose=True)


@v.fault_scenario("emptied-follower", "A follower that returns with an empty disk is refilled", seconds=10)
def emptied(draft: v.Draft) -> v.Plan:
    """A follower that has left the ISR returns with an empty disk, and fetches everything from the leader."""
    _, follower, _ = draft.roles
    steps: list[v.Step] = [
        v.inject("empty", v.EmptiedParameters(nodes=follower)),
        v.IsrIs(as_="left", partition="t-0", lacks=follower, expect=v.must("ISR-05")),
        v.Heal(as_="restart", fault="empty"),
        _back("refilled", follower, "DIR-04"),
    ]
    return draft.plan(steps, "whole", v.acknowledged("empty.proven"), may_lose=True)


@v.fault_scenario("restored-backup", "A follower that returns with an old copy of its disk catches up", seconds=10)
def restored(draft: v.Draft) -> v.Plan:
    """A follower returns with an earlier copy of its disk, and fetches the rest from the leader."""
    _, follower, _ = draft.roles
    steps: list[v.Step] = [
        v.Backup(as_="earlier", node=follower),
        v.WorkloadAcks(as_="since", more=MORE),
        v.inject("restore", v.RestoredParameters(node=follower, backup="earlier")),
        v.IsrIs(as_="left", partition="t-0", lacks=follower, expect=v.must("ISR-05")),
        v.Heal(as_="restart", fault="restore"),
        _back("caught-up", follower, "DIR-04"),
    ]
    return draft.plan(steps, "whole", v.acknowledged("restore.proven"), may_lose=True)


@v.fault_scenario(
    "stopped-follower",
    "A follower that was shut down, and then killed, has all its committed records when it starts",
    seconds=22,
)
def stopped(draft: v.Draft) -> v.Plan:
    """A follower shuts down on request and starts again while it cannot reach the leader: it has what it had before.

    A follower that lost or truncated records (KAFKA-858) would else fetch them again before anything shows it. Then it
    copies more and is killed: the state that it saved at the clean stop is not its state any more (KAFKA-15375).
    """
    leader, follower, other = draft.roles
    steps: list[v.Step] = [
        v.burst("before", "u", MORE),
        _notified("notified", follower, MORE),
        v.inject("stop", v.TerminateParameters(nodes=follower)),
        v.inject("alone", v.CutParameters(from_=follower, to=leader)),
        v.Heal(as_="start", fault="stop"),
        _has("kept", follower, MORE, "DIR-05"),
        _loses("lost", follower, MORE, "DIR-05"),
        v.Heal(as_="together", fault="alone"),
        *_killed(leader, follower),
    ]
    return draft.timed(lag_ms=LAG_MS).plan(
        steps,
        "kept",
        v.acknowledged(by="before", at_least=MORE),
        v.acknowledged(by="since", at_least=MORE),
        topics=[v.topic([leader, follower, other], name=name) for name in ("u", "d")],
        workload=None,
        afterwards=[
            _deletion("deleted", leader, v.serves("DSTO-09"), within_ms=v.LIVENESS_TIMEOUT_MS),
            v.burst("afterwards", "u", 10),
        ],
    )


def _killed(leader: str, follower: str) -> list[v.Step]:
    """Copy more records, hear no more of the leader, and be killed.

    The follower is in the ISR and lives, so that no deletion is over before it has taken part.
    """
    return [
        v.IsrIs(as_="back", partition="u-0", has=follower, expect=v.must("ISR-06")),
        _produced("deletable", leader),
        v.burst("since", "u", MORE),
        _notified("notified-again", follower, 2 * MORE),
        v.inject("unheard", v.StallParameters(from_=follower, to=leader)),
        _deletion("deletes", leader, v.never_serves("DSTO-09")),
        v.inject("crash", v.KillParameters(nodes=follower)),
        v.Heal(as_="restart", fault="crash"),
        _loses("lost-since", follower, 2 * MORE, "DSTO-04"),
    ]


def _notified(as_: str, broker: str, offset: int) -> v.Step:
    return v.Checkpoint(as_=as_, node=broker, partition="u-0", at_least=offset)


def _has(as_: str, broker: str, offset: int, requirement: str) -> v.Step:
    return v.LogEnd(as_=as_, node=broker, partition="u-0", at_least=offset, expect=v.must(requirement))


def _loses(as_: str, broker: str, offset: int, requirement: str) -> v.Step:
    """Expect that nothing is cut off, also not some time after the broker answers: it opens its logs later."""
    return v.LogEnd(
        as_=as_, node=broker, partition="u-0", at_most=offset - 1, within_ms=3000, expect=v.never(requirement)
    )


def _produced(as_: str, leader: str) -> v.Step:
    """Write records that no consumer waits for, to a topic of their own."""
    records = [{"value": f"{as_}-{number}"} for number in range(2 * DELETED)]
    return v.produced(as_, leader, "d", records, timeout_ms=v.LIVENESS_TIMEOUT_MS, expect=v.serves("LIVE-03"))


def _deletion(as_: str, leader: str, expect: v.ExpectOutcome, within_ms: int = 0) -> v.Step:
    return v.deleted_before(
        as_, leader, "d", DELETED, expect, wait_ms=DELETION_MS, timeout_ms=2 * DELETION_MS, within_ms=within_ms
    )


def _back(name: str, broker: str, requirement: str) -> v.Step:
    return v.IsrIs(as_=name, partition="t-0", has=broker, expect=v.must(requirement))
