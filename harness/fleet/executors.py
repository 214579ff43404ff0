"""The executors of a fleet: a first task on each tries what plans need there. Some get no plan.

An executor that gets none fails each task. Spark gives that task to another one, and this one no further task of the
stage: see `SETTINGS`.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Capability
from fencepost.harness.backends import PROCESS, check_backend, prepare
from fencepost.harness.campaign.planner import reasons_here
from fencepost.harness.doctor import NEEDED, examine
from fencepost.harness.doctor.machine import available_memory
from fencepost.harness.errors import HarnessError
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.registry import load

if TYPE_CHECKING:
    from pyspark import SparkContext

TRIES = 5
"""Rounds of first tasks, after which an executor that had none is asked before the next round."""
MOST_FAILURES = 1000
SETTINGS = {
    # A task fails by the loss of its executor, or on one that gets no plan.
    "spark.task.maxFailures": f"{MOST_FAILURES}",
    "spark.excludeOnFailure.enabled": "true",
    "spark.excludeOnFailure.stage.maxFailedTasksPerExecutor": "1",
    # Of executors on one machine each counts alone.
    "spark.excludeOnFailure.task.maxTaskAttemptsPerNode": f"{MOST_FAILURES - 1}",
    "spark.excludeOnFailure.stage.maxFailedExecutorsPerNode": f"{MOST_FAILURES}",
    "spark.excludeOnFailure.application.enabled": "false",  # of these tasks the driver decides
}


class NoPlanHere(Exception):
    """This executor gets no plan."""


@dataclass(frozen=True)
class Abilities:
    """The result of a first task. `unfit`: why no plan can run there."""

    machine: str
    unfit: str | None
    lacks: Mapping[Capability, str]
    """The capabilities that plans could need and the machine has not, with the reasons."""


def machine() -> str:
    """Return the name of the executor that this task runs on: its host, and the process that starts its tasks."""
    return f"{socket.gethostname()}:{os.getppid()}"


def tried(target: str, backend: str) -> Abilities:
    """Try on this machine what plans for a target need."""
    lacks = reasons_here(load(target).file, backend)
    [fuse] = examine(("fuse",))
    if not fuse.available and fuse.answered:
        lacks.setdefault(Capability.DISKS, fuse.how)
    return Abilities(machine(), _unfit(target, backend), lacks)


def _unfit(target: str, backend: str) -> str | None:
    try:
        check_backend(backend)
        loaded = load(target)
        prepare(backend, loaded)
    except HarnessError as error:
        return str(error)
    found = examine(_mechanisms(loaded.file, backend))
    absent = [each for each in found if not each.available and each.answered]
    if absent:
        return "; ".join(f"{each.name}: {each.how}" for each in absent)
    if (there := available_memory() // 1_000_000) < loaded.file.memory_mb:
        return f"memory: {there} MB are available, and a plan takes {loaded.file.memory_mb}"
    return None


def _mechanisms(file: TargetFile, backend: str) -> Sequence[str]:
    if backend != PROCESS:
        return ("toxiproxy",)
    mounts = file.process is not None and file.process.names == "mount"
    return (*NEEDED, "namespaces") if mounts else NEEDED


def ask(spark: SparkContext, cores_per_plan: int, target: str, backend: str) -> list[Abilities]:
    """Try on each executor what plans need: as many tasks as there are slots, until all executors had one."""
    found: dict[str, Abilities] = {}
    for _ in range(TRIES):
        slots = max(1, spark.defaultParallelism // cores_per_plan)
        tasks = spark.parallelize(range(slots), slots)
        found |= {each.machine: each for each in tasks.map(lambda _: tried(target, backend)).collect()}
        if len(found) >= _executors(spark):
            break
    return list(found.values())


def _executors(spark: SparkContext) -> int:
    """Return the number of executors that are registered. The driver is listed, too, and one in local mode."""
    listed = len(spark._jsc.sc().statusTracker().getExecutorInfos())
    return listed if (spark.master or "").startswith("local") else listed - 1


def missing(answers: Iterable[Abilities]) -> dict[Capability, str]:
    """Return what no plan can have: the capabilities that an executor lacks, with the reason.

    It names the executor, unless all lack the same for the same reason.
    """
    every = list(answers)
    found: dict[Capability, str] = {}
    for capability in dict.fromkeys(capability for each in every for capability in each.lacks):
        first = next(each for each in every if capability in each.lacks)
        alike = len({each.lacks.get(capability) for each in every}) == 1
        found[capability] = first.lacks[capability] if alike else f"{first.machine}: {first.lacks[capability]}"
    return found
