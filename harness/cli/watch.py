"""A view that is redrawn in place, fits any terminal, and scrolls by the keys of a pager."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

REDRAW_INTERVAL = 0.5
"""Seconds between two drawings."""

UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END, QUIT = range(7)
KEYS = {
    **dict.fromkeys((b"\x1b[A", b"\x1bOA", b"k"), UP),
    **dict.fromkeys((b"\x1b[B", b"\x1bOB", b"j", b"\r", b"\n"), DOWN),
    **dict.fromkeys((b"\x1b[5~", b"b"), PAGE_UP),
    **dict.fromkeys((b"\x1b[6~", b" "), PAGE_DOWN),
    **dict.fromkeys((b"\x1b[H", b"\x1b[1~", b"g"), HOME),
    **dict.fromkeys((b"\x1b[F", b"\x1b[4~", b"G"), END),
    b"q": QUIT,
}
HELP = "↑ ↓ PgUp PgDn scroll · q ends"


@dataclass
class Window:
    """The visible lines of a view, and a last line with the place and the keys."""

    view: RenderableType = ""
    top: int = 0
    _height: int = 1
    _total: int = 0

    def press(self, key: int) -> None:
        """Move by a key, within the lines of the latest drawing."""
        page = max(1, self._height - 1)
        moves = {UP: -1, DOWN: 1, PAGE_UP: -page, PAGE_DOWN: page, HOME: -self._total, END: self._total}
        self.top = self._within(self.top + moves.get(key, 0))

    def _within(self, top: int) -> int:
        return max(0, min(top, self._total - self._height))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self.view, options.update(height=None), pad=False)
        self._height, self._total = max(1, console.height - 1), len(lines)
        self.top = self._within(self.top)
        for line in lines[self.top : self.top + self._height]:
            yield from line
            yield Segment.line()
        yield Text(self._footer(), "reverse", no_wrap=True, overflow="crop", end="")

    def _footer(self) -> str:
        if self._total <= self._height:
            return "q ends"
        last = min(self.top + self._height, self._total)
        return f"lines {self.top + 1}-{last} of {self._total} · {HELP}"


def watch(console: Console, view: Callable[[], RenderableType]) -> None:
    """Redraw `view` on a screen of its own until q or Ctrl-C. Errors of `view` propagate."""
    window = Window()
    with (
        suppress(KeyboardInterrupt),
        _keys() as pressed,
        Live(console=console, auto_refresh=False, screen=True) as live,
    ):
        while True:
            window.view = view()
            live.update(window, refresh=True)
            while (key := pressed(REDRAW_INTERVAL)) is not None:
                if key == QUIT:
                    return
                window.press(key)
                live.refresh()


@contextmanager
def _keys() -> Iterator[Callable[[float], int | None]]:
    """Yield a function that waits up to some seconds for a key of KEYS; None if none comes."""
    stream = sys.stdin.fileno()
    if not os.isatty(stream):
        yield lambda seconds: select.select((), (), (), seconds) and None
        return
    before = termios.tcgetattr(stream)
    tty.setcbreak(stream)

    def pressed(seconds: float) -> int | None:
        if not select.select((stream,), (), (), seconds)[0]:
            return None
        return KEYS.get(os.read(stream, 16), -1)

    try:
        yield pressed
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)
