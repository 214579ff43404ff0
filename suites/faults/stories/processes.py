"""Processes that die, end, come back and come back again, and what they find on disk then."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import IsrIs, WorkloadAcks
from harness.plan.injects import InjectCrashLoop, InjectEmptied, InjectRestored, InjectRollingRestart
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.steps import Backup, Heal, Step
from suites.building import (
    LIVELY_MS,
    cast,
    closing,
    compose,
    losses,
    must,
    opening,
    pace,
    topic,
    work_despite_losses,
)
from suites.faults.story import everywhere
from suites.story import Story, TargetFacts

LIVES_MS = (200, 800, 1600)
"""Of the processes that crash: before and after each can have been let into the ISR."""
MORE = 100
"""Records that a replica lacks when it comes back."""


def crash_loop(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A follower dies, comes back, and dies again three times; each time it has told others that it is there."""
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        InjectCrashLoop(as_="loop", node=follower, lives_ms=LIVES_MS, until="ready"),
        WorkloadAcks(as_="goes-on", more=MORE, within_ms=LIVELY_MS, expect=must("ISR-05")),
        Heal(as_="stay", fault="loop"),
        _back("back", follower, "ISR-06"),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], steps, "loop")


def rolling(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Every broker ends as it is asked to and comes back, one after the other, while records are acknowledged."""
    leader, *others = cast(story, seed)
    steps = [
        *opening(leader),
        InjectRollingRestart(as_="roll", nodes=(*others, leader)),
        *(_back(f"back-{broker}", broker, "ISR-06") for broker in (*others, leader)),
        *closing(),
    ]
    return _told(story, target, seed, [leader, *others], steps, "roll")


def emptied(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A follower that the ISR goes on without comes back with an empty disk, and gets everything from the leader."""
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        InjectEmptied(as_="empty", nodes=follower),
        IsrIs(as_="left", partition="t-0", lacks=follower, within_ms=LIVELY_MS, expect=must("ISR-05")),
        Heal(as_="restart", fault="empty"),
        _back("refilled", follower, "DIR-04"),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], steps, "empty")


def restored(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A follower comes back with what its disk held some time ago, and gets the rest from the leader."""
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        Backup(as_="monday", node=follower),
        WorkloadAcks(as_="since", more=MORE, within_ms=LIVELY_MS),
        InjectRestored(as_="restore", node=follower, backup="monday"),
        IsrIs(as_="left", partition="t-0", lacks=follower, within_ms=LIVELY_MS, expect=must("ISR-05")),
        Heal(as_="restart", fault="restore"),
        _back("caught-up", follower, "DIR-04"),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], steps, "restore")


def _back(name: str, broker: str, requirement: str) -> Step:
    return IsrIs(as_=name, partition="t-0", has=broker, within_ms=LIVELY_MS, expect=must(requirement))


def _told(story: Story, target: TargetFacts, seed: int, replicas: list[str], steps: list[Step], fault: str) -> Plan:
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic(replicas)],
        workload=work_despite_losses(target),
        steps=steps,
        deviations=losses(target, "may"),
        coverage=[
            FaultProven(fault=fault),
            StepDone(step="whole"),
            Acknowledged(by="p1", acks="all", after=f"{fault}.proven"),
        ],
    )


STORIES = (
    everywhere(
        "crash-loop",
        "A follower crashes again and again, and the others go on without it",
        crash_loop,
        15,
        "ISR-05",
        "ISR-06",
        needs={Capability.KILL},
    ),
    everywhere(
        "rolling-restart",
        "All brokers are restarted one after the other under load, and no record is lost",
        rolling,
        15,
        "ISR-06",
        needs={Capability.TERMINATE},
    ),
    everywhere(
        "emptied-follower",
        "A follower comes back with an empty disk and is refilled",
        emptied,
        10,
        "DIR-04",
        needs={Capability.DIRECTORIES},
    ),
    everywhere(
        "restored-backup",
        "A follower comes back with an old copy of its disk and catches up",
        restored,
        10,
        "DIR-04",
        needs={Capability.DIRECTORIES},
    ),
)
