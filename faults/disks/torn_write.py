"""A write gets through in part."""

from __future__ import annotations

from typing import ClassVar

from faults.capabilities import Capability, Cluster, DiskRule, Operation, Probed
from faults.disks.rule_fault import RuleFault


class TornWrite(RuleFault):
    """The first `bytes` of each write reach the file, then EIO is answered.

    Models a disk that fails in the middle of a request. The kernel hands a large write on in pieces (of 128 KiB or
    more), and each of them is torn. Not modelled: a short write without an error, which write(2) allows as well, and
    sectors that are written in another order. A torn tail after a crash is `power-loss` or a kill in between.
    """

    name: ClassVar[str] = "torn-write"
    capability: ClassVar[Capability] = Capability.DISKS

    def __init__(
        self, cluster: Cluster, *, node: str, bytes: int, files: str | None = None, dir: int | None = None
    ) -> None:
        rule = DiskRule(frozenset({Operation.WRITE}), error="EIO", torn_after=bytes, files=files)
        super().__init__(cluster, node, dir, rule, (Operation.WRITE,))

    def shows(self, probed: Probed) -> bool:
        return probed.error == self.rule.error and probed.kept == self.rule.torn_after
