"""Find the things that a failure needs.

Source: A. Zeller, R. Hildebrandt, Simplifying and isolating failure-inducing input, 2002 (the algorithm ddmin).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

Thing = TypeVar("Thing")
FirstFailing = Callable[[Sequence[tuple[Thing, ...]]], tuple[Thing, ...] | None]


def one_by_one(fails: Callable[[tuple[Thing, ...]], bool]) -> FirstFailing[Thing]:
    """Return a search for the first subset that fails, which asks for one after the other."""
    return lambda subsets: next((each for each in subsets if fails(each)), None)


def ddmin(things: Sequence[Thing], first_failing: FirstFailing[Thing]) -> tuple[Thing, ...]:
    """Return a subset of `things`, in their order, that fails and from which no single thing can be dropped.

    `first_failing` returns the first of several subsets that fails, None if all of them pass. It is asked for smaller
    subsets only: all together are assumed to fail. If a failure comes and goes, the result follows its answers.
    """
    kept = tuple(things)
    if not kept or first_failing([()]) is not None:
        return ()
    pieces = 2
    while len(kept) > 1:
        smaller = first_failing(list(_candidates(kept, pieces)))
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
