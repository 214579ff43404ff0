"""The row of a defect, which stands in its module: which design can have it, what it breaks, where it is looked for."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, field

QUORUM, ZK, LEADER_DRIVEN = "quorum", "zk-controller", "leader-driven"
ALL = (QUORUM, ZK, LEADER_DRIVEN)
WITH_CONTROLLER = (QUORUM, ZK)
"""Also of defects about a new leader whose high watermark is lower than its log: without a controller, a leader begins
with its log's end as its high watermark, and cannot have them."""


@dataclass(frozen=True)
class Defect:
    module: str = field(repr=False)
    """Its `__name__`."""
    designs: tuple[str, ...]
    rules: tuple[str, ...]
    """Those that it breaks."""
    scenarios: tuple[str, ...]
    """They are run first, then all others that ask one of the rules, then the rest."""
    unit: str
    """The test that finds it, or the folder of tests where one is expected."""
    kafka: str = ""
    """The issue of Apache Kafka that it models, empty for one of our own."""

    @property
    def name(self) -> str:
        return self.module.rpartition(".")[2]

    @property
    def text(self) -> str:
        """The first paragraph of the module's docstring."""
        return " ".join((inspect.getdoc(sys.modules[self.module]) or "").split("\n\n")[0].split())
