"""Ctrl-C, SIGTERM and a closed terminal: the first ends everything in order, the second at once.

The first signal becomes a KeyboardInterrupt in the main thread, so that every `with` takes down what it made (a run
takes down its cluster and all faults) and the run is judged. After a second signal this process is gone as after
kill -9, and the watchers of its runs clean up.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from fencepost.harness.cli.closed_output import outlive_readers

HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AT_ONCE: list[Callable[[], None]] = []


class EndRequest(KeyboardInterrupt):
    """A signal that asks this process to end. `exit_code` is 128 plus its number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def install_handlers() -> None:
    """Handle SIGINT, SIGTERM and SIGHUP from now on.

    A signal that the parent process set to be ignored (`nohup`) stays ignored, except SIGINT: a shell without job
    control sets it to be ignored for each background process, without being asked to.
    """
    for number in HANDLED:
        if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _first)


@contextmanager
def at_once(act: Callable[[], None]) -> Iterator[None]:
    """Call `act` on a second signal while the block runs, before the process ends."""
    _AT_ONCE.append(act)
    try:
        yield
    finally:
        _AT_ONCE.remove(act)


def _first(number: int, frame: FrameType | None) -> None:
    for each in HANDLED:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, _second)
    if number == signal.SIGHUP:
        _without_terminal()
    outlive_readers()
    raise EndRequest(number)


def _second(number: int, frame: FrameType | None) -> None:
    for act in _AT_ONCE:
        with suppress(OSError):
            act()
    with suppress(OSError):
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, _LAST_WORDS)
    os._exit(128 + number)


def _without_terminal() -> None:
    """Send all output to /dev/null: writing to a closed terminal would fail and disturb the cleanup."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        with suppress(OSError):
            os.dup2(nowhere, stream)


_LAST_WORDS = b"\nfencepost: ended at once; what is left is being cleaned up in the background\n"
