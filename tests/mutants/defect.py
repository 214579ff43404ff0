"""The row of a defect, which stands in its module: which design can have it, what it breaks, where it is looked for."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, field
from enum import Enum

QUORUM, ZK, LEADER_DRIVEN = "quorum", "zk-controller", "leader-driven"
ALL = (QUORUM, ZK, LEADER_DRIVEN)
WITH_CONTROLLER = (QUORUM, ZK)
"""Also of defects about a new leader whose high watermark is lower than its log: without a controller, a leader begins
with its log's end as its high watermark, and cannot have them."""


class Kind(Enum):
    """The kinds of defects that scenarios let pass because nothing asks for them."""

    OUTLIVES = "state that has to outlive a snapshot, a restart, a failover"
    ACCEPTED = "an accepted request that changes too much or too little"
    REFUSALS = "refusals that are never asked for"
    SECOND_TIME = "the same thing a second time"
    MINORITY = "the minority's side"
    AWAY = "a staying replica, an old one, or the one that joins, is away"
    TIMING = "timing"
    LOST_ANSWER = "one answer of one kind of request is lost"


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
    kind: Kind | None = None
    """Set for the defects in `unknown`."""

    @property
    def name(self) -> str:
        """The path of its module below `tests.mutants`, with dots; FENCEPOST_MUTANT and `--mutant` take it."""
        return self.module.removeprefix("tests.mutants.")

    @property
    def text(self) -> str:
        """The first paragraph of the module's docstring."""
        return " ".join((inspect.getdoc(sys.modules[self.module]) or "").split("\n\n")[0].split())
