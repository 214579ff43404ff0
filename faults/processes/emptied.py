"""Nodes come back with nothing on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Capability, CapabilityError, Cluster, Contents, Evidence, Running
from faults.processes.process_fault import How, ProcessFault, await_ready, measured


class Emptied(ProcessFault):
    """Each node is ended, and its log directories are emptied. Healed by a restart on what is left: nothing.

    Models a disk that was replaced, or a volume that was not there. What a node of the target needs before its first
    start is there (Apache Kafka with its own quorum: a formatted directory under the same cluster and node id).

    What was in the directories does not come back by healing; healed means that the node runs and answers again, and
    what it lacks it has to fetch. So it takes away a copy of every record: where it was the last one, records are lost,
    and no protocol can help. A controller that lost its directory forgot whom it voted for, and a quorum may then
    decide twice: aim it at brokers, or expect that.
    """

    name: ClassVar[str] = "emptied"
    capability: ClassVar[Capability] = Capability.DIRECTORIES

    def __init__(self, cluster: Cluster, *, nodes: Sequence[str], how: How = "kill") -> None:
        super().__init__(cluster, tuple(nodes))
        self.how: How = how
        self.had: dict[str, Contents] = {}

    def set_up(self) -> None:
        self.require_running("empty")
        for name in self.names:
            self.had[name] = self.cluster.directories.contents(name)
            if not self.had[name].partitions:
                raise CapabilityError(
                    f"cannot empty {name}: its directories hold no partition, so nothing would change"
                )

    def inject(self) -> None:
        self.at_once(lambda name: self.end(name, self.how))
        for name in self.names:
            self.cluster.directories.empty(name)

    def verify(self) -> Evidence:
        has = {name: self.cluster.directories.contents(name) for name in self.names}
        found = {name: self.cluster.processes.status(name) for name in self.names}
        proven = all(status.running is Running.EXITED for status in found.values()) and not any(
            contents.partitions or contents.bytes for contents in has.values()
        )
        had = {f"{name} had": contents.as_json() for name, contents in self.had.items()}
        data = {**measured(found), **had, **{f"{name} has": contents.as_json() for name, contents in has.items()}}
        return Evidence(proven, "the files: no partition is left in the directories of nodes that are down", data)

    def recover(self) -> None:
        self.at_once(self.restart)

    def verify_healed(self) -> Evidence:
        return await_ready(self.cluster, self.names)
