"""The power of machines fails."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from typing import ClassVar

from faults.capabilities import Capability, Cluster, Evidence, Lost, Running
from faults.processes.process_fault import ProcessFault, await_ready


class PowerLoss(ProcessFault):
    """kill -9 of all nodes at once, and then whatever they had not made durable is undone. Healed by a restart.

    Models the crash of a machine: what a process wrote is in the kernel's memory, and on the disk only after fsync
    (fsync(2)). Bytes survive if an fsync of their file ended after they were written; what was overwritten or cut off
    since comes back, and what was appended is gone. Names of files (made, renamed, removed) survive if any fsync ended
    after them, since the journals of ext4 and XFS are committed as a whole, or if they are half a minute old. So a new
    file can be there and empty.

    Does not model what a kernel writes back by itself after some seconds, so it is the worst case of each file; writes
    that reach the disk in part or in another order; a disk that loses what it confirmed; and the network, which closes
    connections here where a dead machine would be silent (add `isolate` for that).

    `proven` by a file of the fault's own, of which only the first half was made durable: it is the only half left.
    """

    name: ClassVar[str] = "power-loss"
    capability: ClassVar[Capability] = Capability.DISKS

    def __init__(self, cluster: Cluster, *, nodes: Sequence[str]) -> None:
        super().__init__(cluster, tuple(nodes))
        self.lost: Mapping[str, Lost] = {}

    def set_up(self) -> None:
        self.require_running("take the power from")
        for node in self.names:
            self.cluster.disks.check(node)

    def inject(self) -> None:
        self.at_once(self.cluster.processes.kill)
        self.lost = self.cluster.disks.lose(self.names)

    def verify(self) -> Evidence:
        dead = self.await_status(
            lambda status: status.running is Running.EXITED and status.exit_code == -signal.SIGKILL, ""
        )
        halves = {node: list(self.cluster.disks.durable(node)) for node in self.names}
        undone = all(halves.values()) and all(found == kept for each in halves.values() for kept, found in each)
        how = "the process table: each is gone; a file of ours has the bytes that were made durable, and no others"
        durable = {node: [{"fsynced": kept, "found": found} for kept, found in each] for node, each in halves.items()}
        lost = {node: _told(each) for node, each in self.lost.items()}
        return Evidence(dead.proven and undone, how, {**dead.measured, "durable": durable, "lost": lost})

    def recover(self) -> None:
        self.at_once(self._restart)

    def _restart(self, name: str) -> None:
        if self.cluster.processes.status(name).running is Running.EXITED:
            self.cluster.processes.start(name)

    def verify_healed(self) -> Evidence:
        return await_ready(self.cluster, self.names)


def _told(lost: Lost) -> dict[str, object]:
    size = sum(max(0, was - now) for was, now in lost.files.values())
    files = {file: {"was": was, "is": now} for file, (was, now) in lost.files.items()}
    return {"bytes": size, "files": files, "names": list(lost.names)}
