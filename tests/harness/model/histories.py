"""Histories that a kind allows, made by playing the cluster: for properties that each kind has to have."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from fencepost.harness.model.comparison import Comparison, compare
from fencepost.harness.model.kind import Kind
from fencepost.harness.model.sent import Checkpoint, Description, Sent
from fencepost.harness.model.worlds import State

Answer = Callable[[Sent, Mapping[str, int]], Mapping[str, Any]]
"""The response to a request, from the error of each object."""


@dataclass
class Cluster:
    """A cluster that does what is asked for, one request after the other, and describes it."""

    kind: Kind
    show: Callable[[State], Any]
    """The form in which a description shows a state."""
    answer: Answer
    rng: random.Random
    states: dict[str, State] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    now: float = 0.0

    def ask(self, api: str, body: Mapping[str, Any], *, lost: bool = False) -> None:
        """Do what a request asks for. A `lost` one is done, or not, and has no answer."""
        begun = self._tick()
        silent = Sent(api, body, begun)
        done = not lost or self.rng.random() < 0.5
        codes: dict[str, int] = {}
        for effect in self.kind.effects(silent, self.states):
            state = self.states.get(effect.object, self.kind.absent)
            refusals = effect.refusals(state)
            codes[effect.object] = min(refusals, default=0)
            if done and not refusals:
                self.states[effect.object] = effect.after(state)
        ended = self._tick()
        self.sent.append(silent if lost else replace(silent, ended=ended, response=self.answer(silent, codes)))

    def describe(self, nodes: Sequence[str] = ("a", "b")) -> None:
        objects = {name: self.show(state) for name, state in self.states.items() if state != self.kind.absent}
        name = f"look-{len(self.checkpoints)}"
        descriptions = [Description(self.kind.name, node, dict(objects), self._tick(), self._tick()) for node in nodes]
        self.checkpoints.append(Checkpoint(name, descriptions))

    def compare(self) -> Comparison:
        return compare(self.sent, self.checkpoints)

    def with_last(self, objects: Mapping[str, Any]) -> Comparison:
        """Compare as if the last node had described this at last."""
        *before, last = self.checkpoints
        *others, description = last.descriptions
        wrong = Checkpoint(last.name, [*others, replace(description, objects=objects)])
        return compare(self.sent, [*before, wrong])

    @property
    def last(self) -> Mapping[str, Any]:
        return self.checkpoints[-1].descriptions[-1].objects

    def _tick(self) -> float:
        self.now += 1.0
        return self.now


def never_answered(history: Cluster) -> int:
    return sum(each.ended == inf for each in history.sent)
