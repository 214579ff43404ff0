"""Ctrl-C, SIGTERM and a closed terminal: the first ends everything in order, the second at once.

The first one becomes a KeyboardInterrupt in the main thread, so that every `with` takes down what it made (a run: its
cluster, and with it all faults) and what was run is judged. Whoever has no patience for that sends another: then this
process is gone as after kill -9, and the watchers of its runs clean up.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

HEEDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AT_ONCE: list[Callable[[], None]] = []


class Asked(KeyboardInterrupt):
    """A signal asked for the end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def heed() -> None:
    """From now on. What whoever started this process chose to ignore (`nohup`) stays ignored, but for SIGINT: a shell
    without job control lets what it starts in the background ignore it, and nobody means that."""
    for number in HEEDED:
        if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _first)


@contextmanager
def at_once(act: Callable[[], None]) -> Iterator[None]:
    """While the block runs, a second signal does this before it ends the process."""
    _AT_ONCE.append(act)
    try:
        yield
    finally:
        _AT_ONCE.remove(act)


def _first(number: int, frame: FrameType | None) -> None:
    for each in HEEDED:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, _second)
    if number == signal.SIGHUP:
        _without_terminal()
    raise Asked(number)


def _second(number: int, frame: FrameType | None) -> None:
    for act in _AT_ONCE:
        with suppress(OSError):
            act()
    with suppress(OSError):
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, _LAST_WORDS)
    os._exit(128 + number)


def _without_terminal() -> None:
    """What is printed from now on would fail, and cost the order of the end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        with suppress(OSError):
            os.dup2(nowhere, stream)


_LAST_WORDS = b"\nfencepost: ended at once; what is left is being cleaned up in the background\n"
