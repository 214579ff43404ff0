"""A disk takes its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Capability, Cluster, DiskRule, Operation, Probed
from faults.disks.rule_fault import RuleFault

LONG_ENOUGH = 0.1
"""Seconds of operations that were late."""
OFTEN_ENOUGH = 3


class DiskSlow(RuleFault):
    """Each of `operations` (`read`, `write`, `fsync`) takes `ms` longer; what is asked at once waits side by side.

    Models a disk whose answers are late, as when it is shared, throttled, or tries bad sectors again. Does not model a
    queue: a hundred writes of a hundred threads are late once, those of one thread a hundred times. Nor does the kernel
    hide it: writes go through to the disk here, where a page cache would take them at once until it is full.

    Proven by the quickest of several operations: whatever else keeps a machine busy makes some of them late, and a rule
    makes all of them late.

    kill -9 does not wait for the delay: whoever was sent SIGKILL is answered within 20 ms.
    """

    name: ClassVar[str] = "disk-slow"
    capability: ClassVar[Capability] = Capability.DISKS

    def __init__(
        self,
        cluster: Cluster,
        *,
        node: str,
        ms: int,
        operations: Sequence[str] = ("write", "fsync"),
        files: str | None = None,
        dir: int | None = None,
    ) -> None:
        slowed = [Operation(each) for each in operations]
        super().__init__(cluster, node, dir, DiskRule(frozenset(slowed), delay_ms=ms, files=files), slowed)

    def _unfit(self, operation: Operation, probed: Probed) -> str:
        if not self.shows(probed):
            return super()._unfit(operation, probed)
        return (
            f"the disk of {self.node} takes {probed.seconds * 1000:.0f} ms for a {operation.value} as it is: a delay "
            f"of {self.rule.delay_ms} ms could not be told from that; ask for more"
        )

    def _probe(self) -> list[tuple[Operation, Probed]]:
        return [(operation, probed) for operation in self.tried for probed in self._quickest(operation)]

    def _quickest(self, operation: Operation) -> list[Probed]:
        """Of each directory; those that were late are tried again for a while."""
        found = self._try(operation)
        spent, times = max(each.seconds for each in found), 1
        while (spent < LONG_ENOUGH or times < OFTEN_ENOUGH) and any(self.shows(each) for each in found):
            again = self._try(operation)
            spent, times = spent + max(each.seconds for each in again), times + 1
            found = [min(pair, key=_error_then_speed) for pair in zip(found, again, strict=True)]
        return found

    def shows(self, probed: Probed) -> bool:
        return probed.error is None and probed.seconds * 1000 >= self.rule.delay_ms


def _error_then_speed(probed: Probed) -> tuple[bool, float]:
    return probed.error is None, probed.seconds
