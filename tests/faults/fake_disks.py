"""Disks of a cluster of dictionaries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from fencepost.faults.capabilities import DiskProbe, DiskRule, Flip, LostWrites, Operation, StaleBlock

BYTE = 32


@dataclass
class FakeDisks:
    """`deaf`: rules have no effect, nothing is lost, and no bit is turned over."""

    deaf: bool = False
    rules: dict[tuple[str, str], DiskRule] = field(default_factory=dict)
    hits: dict[str, int] = field(default_factory=dict)
    """The operations that meet every rule."""
    lost: set[str] = field(default_factory=set)
    flipped: set[str] = field(default_factory=set)
    stale: set[str] = field(default_factory=set)
    same: bool = True
    """True if a file in which a bit was turned over, or a block set back, stays the same file."""
    busy: int = 0
    """So many of the next operations are 20 ms late without any rule."""

    def check(self, node: str) -> None:
        pass

    def add(self, node: str, name: str, rule: DiskRule, dir: int | None = None) -> None:
        if not self.deaf:
            self.rules[node, name] = rule

    def remove(self, node: str, name: str) -> Mapping[str, int]:
        if self.deaf or (node, name) not in self.rules:
            return {}
        del self.rules[node, name]
        return self.hits

    def probe(self, node: str, operation: Operation, rule: DiskRule, dir: int | None = None) -> Collection[DiskProbe]:
        met = [each for (of, _), each in self.rules.items() if of == node and operation in each.operations]
        if not met:
            self.busy -= 1
            return [DiskProbe(None, 0.02 if self.busy >= 0 else 0.0001, 4096)]
        return [DiskProbe(met[0].error, met[0].delay_ms / 1000, met[0].torn_after)]

    def lose(self, nodes: Collection[str]) -> Mapping[str, LostWrites]:
        if not self.deaf:
            self.lost |= set(nodes)
        return {node: LostWrites({"t-0/00.log": (2000, 1000)}, ("a was not made",)) for node in nodes}

    def durable(self, node: str) -> Collection[tuple[int, int]]:
        return [(1000, 1000 if node in self.lost else 2000)]

    def flip(self, node: str, file: str, at: int | Literal["last-batch"], byte: int, bit: int) -> Flip:
        if not self.deaf:
            self.flipped.add(node)
        return Flip(file, 61, BYTE, BYTE ^ 1 << bit)

    def flip_back(self, node: str, flip: Flip) -> bool:
        if not self.deaf:
            self.flipped.discard(node)
        return self.same

    def read(self, node: str, file: str, offset: int) -> int | None:
        return BYTE ^ 8 if node in self.flipped else BYTE

    def remember(self, node: str) -> float:
        return 0.0

    def set_back(
        self, node: str, file: str, age: float, *, first: int, count: int, behind_cuts: bool
    ) -> Collection[StaleBlock]:
        if not self.deaf:
            self.stale.add(node)
        return [StaleBlock(file, 4096 * (first + each), b"new", b"old") for each in range(count)]

    def set_forward(self, node: str, block: StaleBlock) -> bool:
        if not self.deaf:
            self.stale.discard(node)
        return self.same

    def on_disk(self, node: str, block: StaleBlock) -> bytes:
        return block.now if node in self.stale else block.was
