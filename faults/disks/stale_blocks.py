"""Blocks of a file hold what they held some time ago."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fencepost.faults.capabilities import Capability, Cluster, Evidence, Running, StaleBlock
from fencepost.faults.disks.damage_fault import DamageFault
from fencepost.faults.disks.damaged_file import KINDS, FileKind
from fencepost.faults.disks.rule_fault import Files
from fencepost.faults.generation import BreakableCluster, GeneratedFault, one_holder
from fencepost.faults.parameters import EndingMethod, FaultParameters, Milliseconds, NodeRef
from fencepost.faults.processes.process_fault import KEEPS_ITS_PLACE, generated, measured

RECORDS = FileKind("{partition}/*.[lit]*", ("garbage",), ("kill",))
"""The log of a partition, or an index of it where one is written. A node that was killed reads them from the end of
what it knows to be durable."""
WRITTEN_ONCE = ("meta.properties", "log-start-offset-checkpoint")
"""No plan can count on them to be written while nodes run."""
STALE_KINDS: Sequence[FileKind] = (
    *(RECORDS,) * 4,
    *(
        kind
        for kind in KINDS
        if "garbage" in kind.damages and not kind.pattern.endswith("index") and kind.pattern not in WRITTEN_ONCE
    ),
)
"""The files in which random plans put anything: an earlier block may be there as well."""


class StaleBlocksParameters(FaultParameters):
    """Blocks of the newest file that matches `file` are what they were `age_ms` ago. Healed by a restart on them."""

    node: NodeRef
    file: Files
    how: EndingMethod | Literal["running"] = "kill"
    """`running`: the process goes on, and meets the blocks where it reads them anew"""
    age_ms: Milliseconds = 0
    """Before the end of the process; at least before the latest change"""
    count: Annotated[int, Field(ge=1, le=64)] = 1
    """So many blocks of 4096 bytes, of those that were other then"""
    first: Annotated[int, Field(ge=0)] = 0
    """The number of the first of them, counted round"""
    behind_cuts: bool = False
    """Also back to before the file was last cut: what was given up then may be there again, with valid checksums"""


class StaleBlocks(DamageFault):
    """Blocks of 4096 bytes of one file are set back to their content at an earlier time, without an error.

    The blocks are those that changed in the last `age_ms`, or by the latest change if that is longer ago. What a block
    did not have then is zeros; what replaced another file by its name has the bytes of that file. The file keeps its
    length and its times, and what the kernel has of it in its cache is dropped.

    Models lost writes: a disk confirms a write, fsync included, and goes on to return what was there before
    (Bairavasundaram et al., An Analysis of Data Corruption in the Storage Stack, FAST 2008). Does not model misdirected
    writes, which damage another file; nor pages that a running process has mapped and changed: they hide the blocks,
    and write over them.

    `proven` by the bytes, read past all caches: they are the earlier ones, and not those of just before. A pattern
    without a file that changed is an error. The mounts remember 16 MB of what changes took away for each log directory,
    from the start of a run whose plan has this fault; else from the beginning of the fault, which waits for `age_ms`.

    Healed by a restart on what is left, with the outcomes of `damaged-file`; of a process that goes on, by putting the
    blocks back that it has not written anew. Where it is the log of a partition, a copy of its records is lost.
    """

    name: ClassVar[str] = "stale-blocks"
    phrase = "blocks of a file of {node} ({file}) are stale"
    capability: ClassVar[Capability] = Capability.DISKS
    Parameters = StaleBlocksParameters
    weight = 3
    left_out: ClassVar[Mapping[str, str]] = {"leader-driven": KEEPS_ITS_PLACE}

    def __init__(self, cluster: Cluster, parameters: StaleBlocksParameters) -> None:
        super().__init__(cluster, parameters.node)
        self.parameters = parameters
        self.how = parameters.how
        self.blocks: Collection[StaleBlock] = ()
        self.put_back: Mapping[StaleBlock, bool] = {}

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        kinds = [
            kind
            for kind in STALE_KINDS
            if cluster.target_name in kind.designs and (kind.several_dirs or not cluster.several_dirs)
        ]
        if not kinds or not cluster.breakable:
            return None
        aim, kind = one_holder(rng, cluster), rng.choice(kinds)
        file = kind.pattern.format(partition=aim.partition or rng.choice(cluster.held_by(aim.text)))
        parameters = StaleBlocksParameters(
            node=aim.text,
            file=file,
            how=rng.choice(kind.methods),
            age_ms=rng.choice((0, 500, 2000)),
            count=rng.choice((1, 1, 3)),
            first=rng.randrange(4),
        )
        title = f"blocks of {file} of {aim.text} are stale ({parameters.how})"
        return generated(parameters, aim, title, stops_nodes=True, fragile=True)

    def targets(self) -> Mapping[str, object]:
        return {"nodes": [self.node], "file": self.parameters.file}

    def set_up(self) -> None:
        self.cluster.disks.check(self.node)
        self.require_running("set back blocks of")

    def inject(self) -> None:
        age = self.parameters.age_ms / 1000
        time.sleep(max(0.0, age - self.cluster.disks.remember(self.node)))
        ends = time.monotonic()
        if self.how != "running":
            self.end(self.node, self.how)
        self.blocks = self.cluster.disks.set_back(
            self.node,
            self.parameters.file,
            age + time.monotonic() - ends,
            first=self.parameters.first,
            count=self.parameters.count,
            behind_cuts=self.parameters.behind_cuts,
        )

    def verify(self) -> Evidence:
        status = self.cluster.processes.status(self.node)
        had, has = self._digests(lambda block: block.was), self._digests(self._on_disk)
        stale = bool(self.blocks) and has == self._digests(lambda block: block.now)
        changed = all(had[place] != has[place] for place in had)
        ended = self.how == "running" or status.running is Running.EXITED
        data = {**measured({self.node: status}), "had": had, "has": has}
        how = "the bytes on the disk: they are those of an earlier time, and not those of just before"
        return Evidence(stale and changed and ended, how, data)

    def recover(self) -> None:
        if self.how != "running":
            super().recover()
        elif not self.put_back:
            self.repair()

    def repair(self) -> None:
        self.put_back = {block: self.cluster.disks.set_forward(self.node, block) for block in self.blocks}

    def verify_healed(self) -> Evidence:
        if self.how != "running":
            return super().verify_healed()
        anew = [_place(block) for block, put_back in self.put_back.items() if not put_back]
        healed = all(self._on_disk(block) == block.was for block, put_back in self.put_back.items() if put_back)
        how = "the bytes on the disk: they are those of before, where they were not written anew"
        return Evidence(healed, how, {"written_anew": anew, "has": self._digests(self._on_disk)})

    def _on_disk(self, block: StaleBlock) -> bytes:
        return self.cluster.disks.on_disk(self.node, block)

    def _digests(self, content: Callable[[StaleBlock], bytes]) -> dict[str, str]:
        return {_place(block): sha256(content(block)).hexdigest()[:16] for block in self.blocks}


def _place(block: StaleBlock) -> str:
    return f"{block.file} at byte {block.offset}"
