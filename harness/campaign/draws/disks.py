"""Draws of disks: directories that fail, late answers, and what a crash of the machine takes away."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from faults.capabilities import Capability
from harness.campaign.draws.base import EVERYWHERE, Drawn, Kind, Part, Undo, Who, undrawn
from harness.campaign.draws.processes import KEEPS_ITS_PLACE
from harness.campaign.ground import Ground
from harness.plan.injects import (
    InjectDiskError,
    InjectDiskFull,
    InjectDiskReadOnly,
    InjectDiskSlow,
    InjectLogDir,
    InjectPowerLoss,
    InjectStep,
    InjectTornWrite,
)

ONE_COPY = "a record that is wrong on one disk is found by the design that looks, and served by the one that does not"


def log_dir(rng: random.Random, ground: Ground) -> Drawn | None:
    """One of two."""
    if not ground.several_dirs:
        return None
    params = {"dir": rng.choice((0, 1)), "how": rng.choice(("replaced", "removed"))}
    return _given_up(rng, ground, InjectLogDir, params, "a log directory of {} fails")


def disk_error(rng: random.Random, ground: Ground) -> Drawn | None:
    if not ground.breakable:
        return None
    operations = rng.choice((("write",), ("write", "fsync"), ("fsync",), ("read",)))
    title = f"each {' and '.join(operations)} of {{}} fails"
    return _given_up(rng, ground, InjectDiskError, {"operations": operations}, title)


def disk_full(rng: random.Random, ground: Ground) -> Drawn | None:
    return _given_up(rng, ground, InjectDiskFull, {}, "the disk of {} is full") if ground.breakable else None


def disk_read_only(rng: random.Random, ground: Ground) -> Drawn | None:
    return _given_up(rng, ground, InjectDiskReadOnly, {}, "the disk of {} is read-only") if ground.breakable else None


def torn_write(rng: random.Random, ground: Ground) -> Drawn | None:
    if not ground.breakable:
        return None
    first = rng.choice((0, 1, 60, 100))
    return _given_up(rng, ground, InjectTornWrite, {"bytes": first}, f"writes of {{}} end after {first} bytes")


def _given_up(
    rng: random.Random, ground: Ground, inject: type[InjectStep], params: Mapping[str, Any], title: str
) -> Drawn:
    """A node that meets the error gives its directory up or ends by itself, as its design has it: it has to be started
    anew when the disk is mended."""
    name = rng.choice(ground.brokers)
    return Drawn(
        inject=inject,
        params={"node": name, **params},
        who=Who(name, 1, "brokers", (name,)),
        undo=Undo.MACHINES,
        parts=(Part("processes of brokers", name), Part("disks", name)),
        brokers=1,
        alone=True,
        again=True,
        title=title.format(name),
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
    Kind("disk-error", 3, Capability.DISKS, disk_error),
    Kind("disk-full", 2, Capability.DISKS, disk_full),
    Kind("disk-read-only", 2, Capability.DISKS, disk_read_only),
    Kind("torn-write", 2, Capability.DISKS, torn_write),
    Kind("bit-flip", 0, Capability.DISKS, undrawn, {EVERYWHERE: ONE_COPY}),
)
