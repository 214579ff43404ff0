"""A bit of a file turns over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from faults.capabilities import Capability, Cluster, Evidence, Flip
from faults.lives_on import LivesOn


class BitFlip(LivesOn):
    """One bit of the newest file that matches `file` turns over on the disk, and nobody is told.

    The place is `at` + `byte`, from the beginning of the file; with `last-batch`, among the bytes of records in the
    last batch, counted round. `bit` is counted from the lowest. What the kernel has of the file in its cache is
    dropped, so the next one to read it sees the bit.

    Models bit rot: a medium or a path that changes data without an error, below all checksums of the disk itself. Does
    not model whole sectors that are lost or swapped. Healed by turning the bit back, if the bytes before it are still
    those; a file that was cut or written anew meanwhile has healed by itself.
    """

    name: ClassVar[str] = "bit-flip"
    capability: ClassVar[Capability] = Capability.DISKS

    def __init__(
        self,
        cluster: Cluster,
        *,
        node: str,
        file: str,
        at: int | Literal["last-batch"] = "last-batch",
        byte: int = 0,
        bit: int = 0,
    ) -> None:
        self.cluster = cluster
        self.node = node
        self.file = file
        self.at = at
        self.byte = byte
        self.bit = bit
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
            return Evidence(False, "nothing was turned over", {})
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
