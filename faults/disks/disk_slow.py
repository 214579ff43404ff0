"""A disk answers late."""

from __future__ import annotations

import random
from typing import Annotated, ClassVar

from pydantic import Field

from fencepost.faults.capabilities import Cluster, DiskProbe, DiskRule, Operation
from fencepost.faults.disks.disk_generation import disks_of
from fencepost.faults.disks.rule_fault import FileOperation, Files, RuleFault, RuleParameters
from fencepost.faults.generation import Aim, BreakableCluster, GeneratedFault, HealOrder

LONG_ENOUGH = 0.1
"""Seconds of operations that were late."""
OFTEN_ENOUGH = 3


MOST_MS = 60_000
GENERATED: tuple[tuple[FileOperation, ...], ...] = (("write", "fsync"), ("fsync",), ("read", "write"))


class DiskSlowParameters(RuleParameters):
    """Each operation takes `ms` longer."""

    ms: Annotated[int, Field(ge=1, le=MOST_MS)]
    operations: Annotated[tuple[FileOperation, ...], Field(min_length=1)] = ("write", "fsync")
    files: Files | None = None


class DiskSlow(RuleFault):
    """Each of `operations` (`read`, `write`, `fsync`) takes `ms` longer; what is asked at once waits side by side.

    Models a disk whose answers are late, as when it is shared, throttled, or tries bad sectors again. Does not model a
    queue: a hundred writes of a hundred threads are late once, those of one thread a hundred times. Nor does the kernel
    hide it: writes go through to the disk here, where a page cache would take them at once until it is full.

    `proven` by the quickest of several operations on a file of the fault's own: whatever else keeps a machine busy
    makes some of them late, and a rule makes all of them late.

    kill -9 does not wait for the delay: a process that was sent SIGKILL is answered within 20 ms. An fsync that ends so
    has made nothing durable.
    """

    name: ClassVar[str] = "disk-slow"
    phrase = "the disk of {node} is slowed down by {ms} ms"
    Parameters = DiskSlowParameters
    weight = 3

    def __init__(self, cluster: Cluster, parameters: DiskSlowParameters) -> None:
        slowed = [Operation(name) for name in parameters.operations]
        rule = DiskRule(frozenset(slowed), delay_ms=parameters.ms, files=parameters.files)
        super().__init__(cluster, parameters.node, parameters.dir, rule, slowed)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        if not cluster.breakable:
            return None
        broker, ms = rng.choice(cluster.brokers), rng.choice((5, 20, 50, 200))
        return GeneratedFault(
            parameters=DiskSlowParameters(node=broker, ms=ms, operations=rng.choice(GENERATED)),
            aim=Aim(broker, 1, "brokers", (broker,)),
            heal_order=HealOrder.MACHINES,
            resources=(disks_of(broker),),
            title=f"the disk of {broker} is {ms} ms late",
            brokers=1,
        )

    def _unfit(self, operation: Operation, probed: DiskProbe) -> str:
        if not self.shows(probed):
            return super()._unfit(operation, probed)
        return (
            f"the disk of {self.node} takes {probed.seconds * 1000:.0f} ms for a {operation.value} as it is: a delay "
            f"of {self.rule.delay_ms} ms could not be distinguished from that; use a longer one"
        )

    def _probe(self) -> list[tuple[Operation, DiskProbe]]:
        return [(operation, probed) for operation in self.tried for probed in self._quickest(operation)]

    def _quickest(self, operation: Operation) -> list[DiskProbe]:
        """Return the quickest try in each directory; directories that were late are tried again for a while."""
        found = self._try(operation)
        spent, times = max(trial.seconds for trial in found), 1
        while (spent < LONG_ENOUGH or times < OFTEN_ENOUGH) and any(self.shows(trial) for trial in found):
            again = self._try(operation)
            spent, times = spent + max(trial.seconds for trial in again), times + 1
            found = [min(pair, key=_error_then_speed) for pair in zip(found, again, strict=True)]
        return found

    def shows(self, probed: DiskProbe) -> bool:
        return probed.error is None and probed.seconds * 1000 >= self.rule.delay_ms


def _error_then_speed(probed: DiskProbe) -> tuple[bool, float]:
    return probed.error is None, probed.seconds
