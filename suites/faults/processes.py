"""Processes that crash, restart, crash again, or find another disk when they return."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

LIVES_MS = (200, 800, 1600)
"""Lifetimes of the processes that crash: some end before they can be in the ISR, some after."""
MORE = 100
"""Records that a replica lacks when it comes back."""


def crash_loop(scenario: v.Scenario, target: v.TargetFacts, seed: int) -> v.Plan:
    """A follower dies, returns, and dies again three times; each time it has announced itself to the cluster."""
    leader, follower, other = v.replica_roles(scenario, seed)
    steps = [
        *v.setup(leader),
        v.inject("loop", v.CrashLoopParameters(node=follower, lives_ms=LIVES_MS, until="ready")),
        v.WorkloadAcks(as_="goes-on", more=MORE, within_ms=v.LIVENESS_TIMEOUT_MS, expect=v.must("ISR-05")),
        v.Heal(as_="stay", fault="loop"),
        _back("back", follower, "ISR-06"),
        *v.teardown(),
    ]
    return _plan(scenario, target, seed, [leader, follower, other], steps, "loop")


def rolling(scenario: v.Scenario, target: v.TargetFacts, seed: int) -> v.Plan:
    """One broker after the other shuts down on request and returns, while records are acknowledged."""
    leader, *others = v.replica_roles(scenario, seed)
    steps = [
        *v.setup(leader),
        v.inject("roll", v.RollingRestartParameters(nodes=(*others, leader))),
        *(_back(f"back-{broker}", broker, "ISR-06") for broker in (*others, leader)),
        *v.teardown(),
    ]
    return _plan(scenario, target, seed, [leader, *others], steps, "roll")


def emptied(scenario: v.Scenario, target: v.TargetFacts, seed: int) -> v.Plan:
    """A follower that has left the ISR returns with an empty disk, and fetches everything from the leader."""
    leader, follower, other = v.replica_roles(scenario, seed)
    steps = [
        *v.setup(leader),
        v.inject("empty", v.EmptiedParameters(nodes=follower)),
        v.IsrIs(as_="left", partition="t-0", lacks=follower, within_ms=v.LIVENESS_TIMEOUT_MS, expect=v.must("ISR-05")),
        v.Heal(as_="restart", fault="empty"),
        _back("refilled", follower, "DIR-04"),
        *v.teardown(),
    ]
    return _plan(scenario, target, seed, [leader, follower, other], steps, "empty")


def restored(scenario: v.Scenario, target: v.TargetFacts, seed: int) -> v.Plan:
    """A follower returns with an earlier copy of its disk, and fetches the rest from the leader."""
    leader, follower, other = v.replica_roles(scenario, seed)
    steps = [
        *v.setup(leader),
        v.Backup(as_="earlier", node=follower),
        v.WorkloadAcks(as_="since", more=MORE, within_ms=v.LIVENESS_TIMEOUT_MS),
        v.inject("restore", v.RestoredParameters(node=follower, backup="earlier")),
        v.IsrIs(as_="left", partition="t-0", lacks=follower, within_ms=v.LIVENESS_TIMEOUT_MS, expect=v.must("ISR-05")),
        v.Heal(as_="restart", fault="restore"),
        _back("caught-up", follower, "DIR-04"),
        *v.teardown(),
    ]
    return _plan(scenario, target, seed, [leader, follower, other], steps, "restore")


def stopped(scenario: v.Scenario, target: v.TargetFacts, seed: int) -> v.Plan:
    """A follower shuts down on request and starts again while it cannot reach the leader: it has what it had before.

    A follower that lost or truncated records (KAFKA-858) would else fetch them again before anything shows it.
    """
    leader, follower, other = v.replica_roles(scenario, seed)
    steps = [
        *v.setup(leader, partition="u-0", work=False),
        v.Produce(as_="before", topic="u", records=MORE, idempotent=True, expect=v.answers("LIVE-03", "served")),
        v.Checkpoint(as_="notified", node=follower, partition="u-0", at_least=MORE, within_ms=v.LIVENESS_TIMEOUT_MS),
        v.inject("stop", v.TerminateParameters(nodes=follower)),
        v.inject("alone", v.CutParameters(from_=follower, to=leader)),
        v.Heal(as_="start", fault="stop"),
        v.LogEnd(
            as_="kept",
            node=follower,
            partition="u-0",
            at_least=MORE,
            within_ms=v.LIVENESS_TIMEOUT_MS,
            expect=v.must("DIR-05"),
        ),
        v.LogEnd(
            as_="lost", node=follower, partition="u-0", at_most=MORE - 1, within_ms=3000, expect=v.never("DIR-05")
        ),
        *v.teardown(work=False),
        v.Produce(as_="afterwards", topic="u", records=10, idempotent=True, expect=v.answers("LIVE-03", "served")),
    ]
    return v.build_plan(
        scenario,
        target,
        seed,
        topics=[v.topic([leader, follower, other], name="u")],
        workload=v.WorkloadSpec(),
        steps=steps,
        coverage=[
            v.FaultProven(fault="stop"),
            v.FaultProven(fault="alone"),
            v.StepDone(step="kept"),
            v.Acknowledged(by="before", acks="all", at_least=MORE),
        ],
    )


def _back(name: str, broker: str, requirement: str) -> v.Step:
    return v.IsrIs(as_=name, partition="t-0", has=broker, within_ms=v.LIVENESS_TIMEOUT_MS, expect=v.must(requirement))


def _plan(
    scenario: v.Scenario, target: v.TargetFacts, seed: int, replicas: list[str], steps: list[v.Step], fault: str
) -> v.Plan:
    return v.build_plan(
        scenario,
        target,
        seed,
        topics=[v.topic(replicas)],
        workload=v.workload_with_losses(target),
        steps=steps,
        deviations=v.expected_losses(target, "may"),
        coverage=[
            v.FaultProven(fault=fault),
            v.StepDone(step="whole"),
            v.Acknowledged(by="p1", acks="all", after=f"{fault}.proven"),
        ],
    )


SCENARIOS = (
    v.fault_scenario(
        "crash-loop",
        "A partition serves on while a follower crashes again and again",
        crash_loop,
        15,
        "ISR-05",
        "ISR-06",
        needs={v.Capability.KILL},
    ),
    v.fault_scenario(
        "rolling-restart",
        "A rolling restart of all brokers under load loses no record",
        rolling,
        15,
        "ISR-06",
        needs={v.Capability.TERMINATE},
    ),
    v.fault_scenario(
        "stopped-follower",
        "A follower that shut down on request has all its committed records when it starts",
        stopped,
        15,
        "DIR-05",
        needs={v.Capability.TERMINATE, v.Capability.LINKS},
    ),
    v.fault_scenario(
        "emptied-follower",
        "A follower that returns with an empty disk is refilled",
        emptied,
        10,
        "DIR-04",
        needs={v.Capability.DIRECTORIES},
    ),
    v.fault_scenario(
        "restored-backup",
        "A follower that returns with an old copy of its disk catches up",
        restored,
        10,
        "DIR-04",
        needs={v.Capability.DIRECTORIES},
    ),
)
