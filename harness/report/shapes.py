"""The parts of a timeline, before it is rendered. Times are seconds since the run began.

`kind` names a style (`s-active` and so on in style.css). `labels` go from the longest to the shortest: the first that
fits is shown. `tip` is the full text, shown when the mouse points at the shape.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar."""

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
    """A text for a part of a lane: in it if it fits there, else after or before it.

    `texts` are its wordings, from the longest to the shortest: the first that fits anywhere is shown.
    """

    start: float
    end: float
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """A quantity over time, at most a few hundred points; the last value holds to the end."""

    kind: str
    label: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Bin:
    """The number of records with each outcome in one slice of time."""

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
    """Several thin bars, each with its own label."""

    name: str
    note: str
    rows: tuple[tuple[str, tuple[Segment, ...]], ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """A lane of curves."""

    name: str
    note: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Density:
    """A lane of stacked counts over time."""

    name: str
    note: str
    bins: tuple[Bin, ...]


Lane = Bars | Rows | Curves | Density


@dataclass(frozen=True, slots=True)
class Group:
    """Lanes under one title."""

    title: str
    lanes: tuple[Lane, ...]


@dataclass(frozen=True, slots=True)
class Flag:
    """A numbered finding, shown as a line through all lanes. `known`: a listed difference of the target.

    The decisive one is the finding that the report gives the cause of.
    """

    t: float
    number: int
    label: str
    known: bool
    is_decisive: bool = False


@dataclass(frozen=True, slots=True)
class Timeline:
    """A complete timeline. `bands` shade all lanes while a fault is in effect."""

    duration: float
    groups: tuple[Group, ...]
    bands: tuple[Segment, ...]
    flags: tuple[Flag, ...]


Change = tuple[float, str, Any]
"""At a time, a key gets a value; None removes it."""


def sweep(
    changes: Iterable[Change], end: float, look: Callable[[Mapping[str, Any]], Segment | None]
) -> tuple[Segment, ...]:
    """Return the segments of a bar: `look` gets all keys between two changes and returns the segment to draw.

    The times of that segment are replaced. Equal neighbours are merged.
    """
    state: dict[str, Any] = {}
    moments = [(t, list(group)) for t, group in groupby(sorted(changes, key=itemgetter(0)), key=itemgetter(0))]
    segments: list[Segment] = []
    for (t, group), after in zip(moments, [*(t for t, _ in moments), end][1:], strict=True):
        state |= {key: value for _, key, value in group}
        segment = look({key: value for key, value in state.items() if value is not None}) if after > t else None
        if segment is None:
            continue
        last = segments[-1] if segments else None
        if last and last.end == t and _look(last) == _look(segment):
            segments[-1] = Segment(last.start, after, *_look(last))
        else:
            segments.append(Segment(t, after, *_look(segment)))
    return tuple(segments)


def _look(segment: Segment) -> tuple[str, tuple[str, ...], str]:
    return segment.kind, segment.labels, segment.tip
