"""The places of texts on the lanes of a timeline, so that none covers another. page.js does the same after a zoom."""

from collections.abc import Sequence
from dataclasses import dataclass

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
