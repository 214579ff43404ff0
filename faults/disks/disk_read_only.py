"""A file system goes read-only."""

from __future__ import annotations

import random
from typing import ClassVar

from fencepost.faults.capabilities import CHANGES, Cluster, DiskRule, Operation
from fencepost.faults.disks.disk_generation import directory_fails
from fencepost.faults.disks.rule_fault import RuleFault, RuleParameters
from fencepost.faults.generation import BreakableCluster, GeneratedFault


class DiskReadOnlyParameters(RuleParameters):
    """Operations that change anything answer EROFS."""


class DiskReadOnly(RuleFault):
    """Operations that change anything answer EROFS, also through files that are open; reading goes on.

    Models what ext4 does with `errors=remount-ro` once it has met an error of its own (ext4(5)). An administrator's
    `mount -o remount,ro` is refused while a file is open for writing, so it is no model for this. fsync has nothing
    left to do, and succeeds. Does not model the error that came before it, nor what the kernel had not written yet.

    `proven` by operations on a file of the fault's own, as all faults that are a rule; no file of the node counts.
    """

    name: ClassVar[str] = "disk-read-only"
    phrase = "the disk of {node} is read-only"
    Parameters = DiskReadOnlyParameters
    weight = 2

    def __init__(self, cluster: Cluster, parameters: DiskReadOnlyParameters) -> None:
        rule = DiskRule(CHANGES | {Operation.OPEN}, error="EROFS", to_write=True)
        tried = (Operation.NAME, Operation.CREATE, Operation.WRITE)
        super().__init__(cluster, parameters.node, parameters.dir, rule, tried)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        if not cluster.breakable:
            return None
        broker = rng.choice(cluster.brokers)
        return directory_fails(broker, DiskReadOnlyParameters(node=broker), f"the disk of {broker} is read-only")
