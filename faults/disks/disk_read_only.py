"""A file system goes read-only."""

from __future__ import annotations

from typing import ClassVar

from faults.capabilities import CHANGES, Capability, Cluster, DiskRule, Operation
from faults.disks.rule_fault import RuleFault


class DiskReadOnly(RuleFault):
    """Whatever changes anything answers EROFS, also through files that are open; reading goes on.

    Models what ext4 does with `errors=remount-ro` once it has met an error of its own (ext4(5)). An administrator's
    `mount -o remount,ro` is refused while a file is open for writing, so it is no model for this. fsync has nothing
    left to do, and succeeds. Does not model the error that came before it, nor what the kernel had not written yet.
    """

    name: ClassVar[str] = "disk-read-only"
    capability: ClassVar[Capability] = Capability.DISKS

    def __init__(self, cluster: Cluster, *, node: str, dir: int | None = None) -> None:
        rule = DiskRule(CHANGES | {Operation.OPEN}, error="EROFS", to_write=True)
        super().__init__(cluster, node, dir, rule, (Operation.NAME, Operation.CREATE, Operation.WRITE))
