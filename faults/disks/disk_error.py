"""Reads, writes or fsyncs of a disk answer EIO."""

from __future__ import annotations

import random
from typing import Annotated, ClassVar

from pydantic import Field

from fencepost.faults.capabilities import Cluster, DiskRule, Operation
from fencepost.faults.disks.disk_generation import directory_fails
from fencepost.faults.disks.rule_fault import FileOperation, Files, RuleFault, RuleParameters
from fencepost.faults.generation import BreakableCluster, GeneratedFault

GENERATED: tuple[tuple[FileOperation, ...], ...] = (("write",), ("write", "fsync"), ("fsync",), ("read",))


class DiskErrorParameters(RuleParameters):
    """Reads, writes or fsyncs answer EIO. The node may give the directory up; it uses it again after a restart."""

    operations: Annotated[tuple[FileOperation, ...], Field(min_length=1)] = ("write",)
    files: Files | None = None


class DiskError(RuleFault):
    """`operations` (`read`, `write`, `fsync`) answer EIO, of all files or of those that match `files`.

    Models a disk with bad sectors or a controller that has given up, as ext4 and XFS hand it on: the call fails, and
    nothing of it is done. After an fsync that failed the bytes may be lost, though reads show them: an fsync that is
    tried again and works proves nothing (https://wiki.postgresql.org/wiki/Fsync_Errors); here they are there.

    Does not model a file system that goes read-only by itself (`disk-read-only`), errors of closing and of names
    (`rename-error`), and read errors of what the kernel has in its cache: that is dropped when the fault begins, but
    what is written or read later is read without the disk. What is written through a shared mapping fails later, when
    the kernel writes back: the process learns of it by msync or fsync, or never. A mapping that cannot be read ends its
    process by SIGBUS, as it does with a disk.

    `proven` by operations on a file of the fault's own, as all faults that are a rule; no file of the node counts.
    """

    name: ClassVar[str] = "disk-error"
    phrase = "the disk of {node} is failing"
    Parameters = DiskErrorParameters
    weight = 3

    def __init__(self, cluster: Cluster, parameters: DiskErrorParameters) -> None:
        broken = [Operation(name) for name in parameters.operations]
        rule = DiskRule(frozenset(broken), error="EIO", files=parameters.files)
        super().__init__(cluster, parameters.node, parameters.dir, rule, broken)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        if not cluster.breakable:
            return None
        operations, broker = rng.choice(GENERATED), rng.choice(cluster.brokers)
        parameters = DiskErrorParameters(node=broker, operations=operations)
        return directory_fails(broker, parameters, f"each {' and '.join(operations)} of {broker} fails")
