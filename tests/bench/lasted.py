"""How long one fault took to show and to be gone, each time that it was tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True)
class Lasted:
    """Seconds of each time that a fault was tried. `why_not`: what ended it before its time."""

    shown: Sequence[float] = ()
    healed: Sequence[float] = ()
    why_not: str | None = None

    def cells(self) -> tuple[str, ...]:
        if len(self.shown) < 2:
            return ("-", "-", "-", "-", self.why_not or "0")
        figures = (*_percentiles(self.shown), *_percentiles(self.healed))
        times = str(len(self.shown))
        return (*map(milliseconds, figures), times if self.why_not is None else f"{times}, then: {self.why_not}")


def milliseconds(seconds: float) -> str:
    ms = 1000 * seconds
    return f"{ms:,.0f} ms" if ms >= 10 else f"{ms:.2g} ms"


def _percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    return median(seconds), quantiles(seconds, n=100, method="inclusive")[98]
