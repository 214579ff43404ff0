"""Draws random plans. All that is random ends in the plan: the same seed for the same target gives the same file.

A plan is drawn for what target, backend and machine can do. A kind of fault that one of them lacks is drawn and put
back, with the reason (`left_out`), so plans of one seed differ between machines only where that kind comes up.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from faults.capabilities import Capability
from harness.backends import check_backend, lacking
from harness.campaign.draws import KINDS, Drawn, Kind
from harness.campaign.draws.base import EVERYWHERE
from harness.campaign.ground import draw_ground
from harness.campaign.known import deviations
from harness.campaign.script import Script, tolerated
from harness.plan.model import Acknowledged, Coverage, FaultProven, Plan
from harness.targets.target import TargetFile, load_file

VERSION = 5
"""Of what is drawn from a seed; it grows with every change that makes other plans of the same seeds."""

FAULTS = ((1, 5), (2, 6), (3, 5), (4, 2), (5, 1), (6, 1))
"""How many faults a plan has, and how often."""
TRIES = 200
CALM = 0.6
"""The part of plans that never break more at a time than a design tolerates, so that progress is claimed of them."""
DEADLINE_MS = 240_000

OF_CONTAINERS = frozenset({Capability.NETWORK, Capability.RESOURCES})

DOCUMENT = "Campaign"
JUDGED = (
    *(f"ACK-0{number}" for number in range(1, 8)),
    *(f"ISR-0{number}" for number in range(1, 4)),
    "HW-03",
    *(f"SEG-0{number}" for number in range(1, 6)),
)
"""What is judged in every run, whatever its plan."""


@dataclass(frozen=True)
class LeftOut:
    """A kind of fault that no plan has here, and why."""

    kind: str
    reason: str


def draw(target: str, backend: str, seed: int) -> Plan:
    """A random plan for `quorum`, or with a version `apache-kafka:4.3.1`. UsageError if there is no such target."""
    check_backend(backend)
    name, _, version = target.partition(":")
    file = load_file(name)
    possible = frozenset(each for each in _asked(file) if lacking(backend, each) is None)
    return draw_for(file, f"{name}:{version or file.version}", seed, possible)


def draw_for(file: TargetFile, reference: str, seed: int, possible: frozenset[Capability]) -> Plan:
    """As `draw`, for what is named as possible."""
    rng = random.Random(f"fencepost campaign {VERSION} {file.name} {seed}")
    kinds = [kind for kind in KINDS if usable(kind, file, possible) is None]
    twice = any(kind.capability is Capability.DUPLICATE for kind in kinds) and rng.random() < 0.15
    ground = draw_ground(rng, file, possible, twice=twice)
    calm = rng.random() < CALM and (ground.spare_brokers > 0 or ground.spare_quorum > 0)
    script = Script(rng, ground, calm)
    script.open()
    wanted = rng.choices([number for number, _ in FAULTS], weights=[weight for _, weight in FAULTS])[0]
    drawn = _draw_faults(rng, script, kinds, wanted, twice)
    for each in drawn:
        script.add(each)
        script.heal_some()
    script.close()
    return Plan(
        story=f"random-{seed}",
        title="; ".join(each.title for each in drawn),
        document=DOCUMENT,
        seed=seed,
        target=reference,
        requirements=_requirements(file, script),
        level=ground.level,
        timing=ground.timing,
        deadline_ms=DEADLINE_MS * file.stretch,
        topology=ground.topology,
        topics=ground.topics,
        workload=ground.workload,
        steps=tuple(script.steps),
        coverage=tuple(_coverage(script)),
        deviations=deviations(file, ground.topology),
    )


def left_out(target: TargetFile, backend: str) -> list[LeftOut]:
    """What no plan for this target has on this backend and machine, each with its reason."""
    reasons = {each: lacking(backend, each) for each in _asked(target)}
    possible = frozenset(each for each, reason in reasons.items() if reason is None)
    found = ((kind.name, reasons.get(kind.capability) or usable(kind, target, possible)) for kind in KINDS)
    return [LeftOut(name, reason) for name, reason in found if reason is not None]


def _asked(target: TargetFile) -> frozenset[Capability]:
    """What a target can have done to it; containers take what they take, whatever runs in them."""
    return target.capabilities | OF_CONTAINERS


def usable(kind: Kind, target: TargetFile, possible: frozenset[Capability]) -> str | None:
    """Why plans for this target do not have it; None if they do."""
    if kind.capability not in possible:
        return f"{target.name} is not capable of {kind.capability.value}"
    return kind.why_not.get(target.name) or kind.why_not.get(EVERYWHERE)


def _draw_faults(rng: random.Random, script: Script, kinds: list[Kind], wanted: int, twice: bool) -> list[Drawn]:
    """So many, a duplicate among them if the topology has one ready. In a calm plan each is tolerated by itself."""
    ground = script.ground
    drawn: list[Drawn] = []
    for _ in range(TRIES):
        if len(drawn) == wanted:
            break
        kind = rng.choices(kinds, weights=[kind.weight for kind in kinds])[0]
        fault = None if kind.capability is Capability.DUPLICATE else kind.draw(rng, ground)
        if fault is not None and (not script.calm or tolerated(ground, [fault])):
            drawn.append(fault)
    if twice:
        duplicate = next(kind for kind in kinds if kind.capability is Capability.DUPLICATE).draw(rng, ground)
        if duplicate is not None:
            drawn.insert(rng.randrange(len(drawn) + 1), duplicate)
    return drawn


def _requirements(file: TargetFile, script: Script) -> tuple[str, ...]:
    controllers = ("CTRL-01",) if file.dialect.has_controllers else ()
    claimed = (getattr(step, "expect", None) for step in script.steps)
    live = (each.requirement for each in claimed if each is not None)
    return tuple(dict.fromkeys((*JUDGED, *controllers, *live)))


def _coverage(script: Script) -> Iterable[Coverage]:
    """Each fault worked, and records were acknowledged before the first of them and after the last was healed."""
    yield from (FaultProven(fault=name) for name in script.faults)
    yield Acknowledged(acks="all", before=f"{script.faults[0]}.injected")
    yield Acknowledged(acks="all", after="mend.ended")
