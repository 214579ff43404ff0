"""Deletion of znodes with everything below them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from fencepost.cluster_impl.coordination.steps import Children, Delete, Names, NotEmpty, Steps


def delete_trees(roots: Sequence[str], attempts: int | None = None) -> Steps[list[str]]:
    """Delete these znodes with everything below them; return the roots that are left.

    A root is left if children appeared below it during each of the `attempts`; without a limit none is left.
    """
    left = list(roots)
    for attempt in count():
        if not left or attempt == attempts:
            break
        levels: list[Sequence[str]] = [left]
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
        outcomes = yield [Delete(path) for level in reversed(levels) for path in level]
        of_roots = outcomes[-len(left) :]
        left = [root for root, outcome in zip(left, of_roots, strict=True) if isinstance(outcome, NotEmpty)]
    return left
