"""A write gets through in part."""

from __future__ import annotations

import random
from typing import Annotated, ClassVar

from pydantic import Field

from fencepost.faults.capabilities import Cluster, DiskProbe, DiskRule, Operation
from fencepost.faults.disks.disk_generation import directory_fails
from fencepost.faults.disks.rule_fault import Files, RuleFault, RuleParameters
from fencepost.faults.generation import BreakableCluster, GeneratedFault


class TornWriteParameters(RuleParameters):
    """The first bytes of each write reach the file, then EIO is answered."""

    bytes: Annotated[int, Field(ge=0, le=65_536)]
    files: Files | None = None


class TornWrite(RuleFault):
    """The first `bytes` of each write reach the file, then EIO is answered.

    Models a disk that fails in the middle of a request. The kernel hands a large write on in pieces (of 128 KiB or
    more), and each of them is torn. Not modelled: a short write without an error, which write(2) allows as well, and
    sectors that are written in another order. A torn tail after a crash is `power-loss` or a kill in between.

    `proven` by a write to a file of the fault's own, and by how much of it is there then; no file of the node counts.
    """

    name: ClassVar[str] = "torn-write"
    phrase = "writes on the disk of {node} are torn after {bytes} bytes"
    Parameters = TornWriteParameters
    weight = 2

    def __init__(self, cluster: Cluster, parameters: TornWriteParameters) -> None:
        rule = DiskRule(frozenset({Operation.WRITE}), error="EIO", torn_after=parameters.bytes, files=parameters.files)
        super().__init__(cluster, parameters.node, parameters.dir, rule, (Operation.WRITE,))

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        if not cluster.breakable:
            return None
        first, broker = rng.choice((0, 1, 60, 100)), rng.choice(cluster.brokers)
        parameters = TornWriteParameters(node=broker, bytes=first)
        return directory_fails(broker, parameters, f"writes of {broker} end after {first} bytes")

    def shows(self, probed: DiskProbe) -> bool:
        return probed.error == self.rule.error and probed.kept == self.rule.torn_after
