"""Charts of values in an order of time, as SVG that needs no script: lines, stacked bars, a marked stretch.

Decision 0091 says why they are made here. The drawing is stretched to the width of its place, so all text stands
beside it. Colours are those of charts.css.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from markupsafe import Markup, escape

WIDE: Final = 10.0
"""The width of a place, before the drawing is stretched."""
HIGH: Final = 100.0

Values = Sequence[float | None]


@dataclass(frozen=True)
class Chart:
    """Values at places from left to right.

    - title, about: the caption. tips: what a pointer shows at each place, which is all of its values in words.
    - lines, bars: the values by the classes of their colours; bars are stacked in their order. None leaves a gap.
    - low, high: the ends of the axis; words: a value of the axis in words.
    - first, last: the names of the ends. band: the first and the last place of a marked stretch.
    """

    title: str
    about: str
    tips: Sequence[str]
    low: float
    high: float
    words: Callable[[float], str]
    first: str
    last: str
    lines: dict[str, Values] = field(default_factory=dict)
    bars: dict[str, Values] = field(default_factory=dict)
    band: tuple[int, int] | None = None

    def __html__(self) -> str:
        wide = WIDE * len(self.tips)
        band = ""
        if self.band is not None:
            begin, end = self.band
            band = f'<rect class="band" x="{WIDE * begin:g}" width="{WIDE * (end - begin + 1):g}" height="{HIGH:g}"/>'
        lines = "".join(
            f'<path class="{name}" d="{line(values, self.low, self.high)}"/>' for name, values in self.lines.items()
        )
        tips = "".join(
            f'<rect class="tip" x="{WIDE * place:g}" width="{WIDE:g}" height="{HIGH:g}">'
            f"<title>{escape(tip)}</title></rect>"
            for place, tip in enumerate(self.tips)
        )
        about = f" <small>{escape(self.about)}</small>" if self.about else ""
        caption = f"<figcaption>{escape(self.title)}{about}</figcaption>" if self.title else ""
        return (
            f'<figure class="chart">{caption}<div class="plot">'
            f"<span>{escape(self.words(self.high))}</span><span>{escape(self.words(self.low))}</span>"
            f'<svg viewBox="0 0 {wide:g} {HIGH:g}" preserveAspectRatio="none" role="img"'
            f' aria-label="{escape(f"{self.title}: {self.about}")}">{band}{self._bars()}{lines}{tips}</svg></div>'
            f'<div class="axis"><span>{escape(self.first)}</span><span>{escape(self.last)}</span></div></figure>'
        )

    def _bars(self) -> Markup:
        ground = [self.low] * len(self.tips)
        parts = []
        for name, values in self.bars.items():
            for place, value in enumerate(values):
                if value:
                    top = ground[place] + value
                    y, bottom = (_y(each, self.low, self.high) for each in (top, ground[place]))
                    parts.append(
                        f'<rect class="{name}" x="{WIDE * (place + 0.1):g}" width="{WIDE * 0.8:g}" y="{y:.1f}"'
                        f' height="{max(bottom - y, 0.5):.1f}"/>'
                    )
                    ground[place] = top
        return Markup("").join(Markup(each) for each in parts)


def line(values: Values, low: float, high: float) -> str:
    """Return the path through values at neighbouring places; one without neighbours is a dot."""
    parts, has_point = [], False
    for place, value in enumerate(values):
        if value is not None:
            x, y = WIDE * (place + 0.5), _y(value, low, high)
            follows = place + 1 < len(values) and values[place + 1] is not None
            parts.append(f"L{x:g},{y:.1f}" if has_point else f"M{x:g},{y:.1f}" + ("" if follows else "h.01"))
        has_point = value is not None
    return "".join(parts)


def _y(value: float, low: float, high: float) -> float:
    return HIGH - HIGH * (value - low) / (high - low or 1)


def ceiling(value: float) -> float:
    """Return the end of an axis: the least of 1, 2, 3, 4, 5, 6, 8 times a power of ten that is not below a value."""
    if value <= 0:
        return 1.0
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value:
        power /= 10
    return next(step * power for step in (1, 2, 3, 4, 5, 6, 8, 10) if step * power >= value * (1 - 1e-9))
