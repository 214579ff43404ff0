"""The power of machines fails."""

from __future__ import annotations

import random
import signal
from collections.abc import Mapping
from typing import ClassVar

from fencepost.faults.capabilities import Capability, Cluster, Evidence, LostWrites, Running
from fencepost.faults.disks.disk_generation import disks_of, processes_of
from fencepost.faults.generation import Aim, BreakableCluster, GeneratedFault, HealOrder
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in
from fencepost.faults.processes.process_fault import KEEPS_ITS_PLACE, ProcessFault, await_ready


class PowerLossParameters(FaultParameters):
    """SIGKILL, and what was not made durable by fsync is gone. Healed by a restart."""

    nodes: NodeRefs


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
    phrase = "{nodes} are cut off from power"
    capability: ClassVar[Capability] = Capability.DISKS
    Parameters = PowerLossParameters
    weight = 3
    left_out: ClassVar[Mapping[str, str]] = {"leader-driven": KEEPS_ITS_PLACE}

    def __init__(self, cluster: Cluster, parameters: PowerLossParameters) -> None:
        super().__init__(cluster, names_in(parameters.nodes))
        self.lost: Mapping[str, LostWrites] = {}

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        """Hits one machine: two that lose data at a time may hold the only copies."""
        if not cluster.breakable:
            return None
        broker = rng.choice(cluster.brokers)
        return GeneratedFault(
            parameters=PowerLossParameters(nodes=broker),
            aim=Aim(broker, 1, "brokers", (broker,)),
            heal_order=HealOrder.PROCESSES,
            resources=(processes_of(broker), disks_of(broker)),
            title=f"{broker} loses its power",
            brokers=1,
            stops_nodes=True,
            fragile=True,
        )

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
        lost = {node: _as_json(each) for node, each in self.lost.items()}
        return Evidence(dead.proven and undone, how, {**dead.measured, "durable": durable, "lost": lost})

    def recover(self) -> None:
        self.at_once(self._restart)

    def _restart(self, name: str) -> None:
        if self.cluster.processes.status(name).running is Running.EXITED:
            self.cluster.processes.start(name)

    def verify_healed(self) -> Evidence:
        return await_ready(self.cluster, self.names)


def _as_json(lost: LostWrites) -> dict[str, object]:
    size = sum(max(0, was - now) for was, now in lost.files.values())
    files = {file: {"was": was, "is": now} for file, (was, now) in lost.files.items()}
    return {"bytes": size, "files": files, "names": list(lost.names)}
