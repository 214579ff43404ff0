"""The states that one object may have, by the requests about it and their answers.

The states are kept as in a linearizability check (Wing and Gong 1993, Lowe 2017): a request takes effect at one instant
between its beginning and its answer; one without an answer at any later instant, or never. A request that is forwarded
may be done more than once, as it is sent again when an answer is lost (KIP-590): what another one did in between shows
it. So each doubt leaves several states, which later answers and descriptions prune.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

State = Hashable
Step = Callable[[State], Iterable[State]]
"""The states after an event, from one before it; none if it cannot have been so in that state."""

MOST = 4096
"""The states of one object, with what is under way, that are kept. Beyond it the object is not judged."""


class TooManyWorlds(Exception):
    """The doubts about an object are more than can be followed."""


@dataclass(frozen=True)
class Happening:
    """A request about one object, or a description of it. `end` is infinite without an answer."""

    title: str
    begun: float
    ended: float
    step: Step
    is_description: bool = False
    shown: State = None
    """The state that a description shows: that from which the next ones go on if it contradicts what is known."""
    tried: Step | None = None
    """The states after an attempt before the one that is answered. None: there is only one."""


@dataclass(frozen=True)
class Contradiction:
    """An event that fits none of the states that the object may have had."""

    happening: Happening
    possible: Sequence[State]
    """The states that it may have had just before."""


_World = tuple[State, frozenset[int]]
"""A state, and the happenings under way that it has behind it."""


def contradictions(happenings: Sequence[Happening], initial: State) -> Iterator[Contradiction]:
    """Yield what fits no state, in the order of the answers. Raise TooManyWorlds.

    After a contradiction the object has the state that is described, so that each is reported once.
    """
    worlds: set[_World] = {(initial, frozenset())}
    under_way: dict[int, Happening] = {}
    for _, ends, number in sorted(_instants(happenings)):
        if not ends:
            under_way[number] = happenings[number]
            continue
        happening = happenings[number]
        after = _ended(worlds, under_way, number)
        del under_way[number]
        if not after:
            yield Contradiction(happening, sorted({state for state, _ in worlds}, key=repr))
            if happening.is_description:
                after = {(happening.shown, frozenset())}
            else:
                after = {(state, behind - {number}) for state, behind in worlds}
        worlds = after


def _instants(happenings: Sequence[Happening]) -> Iterator[tuple[float, bool, int]]:
    for number, happening in enumerate(happenings):
        yield happening.begun, False, number
        if happening.ended < inf:
            yield happening.ended, True, number


def _ended(worlds: set[_World], under_way: dict[int, Happening], number: int) -> set[_World]:
    """Return the worlds in which a happening is behind, by all orders of what may come before it."""
    ended: set[_World] = set()
    seen = set(worlds)
    left = list(worlds)
    while left:
        state, behind = left.pop()
        if number in behind:
            ended.add((state, behind - {number}))
            continue
        for next_one, happening in under_way.items():
            if next_one in behind or (happening.is_description and next_one != number):
                continue
            attempts = happening.tried(state) if happening.tried and happening.ended < inf else ()
            for world in (
                *((after, behind) for after in attempts),
                *((after, behind | {next_one}) for after in happening.step(state)),
            ):
                if world[0] == state and happening.ended == inf:
                    continue  # the world that has it still before it can do all that this one can
                if world not in seen:
                    seen.add(world)
                    left.append(world)
        if len(seen) > MOST:
            raise TooManyWorlds
    return ended
