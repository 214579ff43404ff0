"""Make a timeline fit its page: condense lanes of thousands of shapes, and place texts so that none covers another.

A page must open fast however long its run was. page.js places the texts again after a zoom.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fencepost.harness.report.shapes import Mark, Segment

MOST = 240
"""Slices of the run within which short shapes become one. A lane with fewer shapes stays as it is."""


def condensed_segments(segments: Sequence[Segment], duration: float) -> list[Segment]:
    """Return the segments, with those of one slice that are shorter than a slice as one of their most frequent kind."""
    if len(segments) <= MOST:
        return list(segments)
    width = duration / MOST
    shown: list[Segment] = []
    short: list[Segment] = []
    for segment in segments:
        is_long = segment.end - segment.start >= width
        if short and (is_long or int(segment.start / width) != int(short[0].start / width)):
            shown.append(_one_of(short))
            short = []
        if is_long:
            shown.append(segment)
        else:
            short.append(segment)
    return [*shown, *([_one_of(short)] if short else [])]


def condensed_marks(marks: Sequence[Mark], duration: float) -> list[Mark]:
    """Return the marks, with those of one kind in one slice as their first."""
    if len(marks) <= MOST:
        return list(marks)
    slices: dict[tuple[int, str], list[Mark]] = defaultdict(list)
    for mark in marks:
        slices[int(mark.t * MOST / duration), mark.kind].append(mark)
    return [
        each[0] if len(each) == 1 else replace(each[0], label="", tip=f"{each[0].tip}, and {len(each) - 1} more")
        for each in slices.values()
    ]


def _one_of(short: Sequence[Segment]) -> Segment:
    if len(short) == 1:
        return short[0]
    lasted: dict[str, float] = defaultdict(float)
    for segment in short:
        lasted[segment.kind] += segment.end - segment.start
    kind = max(lasted, key=lambda each: lasted[each])
    tip = next(segment.tip for segment in short if segment.kind == kind)
    return Segment(short[0].start, short[-1].end, kind, (), f"{len(short)} changes; the longest state: {tip}")


LETTER = 6.1
BOLD = 7.0
"""Average widths of a letter of a label, in the font of the page at 10.5 px."""
PAD = 5.0


@dataclass(frozen=True, slots=True)
class Placed:
    """A text with its anchor: at `x` it starts, or with `is_end` it ends."""

    text: str
    x: float
    is_end: bool = False


class Line:
    """One line of texts, from 0 to `width`. Texts that are placed first win."""

    def __init__(self, width: float) -> None:
        self.width = width
        self._taken: list[tuple[float, float]] = []

    def inside(self, start: float, end: float, texts: Sequence[str]) -> Placed | None:
        """Place the first text that fits between two places; None if none does."""
        for text in texts:
            if start + PAD + length(text) + PAD <= end and self._take(start + PAD, start + PAD + length(text)):
                return Placed(text, start + PAD)
        return None

    def beside(self, start: float, end: float, texts: Sequence[str], *, is_bold: bool = True) -> Placed | None:
        """Place the first text that fits after the end, or before the start. One that is not bold may stand between."""
        for text in texts:
            long = length(text, is_bold=is_bold)
            if not is_bold and (placed := self.inside(start, end, (text,))):
                return placed
            if self._take(end + PAD, end + PAD + long):
                return Placed(text, end + PAD)
            if self._take(start - PAD - long, start - PAD):
                return Placed(text, start - PAD, is_end=True)
        return None

    def _take(self, start: float, end: float) -> bool:
        free = start >= 0 and end <= self.width and not any(a < end + PAD and start - PAD < b for a, b in self._taken)
        if free:
            self._taken.append((start, end))
        return free


def length(text: str, *, is_bold: bool = False) -> float:
    """Return the estimated width of a text."""
    return len(text) * (BOLD if is_bold else LETTER)
