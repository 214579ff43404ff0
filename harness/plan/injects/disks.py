"""Steps that break disks: `faults.disks`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.plan.base import NodeRef, Partition
from harness.plan.injects.base import InjectStep


class InjectLogDir(InjectStep):
    """A log directory of a running node fails for real. Healed by what it held; the node uses it after a restart.

    `partition`: the directory that holds this one on the node, found when the step begins; `dir`: by its place.
    """

    fault: Literal["log-dir"] = "log-dir"
    node: NodeRef
    partition: Partition | None = None
    dir: Annotated[int, Field(ge=0)] | None = None
    how: Literal["replaced", "removed"] = "replaced"
    """`replaced`: a regular file stands in its place; `removed`: nothing does."""

    @model_validator(mode="after")
    def _one_of_two(self) -> InjectLogDir:
        if (self.partition is None) == (self.dir is None):
            raise ValueError("a failing log directory is named by either `partition` or `dir`")
        return self


InjectDisks = InjectLogDir
