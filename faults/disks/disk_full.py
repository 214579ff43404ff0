"""A disk has no space left."""

from __future__ import annotations

import random
from typing import ClassVar

from fencepost.faults.capabilities import Cluster, DiskRule, Operation
from fencepost.faults.disks.disk_generation import directory_fails
from fencepost.faults.disks.rule_fault import Files, RuleFault, RuleParameters
from fencepost.faults.generation import BreakableCluster, GeneratedFault


class DiskFullParameters(RuleParameters):
    """Operations that need more space answer ENOSPC."""

    files: Files | None = None


class DiskFull(RuleFault):
    """Operations that need more space answer ENOSPC: writes behind the end of a file, files and directories that are
    made.

    Models a file system without a free block, as write(2) and open(2) tell of it. What takes none goes on: bytes are
    overwritten, files cut, renamed, removed. Does not model a write of which the first part still found room
    (`torn-write` is that, with another error), room that comes back when files are removed, and the holes of sparse
    files that are filled through a mapping, which the kernel reports late or never.

    `proven` by operations on a file of the fault's own, as all faults that are a rule; no file of the node counts.
    """

    name: ClassVar[str] = "disk-full"
    phrase = "the disk of {node} is full"
    Parameters = DiskFullParameters
    weight = 2

    def __init__(self, cluster: Cluster, parameters: DiskFullParameters) -> None:
        taken = (Operation.GROW, Operation.CREATE)
        rule = DiskRule(frozenset(taken), error="ENOSPC", files=parameters.files)
        super().__init__(cluster, parameters.node, parameters.dir, rule, taken)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        if not cluster.breakable:
            return None
        broker = rng.choice(cluster.brokers)
        return directory_fails(broker, DiskFullParameters(node=broker), f"the disk of {broker} is full")
