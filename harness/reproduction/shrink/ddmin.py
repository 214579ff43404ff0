"""Find the things that a failure needs.

Source: A. Zeller, R. Hildebrandt, Simplifying and isolating failure-inducing input, 2002 (the algorithm ddmin).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

Thing = TypeVar("Thing")


def ddmin(things: Sequence[Thing], fails: Callable[[tuple[Thing, ...]], bool]) -> tuple[Thing, ...]:
    """Return a subset of `things`, in their order, that fails and from which no single thing can be dropped.

    `fails` is called for smaller subsets only: all together are assumed to fail. If a failure comes and goes, the
    result follows the answers that `fails` gave.
    """
    kept = tuple(things)
    if not kept or fails(()):
        return ()
    pieces = 2
    while len(kept) > 1:
        smaller = next((part for part in _candidates(kept, pieces) if fails(part)), None)
        if smaller is not None:
            # One piece alone starts over; a complement keeps the present granularity.
            pieces = 2 if len(smaller) <= -(-len(kept) // pieces) else max(pieces - 1, 2)
            kept = smaller
        elif pieces >= len(kept):
            break
        else:
            pieces = min(2 * pieces, len(kept))
    return kept


def _candidates(things: tuple[Thing, ...], pieces: int) -> Iterator[tuple[Thing, ...]]:
    """Each piece alone, then all but each piece. Of two pieces, one is what the other leaves."""
    cuts = [len(things) * place // pieces for place in range(pieces + 1)]
    spans = list(pairwise(cuts))
    yield from (things[begin:end] for begin, end in spans)
    if pieces > 2:
        yield from (things[:begin] + things[end:] for begin, end in spans)
