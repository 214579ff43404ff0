"""The effect of one request on one object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from fencepost.harness.model.worlds import State

DONE = 0
NOTHING_DONE = frozenset(
    {12, 14, 17, 22, 25, 27, 29, 30, 31, 33, 34, 35, 38, 39, 40, 42, 43, 44, 45, 53, 54, 58, 61, 68, 73, 76, 77, 86, 87}
    | {88, 89, 90, 92, 93, 95, 96, 99, 101, 103, 104, 105, 106, 107, 108, 110, 111, 112, 113, 114}
)
"""Errors that say that a request was refused before it did anything. After all others it may have been done: a request
that a broker forwards is sent again, and the second answer is about what the first one did."""


@dataclass(frozen=True)
class Effect(ABC):
    """The change of one object by one request. `code` is the error of its answer; None without an answer."""

    object: str
    code: int | None

    lasting: ClassVar[bool] = False
    """It may be done at any later time, or never: by a timeout, or by a decision that follows from another one."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The request as a clause: `create t with 3 partitions`."""

    @abstractmethod
    def after(self, state: State) -> State:
        """Return the state once it is done."""

    def refusals(self, state: State) -> frozenset[int]:
        """Return the errors of which it owes one in this state; none if it can be done."""
        return frozenset()

    def tried(self, state: State) -> Iterator[State]:
        """Yield the state after an attempt that was not answered."""
        if self.code == DONE and not self.refusals(state):
            yield self.after(state)

    def step(self, state: State) -> Iterator[State]:
        """Yield the states that may follow, none if its answer cannot be in this state."""
        possible = not self.refusals(state)
        if self.code == DONE:
            if possible:
                yield self.after(state)
            return
        yield state
        if possible and self.code not in NOTHING_DONE:
            yield self.after(state)


@dataclass(frozen=True)
class Deletion(Effect):
    """The object is gone."""

    @property
    def title(self) -> str:
        return f"delete {self.object}"

    def after(self, state: State) -> State:
        return None


@dataclass(frozen=True)
class Validation(Effect):
    """A request that asks only to validate what `asked` would do."""

    asked: Effect

    @property
    def title(self) -> str:
        return f"{self.asked.title}, only validated"

    def refusals(self, state: State) -> frozenset[int]:
        return self.asked.refusals(state)

    def after(self, state: State) -> State:
        return state
