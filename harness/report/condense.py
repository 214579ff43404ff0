"""Lanes with thousands of shapes, condensed to a few hundred: a page must open fast however long its run was."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

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
