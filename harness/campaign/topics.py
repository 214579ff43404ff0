"""The topics of a plan as its steps leave them, and the names of those that operations create."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

LONGEST = 249
"""The length of the longest legal name of a topic, in characters."""
ODD_NAMES = (
    "x",
    "0",
    "-",
    "...",
    "t-1",
    "t.made",
    "t_made",
    "Made.Of_Both-Kinds",
    "__made",
    "n" * LONGEST,
    "n" * (LONGEST - 1) + ".",
)
"""Legal names at the edges of what is legal. Two that differ in `.` and `_` only collide as names of metrics, and
Apache Kafka refuses the second one; two have a common beginning of 248 characters; `t-1` is the folder of `t`'s second
partition."""


class Existence(StrEnum):
    """The knowledge of the plan about a topic."""

    CERTAIN = "certain"
    DOUBTFUL = "doubtful"
    """A request to create or delete it was sent while something was broken."""
    DELETED = "deleted"


@dataclass(frozen=True)
class ScriptTopic:
    """A topic, after the steps so far."""

    name: str
    partitions: int
    replicas: int
    existence: Existence
    ours: bool = True
    """Created by a step. The topics of the cluster itself are not: the workload needs them."""
    lasting: bool = True
    """No step deletes it."""


def new_name(rng: random.Random, taken: Collection[str]) -> str:
    """Return a legal name that no topic of the plan had; a third of them is odd."""
    free = [name for name in ODD_NAMES if name not in taken and not any(_collide(name, other) for other in taken)]
    if free and rng.random() < 1 / 3:
        return rng.choice(free)
    return next(name for number in range(1, len(taken) + 2) if (name := f"made-{number}") not in taken)


def _collide(name: str, other: str) -> bool:
    return name.replace(".", "_") == other.replace(".", "_")
