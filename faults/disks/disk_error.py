"""Reads, writes or fsyncs of a disk answer EIO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Capability, Cluster, DiskRule, Operation
from faults.disks.rule_fault import RuleFault


class DiskError(RuleFault):
    """`operations` (`read`, `write`, `fsync`) answer EIO, of all files or of those that match `files`.

    Models a disk with bad sectors or a controller that has given up, as ext4 and XFS hand it on: the call fails, and
    nothing of it is done. After an fsync that failed the bytes may be lost, though reads show them: an fsync that is
    tried again and works proves nothing (https://wiki.postgresql.org/wiki/Fsync_Errors); here they are there.

    Does not model a file system that goes read-only by itself (`disk-read-only`), errors of closing and of names, and
    read errors of what the kernel has in its cache: that is dropped when the fault begins, but what is written or read
    later is read without the disk. What is written through a shared mapping fails later, when the kernel writes back:
    the process learns of it by msync or fsync, or never. A mapping that cannot be read ends its process by SIGBUS, as
    it does with a disk.
    """

    name: ClassVar[str] = "disk-error"
    capability: ClassVar[Capability] = Capability.DISKS

    def __init__(
        self,
        cluster: Cluster,
        *,
        node: str,
        operations: Sequence[str] = ("write",),
        files: str | None = None,
        dir: int | None = None,
    ) -> None:
        broken = [Operation(each) for each in operations]
        super().__init__(cluster, node, dir, DiskRule(frozenset(broken), error="EIO", files=files), broken)
