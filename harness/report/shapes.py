"""What a timeline is made of, before anybody draws it. Times are seconds since the run began.

`kind` names a style (`s-active` and so on in style.css). `labels` go from the longest to the shortest: the first that
fits is written. `tip` is the whole story, shown on pointing at it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a bar."""

    start: float
    end: float
    kind: str
    labels: tuple[str, ...] = ()
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """An instant on a lane: a tick, with its label to the right if it has one."""

    t: float
    kind: str
    label: str = ""
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Caption:
    """Words beside a stretch of a lane: after it if there is room, else before it."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A quantity over time, at most a few hundred points; the last value holds to the end."""

    kind: str
    label: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Bin:
    """How many records of each fate fell into one slice of time."""

    start: float
    end: float
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Bars:
    """One bar that changes over time. `strip` is a thin second one below it."""

    name: str
    note: str
    segments: tuple[Segment, ...]
    marks: tuple[Mark, ...] = ()
    strip: tuple[Segment, ...] = ()
    captions: tuple[Caption, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """Several thin bars, each with a label of its own."""

    name: str
    note: str
    rows: tuple[tuple[str, tuple[Segment, ...]], ...]


@dataclass(frozen=True, slots=True)
class Curves:
    name: str
    note: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Density:
    name: str
    note: str
    bins: tuple[Bin, ...]


Lane = Bars | Rows | Curves | Density


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    lanes: tuple[Lane, ...]


@dataclass(frozen=True, slots=True)
class Flag:
    """A numbered finding: a line through all lanes. `known` is a difference that the target is listed for."""

    t: float
    number: int
    label: str
    known: bool


@dataclass(frozen=True, slots=True)
class Timeline:
    """`bands` shade all lanes while a fault works."""

    duration: float
    groups: tuple[Group, ...]
    bands: tuple[Segment, ...]
    flags: tuple[Flag, ...]


Change = tuple[float, str, Any]
"""At a time, a key gets a value; None takes it away."""


def sweep(
    changes: Iterable[Change], end: float, look: Callable[[Mapping[str, Any]], Segment | None]
) -> tuple[Segment, ...]:
    """A bar out of changes: between any two instants `look` sees all keys and says what to draw, whatever its times.

    Neighbours that look the same become one.
    """
    state: dict[str, Any] = {}
    moments = [(t, list(group)) for t, group in groupby(sorted(changes, key=itemgetter(0)), key=itemgetter(0))]
    segments: list[Segment] = []
    for (t, group), after in zip(moments, [*(t for t, _ in moments), end][1:], strict=True):
        state |= {key: value for _, key, value in group}
        drawn = look({key: value for key, value in state.items() if value is not None}) if after > t else None
        if drawn is None:
            continue
        drawn = replace(drawn, start=t, end=after)
        last = segments[-1] if segments else None
        if last and last.end == t and replace(last, start=t, end=after) == drawn:
            segments[-1] = replace(last, end=after)
        else:
            segments.append(drawn)
    return tuple(segments)
