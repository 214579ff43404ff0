"""Draws a timeline as one SVG. Colours are the page's: every shape has a class and nothing else."""

from collections.abc import Iterable, Iterator
from html import escape

from harness.report.shapes import (
    Bars,
    Caption,
    Curve,
    Curves,
    Density,
    Flag,
    Lane,
    Rows,
    Segment,
    Timeline,
)

WIDTH = 1180
LEFT = 158
RIGHT = WIDTH - 34
TOP = 34
BAR = 16
ROW = 17
CURVES = 54
DENSITY = 26
GAP = 12
TITLE = 24
LETTER = 6.1
"""Width of a letter of a label, on average, in the page's font at 10.5 px."""


def draw(timeline: Timeline) -> str:
    """The whole picture, to be put into a page that has style.css."""
    scale = _Scale(timeline.duration)
    body: list[str] = []
    y = float(TOP)
    for group in timeline.groups:
        y += TITLE
        body.append(_text(16, y - 8, group.title.upper(), "group"))
        for lane in group.lanes:
            height = _height(lane)
            body.append(_name(lane, y, height))
            body.extend(_lane(lane, y, scale))
            y += height
            body.append(f'<line class="rule" x1="16" x2="{WIDTH - 16}" y1="{y:.1f}" y2="{y:.1f}"/>')
    bottom = y + 6
    height = bottom + 18 * len(timeline.flags) + 8
    under = [*_axis(scale, bottom), *_bands(timeline.bands, scale, bottom)]
    over = [mark for place, flag in enumerate(timeline.flags) for mark in _flag(flag, place, scale, bottom)]
    cursor = f'<line id="cursor" class="cursor" y1="{TOP}" y2="{bottom:.1f}"/><text id="clock" class="clock" y="14"/>'
    frame = f'data-left="{LEFT}" data-right="{RIGHT}" data-seconds="{timeline.duration:.6f}"'
    return (
        f'<svg id="timeline" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="timeline of the run" {frame}>'
        f"{''.join(under)}{''.join(body)}{''.join(over)}{cursor}</svg>"
    )


class _Scale:
    def __init__(self, duration: float) -> None:
        self.duration = duration

    def x(self, t: float) -> float:
        return LEFT + (RIGHT - LEFT) * min(max(t / self.duration, 0.0), 1.0)

    def ticks(self) -> list[float]:
        """Round times, at most ten."""
        steps = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
        step = next((step for step in steps if self.duration / step <= 10), self.duration / 10)
        return [step * number for number in range(int(self.duration / step) + 1)]


def _height(lane: Lane) -> float:
    match lane:
        case Bars(strip=strip):
            return BAR + GAP + (6 if strip else 0)
        case Rows(rows=rows):
            return ROW * max(2, len(rows)) + GAP
        case Curves():
            return CURVES + GAP
        case Density():
            return DENSITY + GAP


def _lane(lane: Lane, y: float, scale: _Scale) -> Iterator[str]:
    top = y + GAP / 2
    match lane:
        case Bars():
            yield from (_bar(segment, top, BAR, scale) for segment in lane.segments)
            yield from (_bar(segment, top + BAR + 2, 4, scale) for segment in lane.strip)
            yield from _marks(lane, top, scale)
            yield from (_caption(caption, top, scale) for caption in lane.captions)
        case Rows():
            for number, (label, segments) in enumerate(lane.rows):
                yield _text(LEFT - 6, top + ROW * number + 11, label, "row")
                yield from (_bar(segment, top + ROW * number, ROW - 4, scale) for segment in segments)
        case Curves():
            yield from _curves(lane, top, scale)
        case Density():
            yield from _density(lane, top, scale)


def _bar(segment: Segment, y: float, height: float, scale: _Scale) -> str:
    x, end = scale.x(segment.start), scale.x(segment.end)
    width = max(end - x, 1.0)
    tip = f"{segment.tip} · {segment.start:.2f} to {segment.end:.2f} s" if segment.tip else ""
    shape = _rect(f"s-{segment.kind}", x, y, width, height, tip)
    fitting = _fitting(segment, width)
    if fitting is None or height < 12:
        return shape
    return shape + _text(x + 5, y + height / 2 + 3.6, fitting, f"label on-{segment.kind}")


def _fitting(segment: Segment, width: float) -> str | None:
    return next((label for label in segment.labels if len(label) * LETTER + 10 <= width), None)


def _marks(lane: Bars, y: float, scale: _Scale) -> Iterator[str]:
    """A label that would stand on that of a segment is left out; the mark is there, and says it on pointing at it."""
    written = [
        scale.x(segment.start)
        for segment in lane.segments
        if _fitting(segment, max(scale.x(segment.end) - scale.x(segment.start), 1.0)) is not None
    ]
    for mark in lane.marks:
        x = scale.x(mark.t)
        yield _rect(f"m-{mark.kind}", x - 1, y, 2, BAR, mark.tip)
        end = x + 5 + len(mark.label) * LETTER
        if mark.label and not any(x - 2 < start < end for start in written):
            yield _text(x + 5, y + BAR / 2 + 3.6, mark.label, f"mark on-{mark.kind}")


