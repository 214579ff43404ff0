"""A log directory of a node fails."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from fencepost.faults.capabilities import Broken, Capability, CapabilityError, Cluster, Evidence
from fencepost.faults.disks.disk_generation import directory_fails
from fencepost.faults.disks.rule_fault import DirectoryNumber
from fencepost.faults.fault import Fault
from fencepost.faults.generation import BreakableCluster, GeneratedFault
from fencepost.faults.parameters import FaultParameters, NodeRef, Partition

ERRORS = {Broken.REPLACED: "ENOTDIR", Broken.REMOVED: "ENOENT"}
LogDirFailure = Literal["replaced", "removed"]
FAILURES: tuple[LogDirFailure, ...] = ("replaced", "removed")


class LogDirParameters(FaultParameters):
    """A log directory of a running node fails for real. Healed by what it held; the node uses it after a restart.

    `partition`: the directory that holds this one on the node, found when the step begins; `dir`: by its place.
    """

    node: NodeRef
    partition: Partition | None = None
    dir: DirectoryNumber | None = None
    how: LogDirFailure = "replaced"
    """`replaced`: a regular file stands in its place; `removed`: nothing does."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.partition is None) == (self.dir is None):
            raise ValueError("a failing log directory is named by either `partition` or `dir`")
        return self


class LogDir(Fault):
    """One log directory cannot be opened any more: the next roll, checkpoint or open in it fails for real.

    `partition` names the directory by what it holds, `dir` by its place. Models a disk that is gone or was remounted
    elsewhere. Does not model one that fails in the middle of a write: appends to files that are open go through.
    Healed by putting the directory back with all it held; a node that gave it up uses it again after a restart.

    `proven` by opening the directory, whatever is in it.
    """

    name: ClassVar[str] = "log-dir"
    phrase = "a log directory of {node} is made to fail"
    capability: ClassVar[Capability] = Capability.LOG_DIRS
    Parameters = LogDirParameters
    weight = 3

    def __init__(self, cluster: Cluster, parameters: LogDirParameters) -> None:
        self.cluster = cluster
        self.node = parameters.node
        self.partition = parameters.partition
        self.number = parameters.dir
        self.how = Broken(parameters.how)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        """Breaks one of two directories."""
        if not cluster.several_dirs:
            return None
        number, how, broker = rng.choice((0, 1)), rng.choice(FAILURES), rng.choice(cluster.brokers)
        parameters = LogDirParameters(node=broker, dir=number, how=how)
        return directory_fails(broker, parameters, f"a log directory of {broker} fails")

    def targets(self) -> Mapping[str, object]:
        named = {"node": self.node, "partition": self.partition, "dir": self.number, "how": self.how.value}
        return {key: value for key, value in named.items() if value is not None}

    def set_up(self) -> None:
        if self.partition is not None:
            self.number = self.cluster.log_dirs.holding(self.node, self.partition)
        state = self.cluster.log_dirs.state(self.node, self._dir)
        if state.error is not None:
            raise CapabilityError(f"cannot break {state.path}: it cannot be opened already ({state.error})")

    def inject(self) -> None:
        self.cluster.log_dirs.break_(self.node, self._dir, self.how)

    def verify(self) -> Evidence:
        return self._measure(ERRORS[self.how])

    def recover(self) -> None:
        if self.number is not None:
            self.cluster.log_dirs.restore(self.node, self.number)

    def verify_healed(self) -> Evidence:
        return self._measure(None)

    def _measure(self, wanted: str | None) -> Evidence:
        state = self.cluster.log_dirs.state(self.node, self._dir)
        how = f"opened the directory: {state.error or 'it opens'}"
        return Evidence(state.error == wanted, how, {"path": state.path, "error": state.error})

    @property
    def _dir(self) -> int:
        if self.number is None:
            raise CapabilityError("a failing log directory is named by `partition` or `dir`, and neither is given")
        return self.number
