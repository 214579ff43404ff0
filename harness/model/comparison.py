"""Descriptions against what the requests must have led to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any

from fencepost.harness.model.effect import Effect
from fencepost.harness.model.kind import Kind
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.sent import Checkpoint, Description, Sent
from fencepost.harness.model.worlds import Contradiction, Happening, State, TooManyWorlds, contradictions


@dataclass(frozen=True)
class Problem:
    """A description, or an answer, that contradicts what the requests before it must have led to."""

    kind: str
    requirement: str
    object: str
    at: float
    shown: str
    """The description or the answer, and the node that gave it."""
    possible: str
    """The states that the object may have had."""
    history: Sequence[str] = ()
    """The requests about the object before that."""


@dataclass
class Comparison:
    """The problems, and the number of comparisons that could have shown one, by kind."""

    problems: list[Problem] = field(default_factory=list)
    judged: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    not_followed: list[str] = field(default_factory=list)
    """Objects with more doubts than are followed."""


def compare(requests: Sequence[Sent], checkpoints: Sequence[Checkpoint], znodes_written: bool = False) -> Comparison:
    """Compare all descriptions with all requests. The first checkpoint gives what each object was at first.

    Linear in requests and descriptions, for each object by itself; exponential in the requests about one object that
    are under way at a time. Where znodes were written, kinds that are in them are not judged.
    """
    result = Comparison()
    for kind in [each for each in KINDS.values() if not (znodes_written and each.in_znodes)]:
        _Comparer(kind, requests, checkpoints, result).compare()
        for checkpoint in checkpoints:
            for description, name, shown, other in kind.contradictions(checkpoint.descriptions):
                found = f"{description.node} describes {name} as {shown}"
                result.problems.append(Problem(kind.name, kind.requirement, name, description.ended, found, other))
    result.problems.sort(key=lambda problem: problem.at)
    return result


class _Comparer:
    def __init__(
        self, kind: Kind, requests: Sequence[Sent], checkpoints: Sequence[Checkpoint], result: Comparison
    ) -> None:
        self._kind = kind
        self._result = result
        self._descriptions = [
            description
            for checkpoint in checkpoints
            for description in checkpoint.descriptions
            if description.kind == kind.name
        ]
        self._first = next(
            (found for each in checkpoints if (found := [d for d in each.descriptions if d.kind == kind.name])), []
        )
        self._requests = [sent for sent in requests if sent.api in kind.changed_by]

    def compare(self) -> None:
        if not self._descriptions:
            return
        begin = min(description.begun for description in self._first)
        objects = {name for each in self._descriptions for name in each.objects}
        effects = defaultdict[str, list[tuple[Sent, Effect]]](list)
        for sent in self._requests:
            objects.update([effect.object for effect in self._kind.effects(sent, objects)])
        for (
            sent
        ) in self._requests:  # now with the objects of later ones: a request that is late may be about these, too
            for effect in self._kind.effects(sent, objects):
                effects[effect.object].append((sent, effect))
        for name in sorted(objects):
            descriptions = [each for each in self._descriptions if _covers(each, name)]
            if not descriptions and self._kind.begins_absent:
                continue  # it belongs to clients whose requests are not recorded
            initial, known_since = self._initial(name, begin)
            happenings = [
                Happening(
                    effect.title,
                    sent.begun,
                    inf if effect.lasting else sent.ended,
                    effect.step,
                    tried=effect.tried if self._kind.forwarded else None,
                )
                for sent, effect in effects[name]
                if sent.ended > known_since
            ]
            happenings += (self._seen(name, each) for each in descriptions)
            self._judge(name, happenings, initial)

    def _initial(self, name: str, begin: float) -> tuple[State, float]:
        """Return the state in which an object was when it was first asked for, and the time of that.

        What the first checkpoint has not was absent then; but a node that did not answer may have had it.
        """
        if self._kind.begins_absent:
            return self._kind.absent, -inf
        looked = self._descriptions if self._kind.of_each_node else self._first
        shown = [description for description in looked if name in description.objects]
        if shown:
            return self._kind.initial([each.objects[name] for each in shown]), shown[0].begun
        return self._kind.absent, begin

    def _seen(self, name: str, description: Description) -> Happening:
        seen = self._kind.state(description.objects[name]) if name in description.objects else self._kind.absent
        title = f"{description.node} describes {name} as {self._kind.says(seen)}"
        fits = partial(self._fits, seen=seen, now=description.ended)
        return Happening(title, description.begun, description.ended, fits, is_description=True, shown=seen)

    def _fits(self, state: State, seen: State, now: float) -> Iterable[State]:
        return self._kind.fits(self._kind.aged(state, now), seen)

    def _judge(self, name: str, happenings: Sequence[Happening], initial: State) -> None:
        self._result.judged[self._kind.name] += sum(each.is_description for each in happenings)
        try:
            for found in contradictions(happenings, initial):
                self._result.problems.append(self._problem(name, found, happenings))
        except TooManyWorlds:
            self._result.not_followed.append(f"{self._kind.name}: {name}")

    def _problem(self, name: str, found: Contradiction, happenings: Sequence[Happening]) -> Problem:
        shown = found.happening
        history = [
            f"{each.begun:.3f} s: {each.title}" + ("" if each.ended < shown.ended else ", without an answer by then")
            for each in sorted(happenings, key=lambda each: each.begun)
            if not each.is_description and each.begun < shown.ended
        ]
        text = shown.title if shown.is_description else f"{shown.title}: accepted"
        possible = " or ".join(dict.fromkeys(map(self._kind.says, found.possible)))
        return Problem(self._kind.name, self._kind.requirement, name, shown.ended, text, possible, history)


def _covers(description: Description, name: str) -> bool:
    return description.scope is None or name in description.scope or name in description.objects


def objects_named(requests: Sequence[Sent], kind: Kind) -> Iterator[Any]:
    """Yield the objects of a kind that requests have named."""
    for sent in requests:
        if sent.api in kind.changed_by:
            yield from (effect.object for effect in kind.effects(sent, ()))
