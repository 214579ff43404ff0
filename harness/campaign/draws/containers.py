"""Draws of containers: off their network, or short of processors."""

from __future__ import annotations

import random

from faults.capabilities import Capability
from harness.campaign.draws.base import EVERYWHERE, Drawn, Kind, Part, Undo, a_broker, undrawn
from harness.campaign.draws.links import AMONG_BROKERS, AMONG_QUORUM, TO_QUORUM
from harness.campaign.ground import Ground
from harness.plan.injects import InjectCpu, InjectDisconnect

DIES_OF_IT = "a node that dies of it stays down, which a random plan cannot tell from a crash"


def disconnect(rng: random.Random, ground: Ground) -> Drawn:
    """Alone: a node that is started while it is off its network finds no address to listen at."""
    who = a_broker(rng, ground)
    return Drawn(
        inject=InjectDisconnect,
        params={"nodes": who.refs},
        who=who,
        undo=Undo.LINKS,
        parts=(AMONG_BROKERS, TO_QUORUM, AMONG_QUORUM),
        brokers=1,
        alone=True,
        title=f"{who.text} off the network",
    )


def cpu(rng: random.Random, ground: Ground) -> Drawn:
    who, cpus = a_broker(rng, ground), rng.choice((0.1, 0.2, 0.5))
    return Drawn(
        inject=InjectCpu,
        params={"nodes": who.refs, "cpus": cpus},
        who=who,
        undo=Undo.MACHINES,
        parts=(Part("processors"), *who.processes()),
        brokers=1,
        title=f"{who.text} has {cpus:g} of a processor",
    )


KINDS = (
    Kind("disconnect", 4, Capability.NETWORK, disconnect),
    Kind("cpu", 3, Capability.RESOURCES, cpu),
    Kind("memory", 0, Capability.RESOURCES, undrawn, {EVERYWHERE: DIES_OF_IT}),
)
