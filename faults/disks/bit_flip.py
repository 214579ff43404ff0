"""A bit of a file turns over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fencepost.faults.capabilities import Capability, Cluster, Evidence, Flip
from fencepost.faults.disks.rule_fault import Files
from fencepost.faults.fault import EVERYWHERE, Fault
from fencepost.faults.parameters import FaultParameters, NodeRef

ONE_COPY = "a record that is wrong on one disk is found by the design that looks, and served by the one that does not"


class BitFlipParameters(FaultParameters):
    """A bit of the newest file that matches `file` turns over. Turned back if the file is still the same then."""

    node: NodeRef
    file: Files
    at: Annotated[int, Field(ge=0)] | Literal["last-batch"] = "last-batch"
    """From the beginning of the file, in bytes; or among the records of its last batch."""
    byte: Annotated[int, Field(ge=0)] = 0
    """So many bytes behind `at`; in the last batch counted round."""
    bit: Annotated[int, Field(ge=0, le=7)] = 0


class BitFlip(Fault):
    """One bit of the newest file that matches `file` turns over on the disk, without an error.

    The place is `at` + `byte`, from the beginning of the file; with `last-batch`, among the bytes of records in the
    last batch, counted round. `bit` is counted from the lowest. What the kernel has of the file in its cache is
    dropped, so the next one to read it sees the bit.

    Models bit rot: a medium or a path that changes data without an error, below all checksums of the disk itself. Does
    not model whole sectors that are lost or swapped. Healed by turning the bit back, if the bytes before it are still
    those; a file that was cut or written anew meanwhile has healed by itself.

    `proven` by the byte, read as a process reads it that opens the file now; a pattern without a file is an error.
    """

    name: ClassVar[str] = "bit-flip"
    phrase = "one bit of a file of {node} is flipped"
    capability: ClassVar[Capability] = Capability.DISKS
    Parameters = BitFlipParameters
    left_out: ClassVar[Mapping[str, str]] = {EVERYWHERE: ONE_COPY}

    def __init__(self, cluster: Cluster, parameters: BitFlipParameters) -> None:
        self.cluster = cluster
        self.node = parameters.node
        self.file = parameters.file
        self.at = parameters.at
        self.byte = parameters.byte
        self.bit = parameters.bit
        self.flip: Flip | None = None
        self.turned_back: bool | None = None

    def targets(self) -> Mapping[str, object]:
        return {"node": self.node, "file": self.file}

    def set_up(self) -> None:
        self.cluster.disks.check(self.node)

    def inject(self) -> None:
        self.flip = self.cluster.disks.flip(self.node, self.file, self.at, self.byte, self.bit)

    def verify(self) -> Evidence:
        """Read as any process reads that opens the file now."""
        if self.flip is None:
            return Evidence.against("nothing was turned over")
        found = self._read(self.flip)
        how = f"read byte {self.flip.offset} of {self.flip.file}: {found}, it was {self.flip.was}"
        turned = found is not None and found ^ self.flip.was == 1 << self.bit
        return Evidence(turned, how, {**vars(self.flip), "found": found})

    def recover(self) -> None:
        if self.flip is not None and self.turned_back is None:
            self.turned_back = self.cluster.disks.flip_back(self.node, self.flip)

    def verify_healed(self) -> Evidence:
        if self.flip is None:
            return Evidence(True, "nothing was turned over", {})
        found = self._read(self.flip)
        measured = {**vars(self.flip), "found": found, "turned_back": self.turned_back}
        if not self.turned_back:
            return Evidence(True, f"{self.flip.file} was cut or written anew at byte {self.flip.offset}", measured)
        how = f"read byte {self.flip.offset} of {self.flip.file}: {found}, as it was before: {self.flip.was}"
        return Evidence(found == self.flip.was, how, measured)

    def _read(self, flip: Flip) -> int | None:
        return self.cluster.disks.read(self.node, flip.file, flip.offset)
