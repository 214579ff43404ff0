"""Topics of so many partitions that only some of them are observed all the time.

Each broker is asked for the leaders of all partitions about ten times a second, and ZooKeeper for their states after
each change. An answer about a thousand takes longer than that. Of a huge topic ZooKeeper is therefore asked for a
sample of the partitions, and no broker is asked before the end, where all partitions are compared once
(`Converged`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

HUGE = 500
"""A topic with more partitions is observed by a sample of them."""
SAMPLED = 16
"""The number of partitions of a sample."""

Number = TypeVar("Number")


def sampled(partitions: Sequence[Number]) -> Sequence[Number]:
    """Return the partitions that are observed, of all of a topic: at equal distances, the first and the last always."""
    last = len(partitions) - 1
    if last < HUGE:
        return partitions
    return [partitions[last * place // (SAMPLED - 1)] for place in range(SAMPLED)]
