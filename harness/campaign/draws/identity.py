"""Draws of identity: who claims what is not its own."""

from __future__ import annotations

import random

from faults.capabilities import Capability
from harness.campaign.draws.base import EVERYWHERE, Drawn, Kind, Part, Undo, Who, undrawn
from harness.campaign.ground import Ground
from harness.plan.injects import InjectDuplicate

ENDS_AT_ONCE = "a second process with the id ends at once (AZ-02), so nothing could be measured of it"
ENDS_OR_NOT = "a node that is misled ends by itself or goes on, as its design has it; a random plan cannot tell which"


def duplicate(rng: random.Random, ground: Ground) -> Drawn | None:
    """Where the newcomer takes the id, what it stored is gone with it when it is ended: fragile. Around ZooKeeper it
    waits for the id, and an elder whose session ends meanwhile has lost it for good and ends: alone."""
    newcomer = ground.duplicate
    if newcomer is None or newcomer.duplicate_of is None:
        return None
    return Drawn(
        inject=InjectDuplicate,
        params={"node": newcomer.name},
        who=Who(newcomer.name, 1, "brokers", (newcomer.name,)),
        undo=Undo.PROCESSES,
        parts=(Part("processes of duplicates"),),
        brokers=1,
        fragile=True,
        alone=ground.around_zookeeper,
        title=f"a duplicate of {newcomer.duplicate_of} ({newcomer.directory} directory)",
    )


KINDS = (
    Kind("duplicate", 6, Capability.DUPLICATE, duplicate, {"apache-kafka-zk": ENDS_AT_ONCE}),
    Kind("swapped", 0, Capability.IDENTITY, undrawn, {EVERYWHERE: ENDS_OR_NOT}),
    Kind("foreign-cluster", 0, Capability.IDENTITY, undrawn, {EVERYWHERE: ENDS_OR_NOT}),
    Kind("changed-id", 0, Capability.IDENTITY, undrawn, {EVERYWHERE: ENDS_OR_NOT}),
)
