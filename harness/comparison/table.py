"""The answers of several targets as one table: a row for each probe, a cell for each target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fencepost.harness.comparison.answers import NOT_ASKED, Answer, Answers
from fencepost.harness.comparison.differences import Difference, differences
from fencepost.harness.comparison.masks import Mask, used

SLOWER = 10.0
"""A target is slower if it takes so many times as long as the first one that answers, and `SLOWER_BY` longer."""
SLOWER_BY = 0.25
STATE = "state"
"""The request, as it were, of rows of what nodes describe in the end."""


class Listed(Protocol):
    """The lists of target files."""

    def reason(self, target: str, probe: str, answer: str, paths: tuple[str, ...]) -> str | None:
        """Return why a target gives this answer, where that of another differs at `paths`; None if it is not listed."""


@dataclass(frozen=True)
class Cell:
    """The answer of one target to one probe. `differs` is what it does not share with the first target that answers."""

    answer: Answer
    differs: tuple[Difference, ...] = ()
    reason: str | None = None
    """Why, as a target file lists it."""
    slower: float | None = None
    """How many times as long as the first target that answers it took, if that is much longer."""

    @property
    def short(self) -> str:
        return self.answer.short

    @property
    def is_new(self) -> bool:
        """Return whether it differs, and no target file lists that."""
        return bool(self.differs) and self.reason is None


@dataclass(frozen=True)
class Row:
    """One probe, or one kind of what nodes describe."""

    name: str
    api: str
    cells: tuple[Cell, ...]

    @property
    def kind(self) -> str:
        """Return `same`, `listed` or `different`."""
        if any(cell.is_new for cell in self.cells):
            return "different"
        return "listed" if any(cell.differs for cell in self.cells) else "same"


@dataclass(frozen=True)
class Table:
    targets: tuple[str, ...]
    folders: tuple[str, ...]
    rows: tuple[Row, ...]
    masks: frozenset[Mask]
    """The kinds of fields that were masked in any answer."""

    @property
    def exit_code(self) -> int:
        """Return 1 if a difference is not listed, and 3 if no two targets answered a probe: nothing was compared."""
        if any(row.kind == "different" for row in self.rows):
            return 1
        compared = (row for row in self.rows if sum(cell.answer.is_answer for cell in row.cells) > 1)
        return 0 if any(compared) else 3

    def count(self, kind: str) -> int:
        return sum(row.kind == kind for row in self.rows)


def table_of(answers: Sequence[Answers], listed: Listed) -> Table:
    """Return the table of answers to the same probes: those of the first target, and of others in its order."""
    names = dict.fromkeys(name for each in answers for name in each.by_probe)
    apis = {name: api for each in answers for name, api in each.apis.items()}
    absent = Answer(NOT_ASKED, note="the plan of its run has no such probe")
    targets = tuple(each.target for each in answers)
    rows = [
        _row(name, apis[name], targets, [each.by_probe.get(name, absent) for each in answers], listed) for name in names
    ]
    rows += _state_rows(targets, [each.state for each in answers], listed)
    masks = (used(cell.answer.response) for row in rows for cell in row.cells)
    return Table(_labels(targets), tuple(each.folder for each in answers), tuple(rows), frozenset().union(*masks))


def _labels(targets: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns: a target that is asked several times has a number."""
    before = [targets[:place].count(target) for place, target in enumerate(targets)]
    return tuple(f"{target} #{count + 1}" if count else target for target, count in zip(targets, before, strict=True))


def _row(name: str, api: str, targets: Iterable[str], answers: Sequence[Answer], listed: Listed) -> Row:
    first = next((answer for answer in answers if answer.is_answer), None)
    if first is None:
        return Row(name, api, tuple(map(Cell, answers)))
    owner = next(target for target, answer in zip(targets, answers, strict=True) if answer is first)
    cells = []
    for target, answer in zip(targets, answers, strict=True):
        differs = tuple(_differences(api, first, answer)) if answer.is_answer else ()
        paths = tuple(each.path for each in differs)
        both = ((target, answer), (owner, first)) if differs else ()
        reasons = (listed.reason(each, name, given.short, paths) for each, given in both)
        reason = next(filter(None, reasons), None)
        cells.append(Cell(answer, differs, reason, _slower(first, answer)))
    return Row(name, api, tuple(cells))


def _differences(api: str, first: Answer, answer: Answer) -> Iterator[Difference]:
    """Yield what differs. If the errors do, the rest of the answer follows from them."""
    if first.short != answer.short:
        yield Difference("", first.short, answer.short)
    else:
        same_version = first.version == answer.version and api != STATE  # descriptions are put together from versions
        yield from differences(first.response, answer.response, same_version=same_version)


def _slower(first: Answer, answer: Answer) -> float | None:
    if first.seconds is None or answer.seconds is None or answer.seconds - first.seconds < SLOWER_BY:
        return None
    times = answer.seconds / max(first.seconds, 0.001)
    return round(times, 1) if times >= SLOWER else None


def _state_rows(targets: Sequence[str], states: Sequence[Mapping[str, Any]], listed: Listed) -> Iterator[Row]:
    """Yield a row for each object that a node described in the end; a kind that a target cannot describe is no row."""
    for kind in dict.fromkeys(kind for state in states for kind in state):
        for name in dict.fromkeys(name for state in states for name in state.get(kind, ())):
            answers = [_described(state, kind, name) for state in states]
            yield _row(f"{STATE}.{kind}.{name}", STATE, targets, answers, listed)


def _described(state: Mapping[str, Any], kind: str, name: str) -> Answer:
    if kind not in state:
        return Answer(NOT_ASKED, note=f"it describes no {kind}")
    return Answer("there", response=state[kind][name]) if name in state[kind] else Answer("absent")
