"""Draws of clocks: the wall clock that a node reads. Leases and elections go by another clock, so it costs nothing."""

from __future__ import annotations

import random

from faults.capabilities import Capability
from harness.campaign.draws.base import Drawn, Kind, Part, Undo, Who, a_broker
from harness.campaign.ground import Ground
from harness.plan.injects import InjectClockJump, InjectClockSkew

JUMPS_MS = (-1_800_000, -60_000, -5_000, 5_000, 60_000, 1_800_000)
"""Below an hour: shipped Kafka refuses records that lie further ahead of its own clock."""
BACKWARDS_MS = tuple(each for each in JUMPS_MS if each < 0)
"""For shipped Kafka: put right after a jump forwards, it takes its last attempts to connect for ones of the future, and
makes none (AK-09)."""
KAFKA = ("apache-kafka", "apache-kafka-zk")
SKEWS_PPM = (-200_000, -10_000, 10_000, 200_000)


def jump(rng: random.Random, ground: Ground) -> Drawn | None:
    if not ground.own_clocks:
        return None
    who, ms = _who(rng, ground), rng.choice(BACKWARDS_MS if ground.target.name in KAFKA else JUMPS_MS)
    return Drawn(
        inject=InjectClockJump,
        params={"nodes": who.refs, "ms": ms},
        who=who,
        undo=Undo.MACHINES,
        parts=(Part("clocks"), *who.processes()),
        stalls=True,
        title=f"the clock of {who.text} jumps by {ms / 1000:g} s",
    )


def skew(rng: random.Random, ground: Ground) -> Drawn | None:
    if not ground.own_clocks:
        return None
    who, ppm = _who(rng, ground), rng.choice(SKEWS_PPM)
    return Drawn(
        inject=InjectClockSkew,
        params={"nodes": who.refs, "ppm": ppm},
        who=who,
        undo=Undo.MACHINES,
        parts=(Part("clocks"), *who.processes()),
        stalls=True,
        title=f"the clock of {who.text} is {ppm / 10_000:g} % wrong",
    )


def _who(rng: random.Random, ground: Ground) -> Who:
    """ZooKeeper's servers keep the machine's clock."""
    if not ground.around_zookeeper and rng.random() < 0.3:
        return Who("active-controller", 1, "quorum")
    return a_broker(rng, ground)


KINDS = (
    Kind("clock-jump", 3, Capability.CLOCK, jump),
    Kind("clock-skew", 2, Capability.CLOCK, skew),
)
