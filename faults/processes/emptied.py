"""Nodes come back with nothing on disk."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import ClassVar

from fencepost.faults.capabilities import Capability, CapabilityError, Cluster, Contents, Evidence, Running
from fencepost.faults.generation import BreakableCluster, GeneratedFault, one_holder
from fencepost.faults.parameters import EndingMethod, FaultParameters, NodeRefs, names_in
from fencepost.faults.processes.process_fault import (
    KEEPS_ITS_PLACE,
    ProcessFault,
    await_ready,
    generated,
    measured,
)

METHODS: tuple[EndingMethod, ...] = ("kill", "kill", "shutdown")


class EmptiedParameters(FaultParameters):
    """Ended, and nothing is left in its log directories. Healed by a restart, which brings nothing back."""

    nodes: NodeRefs
    how: EndingMethod = "kill"


class Emptied(ProcessFault):
    """Each node is ended, and its log directories are emptied. Healed by a restart on what is left: nothing.

    Models a disk that was replaced, or a volume that was not there. What a node of the target needs before its first
    start is there (Apache Kafka with its own quorum: a formatted directory under the same cluster and node id).

    `proven` by segments, which every release has in the folder of each partition: none is left. What a release needs
    before its first start has none, whatever it is named.

    What was in the directories does not come back by healing; healed means that the node runs and answers again, and
    what it lacks it has to fetch. So it takes away a copy of every record: where it was the last one, records are lost,
    and no protocol can help. A controller that lost its directory forgot its votes, and a quorum may then
    decide twice: aim it at brokers, or expect that.
    """

    name: ClassVar[str] = "emptied"
    phrase = "the log directories of {nodes} are emptied"
    capability: ClassVar[Capability] = Capability.DIRECTORIES
    Parameters = EmptiedParameters
    weight = 2
    left_out: ClassVar[Mapping[str, str]] = {"leader-driven": KEEPS_ITS_PLACE}

    def __init__(self, cluster: Cluster, parameters: EmptiedParameters) -> None:
        super().__init__(cluster, names_in(parameters.nodes))
        self.how = parameters.how
        self.had: dict[str, Contents] = {}

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim = one_holder(rng, cluster)
        how = rng.choice(METHODS)
        title = f"{aim.text} loses its directory ({how})"
        return generated(EmptiedParameters(nodes=aim.refs, how=how), aim, title, stops_nodes=True, fragile=True)

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
        statuses = {name: self.cluster.processes.status(name) for name in self.names}
        proven = all(status.running is Running.EXITED for status in statuses.values()) and not any(
            contents.partitions or contents.bytes for contents in has.values()
        )
        had = {f"{name} had": contents.as_json() for name, contents in self.had.items()}
        data = {**measured(statuses), **had, **{f"{name} has": contents.as_json() for name, contents in has.items()}}
        return Evidence(proven, "the files: no partition is left in the directories of nodes that are down", data)

    def recover(self) -> None:
        self.at_once(self.restart)

    def verify_healed(self) -> Evidence:
        return await_ready(self.cluster, self.names)
