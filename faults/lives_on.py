"""What the faults share that break something beside a process: its disk, its clock, its container."""

from __future__ import annotations


class LivesOn:
    """A fault that holds no process and no link: others may kill, pause and cut off whom it is aimed at."""

    def nodes(self) -> frozenset[str]:
        return frozenset()

    def links(self) -> frozenset[tuple[str, str]]:
        return frozenset()
