"""A node comes back with what its disk held some time ago."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from fencepost.faults.capabilities import Capability, Cluster, Contents, Evidence, Running
from fencepost.faults.generation import BreakableCluster, GeneratedFault, one_holder
from fencepost.faults.parameters import EndingMethod, FaultParameters, Milliseconds, Name, NodeRef, PlannedNode
from fencepost.faults.processes.process_fault import (
    KEEPS_ITS_PLACE,
    ProcessFault,
    await_ready,
    generated,
    measured,
)

METHODS: tuple[EndingMethod, ...] = ("kill", "shutdown")


class RestoredParameters(FaultParameters):
    """Ended, and an old copy of its log directories is put back. Healed by a restart on it."""

    node: NodeRef
    backup: Name | None = None
    """The name of an earlier `backup` step of this node. Without it a copy is made first, `age_ms` before the end."""
    age_ms: Milliseconds = 2000
    how: EndingMethod = "kill"

    def problems(self, nodes: Iterable[PlannedNode], backups: Iterable[str]) -> Iterator[tuple[str, str]]:
        made = sorted(backups)
        if self.backup is not None and self.backup not in made:
            yield "backup", f"no backup `{self.backup}` comes before this; so far: {', '.join(made) or 'none'}"


class Restored(ProcessFault):
    """The node is ended, and a copy of its directories from an earlier moment is put back. Healed by a restart on it.

    Models a backup or a snapshot that is restored, and a disk image that is started again. The copy is the one that a
    `backup` step made under the name `backup`; without that one is made first, and the node goes on for `age_ms`. It
    is made while the process is stopped (SIGSTOP), so it is what a kill -9 at that instant would have left on this
    machine: crash-consistent in the order of the process's writes. It does not model a copy that was made from under
    running writes file by file, which no server promises to read, nor what a crash of the machine would have left.

    `proven` by a digest of all segments and of the identity: it is that of the copy, and not that of what the process
    had left.

    What the node had written since the copy does not come back by healing (it stands aside in its folder); healed means
    that the node runs and answers again. Of a controller that takes back votes that it gave, as of `emptied`.
    """

    name: ClassVar[str] = "restored"
    phrase = "the directories of {node} are replaced by an earlier copy"
    capability: ClassVar[Capability] = Capability.DIRECTORIES
    Parameters = RestoredParameters
    weight = 2
    left_out: ClassVar[Mapping[str, str]] = {"leader-driven": KEEPS_ITS_PLACE}

    def __init__(self, cluster: Cluster, parameters: RestoredParameters) -> None:
        super().__init__(cluster, (parameters.node,))
        self.node = parameters.node
        self.backup = parameters.backup
        self.age_ms = parameters.age_ms
        self.how = parameters.how
        self.had: Contents | None = None

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim = one_holder(rng, cluster)
        parameters = RestoredParameters(node=aim.text, age_ms=rng.choice((500, 1000, 3000)), how=rng.choice(METHODS))
        title = f"{aim.text} gets an old copy of its directory ({parameters.how})"
        return generated(parameters, aim, title, stops_nodes=True, fragile=True)

    def set_up(self) -> None:
        self.require_running("put a copy back under")
        if self.backup is not None:
            self.cluster.directories.copied(self.node, self.backup)

    def inject(self) -> None:
        if self.backup is None:
            self.backup = f"backup-{time.time_ns()}"
            back_up(self.cluster, self.node, self.backup)
            time.sleep(self.age_ms / 1000)
        self.end(self.node, self.how)
        self.had = self.cluster.directories.contents(self.node)
        self.cluster.directories.put_back(self.node, self.backup)

    def verify(self) -> Evidence:
        """A copy with nothing newer after it proves nothing: the restart would be like any other."""
        status = self.cluster.processes.status(self.node)
        has = self.cluster.directories.contents(self.node)
        copy = self.cluster.directories.copied(self.node, self.backup or "")
        changed = self.had is not None and self.had.digest != has.digest
        proven = status.running is Running.EXITED and changed and has.digest == copy.digest
        data = {
            **measured({self.node: status}),
            "had": None if self.had is None else self.had.as_json(),
            "has": has.as_json(),
            "copy": copy.as_json(),
        }
        how = "the files: what the directories hold is the copy, and not what the process had left"
        return Evidence(proven, how, data)

    def recover(self) -> None:
        self.restart(self.node)

    def verify_healed(self) -> Evidence:
        return await_ready(self.cluster, self.names)


def back_up(cluster: Cluster, node: str, name: str) -> Contents:
    """Copy a node's directories while its process is stopped; if it runs it goes on afterwards."""
    status = cluster.processes.status(node)
    if status.running is not Running.RUNNING:
        return cluster.directories.copy(node, name)
    cluster.processes.pause(node)
    try:
        return cluster.directories.copy(node, name)
    finally:
        if cluster.processes.status(node).running is Running.PAUSED:
            cluster.processes.resume(node)
