"""A timeline as two SVGs side by side: the names of the lanes, and the plot, which may scroll and zoom beside them.

Each shape has a class only: the style sheet of the page sets the colours. Without JavaScript both are a picture of the
whole run. page.js moves the shapes when it zooms; it finds all it needs in their attributes: places along the axis are
those of the whole run, `data-in` and `data-by` are the ends of the shape that a text belongs to.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from fencepost.harness.report.fitting import MOST, Line, Placed, condensed_marks, condensed_segments
from fencepost.harness.report.shapes import Bars, Curve, Curves, Density, Flag, Lane, Rows, Segment, Timeline
from fencepost.harness.report.time_scale import Fold, TimeScale, folds_of

NAMES = 158
PLOT = 988
END = 968
"""The end of the run on the plot: the text of the last tick needs the rest."""
TOP = 34
BAR = 16
ROW = 17
CURVES = 54
DENSITY = 26
GAP = 12
TITLE = 24
FLAG = 18
MOST_FLAGS = 10
"""Flags with a row of their own below the lanes."""
CIRCLE = 8
LONGEST_FLAG = 70
"""Letters of the title of a flag; the finding that it leads to has all."""


def draw(timeline: Timeline) -> str:
    """Return the two SVGs in a `div`, for a page that has style.css."""
    picture = _Picture(timeline)
    picture.draw()
    return picture.html()


def draw_alone(timeline: Timeline, style: str) -> str:
    """Return one SVG with its own style, for a file."""
    picture = _Picture(timeline)
    picture.draw()
    return picture.file(style)


class _Picture:
    """The parts of both SVGs, in layers: a text is never covered by a shape, and a shape never by a band."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.duration = timeline.duration
        self.scale = TimeScale(timeline.duration, END, folds_of(timeline.duration, _changes(timeline)))
        self.names: list[str] = []
        self.under: list[str] = []
        self.shapes: list[str] = []
        self.lines: list[str] = []
        self.texts: list[str] = []
        self.height = 0.0
        self.rows = 0

    def draw(self) -> None:
        y = float(TOP)
        for group in self.timeline.groups:
            y += TITLE
            self.names.append(_text(16, y - 8, group.title.upper(), "group"))
            for lane in group.lanes:
                height = _height(lane)
                self.names.extend(_name(lane, y, height))
                self._lane(lane, y)
                y += height
                self.names.append(f'<line class="rule" x1="16" x2="{NAMES}" y1="{y:.1f}" y2="{y:.1f}"/>')
                self.under.append(f'<line class="rule" x1="0" x2="{PLOT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        bottom = y + 6
        self.under[:0] = [*self._bands(bottom)]
        self.height = bottom + self._flags(bottom) + 8
        self.shapes.extend(self._folds(bottom))
        self.bottom = bottom

    def html(self) -> str:
        knots = " ".join(f"{t:.6g},{x:.2f}" for t, x in self.scale.knots)
        high = f"{self.height:.0f}"
        axis = "".join(self._axis())
        return (
            '<div class="timeline">'
            f'<svg class="names" width="{NAMES}" height="{high}" viewBox="0 0 {NAMES} {high}"'
            f' preserveAspectRatio="xMaxYMin slice" aria-hidden="true">{"".join(self.names)}</svg>'
            '<div class="plot" tabindex="0" aria-label="timeline of the run">'
            f'<svg id="timeline" width="{PLOT}" height="{high}" viewBox="0 0 {PLOT} {high}" role="img"'
            f' aria-label="timeline of the run" data-knots="{knots}" data-top="{TOP}" data-bottom="{self.bottom:.1f}">'
            f'<g id="axis">{axis}</g>{"".join(self.under)}{"".join(self.shapes)}{"".join(self.lines)}'
            f"{''.join(self.texts)}"
            f'<line id="cursor" class="cursor" y1="{TOP}" y2="{self.bottom:.1f}"/>'
            '<text id="clock" class="clock" y="12"/></svg></div></div>'
        )

    def file(self, style: str) -> str:
        """Return the markup of one SVG with names and plot, without the texts that appear under a pointer."""
        width, high = NAMES + PLOT, f"{self.height:.0f}"
        parts = (*self._axis(), *self.under, *self.shapes, *self.lines, *self.texts)
        plot = re.sub(r' data-[a-z]+="[^"]*"', "", "".join(parts))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{high}" viewBox="0 0 {width} {high}">'
            f'<style>{style}</style><rect width="{width}" height="{high}" style="fill: var(--card)"/>'
            f'{"".join(self.names)}<g transform="translate({NAMES})">{plot}</g></svg>\n'
        )

    def _lane(self, lane: Lane, y: float) -> None:
        top = y + GAP / 2
        match lane:
            case Bars():
                self._bars(lane, top)
            case Rows():
                for number, (label, segments) in enumerate(lane.rows):
                    self.names.append(_text(NAMES - 6, top + ROW * number + 11, label, "row"))
                    self._segments(segments, top + ROW * number, ROW - 4, Line(PLOT))
            case Curves():
                self._curves(lane, top)
            case Density():
                self._density(lane, top)

    def _bars(self, lane: Bars, top: float) -> None:
        line = Line(PLOT)
        self._segments(lane.segments, top, BAR, line)
        for segment in condensed_segments(lane.strip, self.duration):
            self._bar(segment, top + BAR + 2, 4)
        for caption in lane.captions[:MOST]:
            x, end = self.scale.x(caption.start), self.scale.x(caption.end)
            placed = line.beside(x, end, caption.texts, is_bold=False)
            self._label(placed, caption.texts, (x, end), top + BAR / 2 + 3.6, "caption", "by-in")
        for mark in condensed_marks(lane.marks, self.duration):
            x = self.scale.x(mark.t)
            self.shapes.append(_rect(f"m-{mark.kind}", x - 1, top, 2, BAR, mark.tip))
            if mark.label:
                placed = line.beside(x, x, (mark.label,))
                self._label(placed, (mark.label,), (x, x), top + BAR / 2 + 3.6, f"mark on-{mark.kind}", "by")

    def _segments(self, segments: Sequence[Segment], top: float, height: float, line: Line) -> None:
        self.rows += 1
        for segment in condensed_segments(segments, self.duration):
            x, end = self._bar(segment, top, height)
            if segment.labels and height >= 12:
                placed = line.inside(x, end, segment.labels)
                style = f"label on-{segment.kind}"
                self._label(placed, segment.labels, (x, end), top + height / 2 + 3.6, style, "in")

    def _bar(self, segment: Segment, top: float, height: float) -> tuple[float, float]:
        x = self.scale.x(segment.start)
        width = max(self.scale.x(segment.end) - x, 1.0)
        tip = f"{segment.tip} · {_times(segment.start, segment.end)}" if segment.tip else ""
        self.shapes.append(_rect(f"s-{segment.kind}", x, top, width, height, tip))
        return x, x + width

    def _label(
        self, placed: Placed | None, texts: Sequence[str], ends: tuple[float, float], y: float, style: str, how: str
    ) -> None:
        """Add a text with all its wordings: a zoom may have room for another one, or for the first."""
        style += " end" if placed is not None and placed.is_end else ""
        x = placed.x if placed is not None else 0
        data = f'data-{how}="{ends[0]:.1f} {ends[1]:.1f}" data-row="{self.rows}"'
        if len(texts) > 1 or placed is None:
            data += f' data-l="{escape("|".join(text.replace("|", "/") for text in texts))}"'
        shown = escape(placed.text) if placed is not None else ""
        self.texts.append(f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" {data}>{shown}</text>')

    def _curves(self, lane: Curves, top: float) -> None:
        highest = max((value for curve in lane.curves for _, value in curve.points), default=1.0) or 1.0

        def height(value: float) -> float:
            return top + CURVES - 14 - (CURVES - 22) * value / highest

        for curve in lane.curves:
            last = curve.points[-1]
            points = _bent([*curve.points, (self.duration, last[1])], self.scale)
            path = " ".join(f"{self.scale.x(t):.1f},{height(value):.1f}" for t, value in points)
            self.shapes.append(f'<polyline class="c-{curve.kind}" points="{path}"{_tip(curve.label)}/>')
            self._label_of(curve, self.scale.x(last[0]), height(last[1]))

    def _label_of(self, curve: Curve, x: float, y: float) -> None:
        above = y - 5 if curve.kind == "acked" else y + 13
        self.rows += 1
        placed = Line(PLOT).beside(x, x, (curve.label,))
        self._label(placed, (curve.label,), (x, x), above, f"label on-{curve.kind}", "by")

    def _density(self, lane: Density, top: float) -> None:
        highest = max((sum(each.counts.values()) for each in lane.bins), default=1)
        for each in lane.bins:
            base = top + DENSITY
            counted = ", ".join(f"{count} {_FATES[fate]}" for fate, count in each.counts.items())
            tip = f"{counted} · {_times(each.start, each.end)}"
            x = self.scale.x(each.start)
            width = max(self.scale.x(each.end) - x - 0.6, 0.8)
            for fate in ("ok", "unknown", "failed"):
                if count := each.counts.get(fate, 0):
                    tall = max(2.0, DENSITY * count / highest)
                    base -= tall
                    self.shapes.append(_rect(f"d-{fate}", x, base, width, tall, tip))

    def _axis(self) -> Iterator[str]:
        for t in self.scale.ticks():
            x = self.scale.x(t)
            yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{self.bottom:.1f}"/>'
            yield _text(x, TOP - 10, f"{t:g} s", "tick" if x > 12 else "tick first")

    def _bands(self, bottom: float) -> Iterator[str]:
        for band in condensed_segments(self.timeline.bands, self.duration):
            x, width = self.scale.x(band.start), self.scale.x(band.end) - self.scale.x(band.start)
            yield _rect("band", x, TOP, max(width, 1.0), bottom - TOP)
            for edge in (x, x + width):
                yield f'<line class="edge" x1="{edge:.1f}" x2="{edge:.1f}" y1="{TOP}" y2="{bottom:.1f}"/>'

    def _folds(self, bottom: float) -> Iterator[str]:
        for fold in self.scale.folds:
            x, end = self.scale.x(fold.start), self.scale.x(fold.end)
            tip = f"nothing changes for {fold.end - fold.start:.1f} s: this stretch is folded"
            yield _rect("fold", x, TOP, end - x, bottom - TOP, tip)
            for edge in (x, end):
                yield f'<line class="tear" x1="{edge:.1f}" x2="{edge:.1f}" y1="{TOP}" y2="{bottom:.1f}"/>'
            self.texts.append(_text((x + end) / 2, TOP + 10, _folded(fold), "folded"))

    def _flags(self, bottom: float) -> float:
        """Add the flags, and return the height of their rows: one each; flags without a row have no text."""
        for place, flag in enumerate(self.timeline.flags):
            x = self.scale.x(flag.t)
            texts = _flag_texts(flag) if place < MOST_FLAGS else ()
            placed = Line(PLOT).beside(x - CIRCLE, x + CIRCLE, texts)
            self._flag(flag, texts, placed, x, bottom + 14 + FLAG * min(place, MOST_FLAGS - 1))
        return FLAG * min(len(self.timeline.flags), MOST_FLAGS)

    def _flag(self, flag: Flag, texts: Sequence[str], placed: Placed | None, x: float, y: float) -> None:
        kind = "known" if flag.known else "violation"
        decisive, moment = (" decisive", ' id="moment"') if flag.is_decisive else ("", "")
        self.lines.append(f'<line class="f-{kind}{decisive}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{y - 4:.1f}"/>')
        style = f"flag on-{kind}{' end' if placed is not None and placed.is_end else ''}"
        self.texts.append(
            f'<a href="#finding-{flag.number}"{moment} data-l="{escape("|".join(texts))}">'
            f'<circle class="b-{kind}" cx="{x:.1f}" cy="{y - 4:.1f}" r="{CIRCLE}"/>'
            f"{_text(x, y - 0.2, str(flag.number), 'number')}"
            f"{_text(placed.x if placed else x, y, placed.text if placed else '', style)}</a>"
        )


_FATES = {"ok": "acknowledged", "unknown": "unknown", "failed": "refused"}


def _changes(timeline: Timeline) -> Iterator[float]:
    """Yield the times at which a reader wants to see what is next to it: all but the counts of records."""
    for band in timeline.bands:
        yield from (band.start, band.end)
    yield from (flag.t for flag in timeline.flags)
    for group in timeline.groups:
        for lane in group.lanes:
            match lane:
                case Bars():
                    yield from (t for each in (*lane.segments, *lane.strip) for t in (each.start, each.end))
                    yield from (mark.t for mark in lane.marks)
                case Rows():
                    yield from (t for _, row in lane.rows for each in row for t in (each.start, each.end))


def _bent(points: Sequence[tuple[float, float]], scale: TimeScale) -> list[tuple[float, float]]:
    """Return the points of a curve with one more at each end of a fold: the axis bends there."""
    bent = list(points)
    for (t0, v0), (t1, v1) in pairwise(points):
        bent += [(t, v0 + (v1 - v0) * (t - t0) / (t1 - t0)) for t, _ in scale.knots if t0 < t < t1]
    return sorted(bent, key=lambda point: point[0])


def _times(start: float, end: float) -> str:
    return f"{start:.2f} to {end:.2f} s" if f"{start:.2f}" != f"{end:.2f}" else f"{start:.2f} s"


def _folded(fold: Fold) -> str:
    return f"{fold.end - fold.start:.0f} s"


def _flag_texts(flag: Flag) -> tuple[str, str]:
    """Return the long and the short wording of a flag."""
    label = flag.label.replace("|", "/")
    title = label if len(label) <= LONGEST_FLAG else label[: LONGEST_FLAG - 1] + "…"
    return f"{title} · {flag.t:.2f} s", f"{label.partition(' ')[0]} · {flag.t:.2f} s"


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


def _name(lane: Lane, y: float, height: float) -> Iterator[str]:
    middle = y + height / 2
    right = NAMES - (24 if isinstance(lane, Rows) else 12)
    name = lane.name if len(lane.name) <= 20 else lane.name[:19] + "…"
    note = lane.note if len(lane.note) <= 24 else lane.note[:23] + "…"
    yield _text(right, middle - 1 if note else middle + 4, name, "name")
    if note:
        yield _text(right, middle + 10, note, "note")


def _rect(style: str, x: float, y: float, width: float, height: float, tip: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{style}" {place} rx="{2 if height > 8 else 1}"{_tip(tip)}/>'


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _tip(tip: str) -> str:
    return f' data-tip="{escape(tip)}"' if tip else ""
