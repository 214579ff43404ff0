"""Draws of disks: directories that fail, late answers, and what a crash of the machine takes away."""

from __future__ import annotations

import random

from faults.capabilities import Capability
from harness.campaign.draws.base import EVERYWHERE, Drawn, Kind, Part, Undo, Who, undrawn
from harness.campaign.draws.processes import KEEPS_ITS_PLACE
from harness.campaign.ground import Ground
from harness.plan.injects import InjectDiskSlow, InjectLogDir, InjectPowerLoss

GIVES_UP = (
    "a node that meets the error gives its directory up or ends by itself, as its design has it; a random plan cannot "
    "tell which"
)
ONE_COPY = "a record that is wrong on one disk is found by the design that looks, and served by the one that does not"


def log_dir(rng: random.Random, ground: Ground) -> Drawn | None:
    """One of two fails; the node gives it up, and has to be restarted when it is back."""
    if not ground.several_dirs:
        return None
    name = rng.choice(ground.brokers)
    return Drawn(
        inject=InjectLogDir,
        params={"node": name, "dir": rng.choice((0, 1)), "how": rng.choice(("replaced", "removed"))},
        who=Who(name, 1, "brokers", (name,)),
        undo=Undo.MACHINES,
        parts=(Part("processes of brokers", name),),
        brokers=1,
        alone=True,
        again=True,
        title=f"a log directory of {name} fails",
    )


def disk_slow(rng: random.Random, ground: Ground) -> Drawn | None:
    if not ground.breakable:
        return None
    name, ms = rng.choice(ground.brokers), rng.choice((5, 20, 50, 200))
    return Drawn(
        inject=InjectDiskSlow,
        params={"node": name, "ms": ms, "operations": rng.choice((("write", "fsync"), ("fsync",), ("read", "write")))},
        who=Who(name, 1, "brokers", (name,)),
        undo=Undo.MACHINES,
        parts=(Part("disks", name),),
        brokers=1,
        title=f"the disk of {name} is {ms} ms late",
    )


def power_loss(rng: random.Random, ground: Ground) -> Drawn | None:
    """Of one machine: what two lose at a time may be the only copies."""
    if not ground.breakable:
        return None
    name = rng.choice(ground.brokers)
    return Drawn(
        inject=InjectPowerLoss,
        params={"nodes": name},
        who=Who(name, 1, "brokers", (name,)),
        undo=Undo.PROCESSES,
        parts=(Part("processes of brokers", name), Part("disks", name)),
        brokers=1,
        ends=True,
        fragile=True,
        title=f"{name} loses its power",
    )


KINDS = (
    Kind("log-dir", 3, Capability.LOG_DIRS, log_dir),
    Kind("disk-slow", 3, Capability.DISKS, disk_slow),
    Kind("power-loss", 3, Capability.DISKS, power_loss, {"leader-driven": KEEPS_ITS_PLACE}),
    *(
        Kind(name, 0, Capability.DISKS, undrawn, {EVERYWHERE: GIVES_UP})
        for name in ("disk-error", "disk-full", "disk-read-only", "torn-write")
    ),
    Kind("bit-flip", 0, Capability.DISKS, undrawn, {EVERYWHERE: ONE_COPY}),
)
