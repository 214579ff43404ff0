"""Steps that break disks: `faults.disks`. All but `log-dir` need nodes with `disk: breakable`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.plan.base import NodeRef, NodeRefs, Partition
from harness.plan.injects.base import InjectStep

Files = Annotated[str, Field(min_length=1)]
"""A pattern that paths in a log directory match, or their last part: `t-0/*.log`, `leader-epoch-checkpoint`."""
Dir = Annotated[int, Field(ge=0)]
"""A log directory of the node by its place, from 0."""
Bytes = Literal["read", "write", "fsync"]
MOST_MS = 60_000


class InjectLogDir(InjectStep):
    """A log directory of a running node fails for real. Healed by what it held; the node uses it after a restart.

    `partition`: the directory that holds this one on the node, found when the step begins; `dir`: by its place.
    """

    fault: Literal["log-dir"] = "log-dir"
    node: NodeRef
    partition: Partition | None = None
    dir: Dir | None = None
    how: Literal["replaced", "removed"] = "replaced"
    """`replaced`: a regular file stands in its place; `removed`: nothing does."""

    @model_validator(mode="after")
    def _one_of_two(self) -> InjectLogDir:
        if (self.partition is None) == (self.dir is None):
            raise ValueError("a failing log directory is named by either `partition` or `dir`")
        return self


class _InjectDisk(InjectStep):
    node: NodeRef
    dir: Dir | None = None
    """None: each of its log directories."""


class InjectDiskError(_InjectDisk):
    """Reads, writes or fsyncs answer EIO. The node may give the directory up; it uses it again after a restart."""

    fault: Literal["disk-error"] = "disk-error"
    operations: Annotated[tuple[Bytes, ...], Field(min_length=1)] = ("write",)
    files: Files | None = None


class InjectDiskSlow(_InjectDisk):
    """Each operation takes so much longer."""

    fault: Literal["disk-slow"] = "disk-slow"
    ms: Annotated[int, Field(ge=1, le=MOST_MS)]
    operations: Annotated[tuple[Bytes, ...], Field(min_length=1)] = ("write", "fsync")
    files: Files | None = None


class InjectDiskFull(_InjectDisk):
    """What takes more room answers ENOSPC."""

    fault: Literal["disk-full"] = "disk-full"
    files: Files | None = None


class InjectDiskReadOnly(_InjectDisk):
    """Whatever changes anything answers EROFS."""

    fault: Literal["disk-read-only"] = "disk-read-only"


class InjectTornWrite(_InjectDisk):
    """The first bytes of each write reach the file, then EIO is answered."""

    fault: Literal["torn-write"] = "torn-write"
    bytes: Annotated[int, Field(ge=0, le=65_536)]
    files: Files | None = None


class InjectPowerLoss(InjectStep):
    """kill -9, and what was not made durable by fsync is gone. Healed by a restart."""

    fault: Literal["power-loss"] = "power-loss"
    nodes: NodeRefs


class InjectBitFlip(InjectStep):
    """A bit of the newest file that matches `file` turns over. Turned back if the file is still the same then."""

    fault: Literal["bit-flip"] = "bit-flip"
    node: NodeRef
    file: Files
    at: Annotated[int, Field(ge=0)] | Literal["last-batch"] = "last-batch"
    """From the beginning of the file, in bytes; or among the records of its last batch."""
    byte: Annotated[int, Field(ge=0)] = 0
    """So many bytes behind `at`; in the last batch counted round."""
    bit: Annotated[int, Field(ge=0, le=7)] = 0


InjectDisks = (
    InjectLogDir
    | InjectDiskError
    | InjectDiskSlow
    | InjectDiskFull
    | InjectDiskReadOnly
    | InjectTornWrite
    | InjectPowerLoss
    | InjectBitFlip
)
