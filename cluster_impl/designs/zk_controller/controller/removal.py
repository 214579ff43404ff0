"""Removes a znode with all that is below it."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from cluster_impl.coordination.steps import Children, Delete, Names, NotEmpty, Steps

log = logging.getLogger(__name__)

ATTEMPTS = 5
"""How often children may appear while their parent is being removed before it is left for another time."""


def remove_tree(path: str) -> Steps[bool]:
    """Whether it is gone. One level is listed at a time, and deleted from the bottom up."""
    for _ in range(ATTEMPTS):
        levels: list[Sequence[str]] = [[path]]
        while levels[-1]:
            parents = levels[-1]
            outcomes = yield [Children(parent) for parent in parents]
            levels.append(
                [
                    f"{parent}/{name}"
                    for parent, outcome in zip(parents, outcomes, strict=True)
                    if isinstance(outcome, Names)
                    for name in outcome.names
                ]
            )
        outcomes = yield [Delete(each) for level in reversed(levels) for each in level]
        if not any(isinstance(outcome, NotEmpty) for outcome in outcomes):
            return True
    log.error("%s cannot be removed: something is created below it all the time", path)
    return False
