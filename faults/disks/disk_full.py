"""A disk has no room left."""

from __future__ import annotations

from typing import ClassVar

from faults.capabilities import Capability, Cluster, DiskRule, Operation
from faults.disks.rule_fault import RuleFault


class DiskFull(RuleFault):
    """What takes more room answers ENOSPC: writes behind the end of a file, files and directories that are made.

    Models a file system without a free block, as write(2) and open(2) tell of it. What takes none goes on: bytes are
    overwritten, files cut, renamed, removed. Does not model a write of which the first part still found room
    (`torn-write` is that, with another error), room that comes back when files are removed, and the holes of sparse
    files that are filled through a mapping, which the kernel reports late or never.
    """

    name: ClassVar[str] = "disk-full"
    capability: ClassVar[Capability] = Capability.DISKS

    def __init__(self, cluster: Cluster, *, node: str, files: str | None = None, dir: int | None = None) -> None:
        taken = (Operation.GROW, Operation.CREATE)
        super().__init__(cluster, node, dir, DiskRule(frozenset(taken), error="ENOSPC", files=files), taken)