def _caption(caption: Caption, y: float, scale: _Scale) -> str:
    x, end = scale.x(caption.start), scale.x(caption.end)
    before = end + len(caption.text) * LETTER + 10 > RIGHT
    return _text(x - 5 if before else end + 5, y + BAR / 2 + 3.6, caption.text, f"caption{' end' if before else ''}")


def _curves(lane: Curves, y: float, scale: _Scale) -> Iterator[str]:
    highest = max((value for curve in lane.curves for _, value in curve.points), default=1.0) or 1.0

    def height(value: float) -> float:
        return y + CURVES - 14 - (CURVES - 22) * value / highest

    for curve in lane.curves:
        last = curve.points[-1]
        points = [*curve.points, (scale.duration, last[1])]
        path = " ".join(f"{scale.x(t):.1f},{height(value):.1f}" for t, value in points)
        yield f'<polyline class="c-{curve.kind}" points="{path}"{_tip(curve.label)}/>'
        yield _label_of(curve, scale.x(last[0]), height(last[1]))


def _label_of(curve: Curve, x: float, y: float) -> str:
    above = y - 5 if curve.kind == "acked" else y + 13
    fits = x + len(curve.label) * LETTER + 10 < RIGHT
    return _text(x + 6 if fits else x - 6, above, curve.label, f"label on-{curve.kind}{'' if fits else ' end'}")


def _density(lane: Density, y: float, scale: _Scale) -> Iterator[str]:
    highest = max((sum(each.counts.values()) for each in lane.bins), default=1)
    for each in lane.bins:
        base = y + DENSITY
        counted = ", ".join(f"{count} {_FATES[fate]}" for fate, count in each.counts.items())
        tip = f"{counted} · {each.start:.2f} to {each.end:.2f} s"
        x, width = scale.x(each.start), max(scale.x(each.end) - scale.x(each.start) - 0.6, 0.8)
        for fate in ("ok", "unknown", "failed"):
            if count := each.counts.get(fate, 0):
                tall = max(2.0, DENSITY * count / highest)
                base -= tall
                yield _rect(f"d-{fate}", x, base, width, tall, tip)


_FATES = {"ok": "acknowledged", "unknown": "unknown", "failed": "refused"}


def _axis(scale: _Scale, bottom: float) -> Iterator[str]:
    for t in scale.ticks():
        x = scale.x(t)
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{bottom:.1f}"/>'
        yield _text(x, TOP - 10, f"{t:g} s", "tick")


def _bands(bands: Iterable[Segment], scale: _Scale, bottom: float) -> Iterator[str]:
    for band in bands:
        x, width = scale.x(band.start), scale.x(band.end) - scale.x(band.start)
        yield _rect("band", x, TOP, max(width, 1.0), bottom - TOP)
        for edge in (band.start, band.end):
            yield f'<line class="edge" x1="{scale.x(edge):.1f}" x2="{scale.x(edge):.1f}" y1="{TOP}" y2="{bottom:.1f}"/>'


def _flag(flag: Flag, place: int, scale: _Scale, bottom: float) -> Iterator[str]:
    x, y = scale.x(flag.t), bottom + 14 + 18 * place
    kind = "known" if flag.known else "violation"
    label = f"{flag.label} · {flag.t:.2f} s"
    left = x + len(label) * LETTER + 24 > RIGHT
    yield f'<a href="#finding-{flag.number}"><line class="f-{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{y:.1f}"/>'
    yield f'<circle class="b-{kind}" cx="{x:.1f}" cy="{y - 4:.1f}" r="8"/>'
    yield _text(x, y - 0.2, str(flag.number), "number")
    yield _text(x - 13 if left else x + 13, y, label, f"flag on-{kind}{' end' if left else ''}") + "</a>"


def _name(lane: Lane, y: float, height: float) -> str:
    middle = y + height / 2
    right = LEFT - (24 if isinstance(lane, Rows) else 12)
    name = lane.name if len(lane.name) <= 20 else lane.name[:19] + "…"
    note = lane.note if len(lane.note) <= 24 else lane.note[:23] + "…"
    if not note:
        return _text(right, middle + 4, name, "name")
    return _text(right, middle - 1, name, "name") + _text(right, middle + 10, note, "note")


def _rect(style: str, x: float, y: float, width: float, height: float, tip: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{style}" {place} rx="{2 if height > 8 else 1}"{_tip(tip)}/>'


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _tip(tip: str) -> str:
    return f' data-tip="{escape(tip)}"' if tip else ""
