"""A log directory of a node fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from faults.capabilities import Broken, Capability, CapabilityError, Cluster, Evidence
from faults.lives_on import LivesOn

ERRORS = {Broken.REPLACED: "ENOTDIR", Broken.REMOVED: "ENOENT"}


class LogDir(LivesOn):
    """One log directory cannot be opened any more: the next roll, checkpoint or open in it fails for real.

    `partition` names the directory by what it holds, `dir` by its place. Models a disk that is gone or was remounted
    elsewhere. Does not model one that fails in the middle of a write: appends to files that are open go through.
    Healed by putting the directory back with all it held; a node that gave it up uses it again after a restart.
    """

    name: ClassVar[str] = "log-dir"
    capability: ClassVar[Capability] = Capability.LOG_DIRS

    def __init__(
        self,
        cluster: Cluster,
        *,
        node: str,
        partition: str | None = None,
        dir: int | None = None,
        how: str = "replaced",
    ) -> None:
        self.cluster = cluster
        self.node = node
        self.partition = partition
        self.number = dir
        self.how = Broken(how)

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
