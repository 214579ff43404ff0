"""A node comes back with what its disk held some time ago."""

from __future__ import annotations

import time
from typing import ClassVar

from faults.capabilities import Capability, Cluster, Contents, Evidence, Running
from faults.processes.process_fault import How, ProcessFault, await_ready, measured


class Restored(ProcessFault):
    """The node is ended, and a copy of its directories from an earlier moment is put back. Healed by a restart on it.

    Models a backup or a snapshot that is restored, and a disk image that is started again. The copy is the one that a
    `backup` step made under the name `backup`; without that one is made first, and the node goes on for `age_ms`. It
    is made while the process is stopped (SIGSTOP), so it is what a kill -9 at that instant would have left on this
    machine: crash-consistent in the order of the process's writes. It does not model a copy that was made from under
    running writes file by file, which no server promises to read, nor what a crash of the machine would have left.

    What the node had written since the copy does not come back by healing (it stands aside in its folder); healed means
    that the node runs and answers again. Of a controller that takes back votes that it gave, as of `emptied`.
    """

    name: ClassVar[str] = "restored"
    capability: ClassVar[Capability] = Capability.DIRECTORIES

    def __init__(
        self, cluster: Cluster, *, node: str, backup: str | None = None, age_ms: int = 2000, how: How = "kill"
    ) -> None:
        super().__init__(cluster, (node,))
        self.node = node
        self.backup = backup
        self.age_ms = age_ms
        self.how: How = how
        self.had: Contents | None = None

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
