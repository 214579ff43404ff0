"""The consoles that commands print to."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

LOG_WIDTH = 120
"""Columns of an output that is no terminal, for example a log: lines need not be cut at 80."""

UNCUT = 10_000
"""Columns for text of an output that is no terminal: nothing is cut or wrapped there."""


def counted(number: int, noun: str) -> str:
    """Return `1 scenario`, or `2 scenarios`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def width_for_text(console: Console) -> int:
    """Return the columns after which text is wrapped or cut: never where the output is no terminal."""
    return console.width if console.is_terminal else UNCUT


class _Console(Console):
    """A console that wraps no line of text into a log, so that commands and paths in it can be copied.

    It raises BrokenPipeError, where Rich would end the process with exit code 1, a violation.
    """

    def print(self, *objects: Any, soft_wrap: bool | None = None, **style: Any) -> None:
        text = all(isinstance(each, str | Text) for each in objects)
        unwrapped = text and not self.is_terminal if soft_wrap is None else soft_wrap
        super().print(*objects, soft_wrap=unwrapped, **style)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def terminal() -> Console:
    """Return a console on standard output. Colours and live displays appear only on a terminal."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return _Console(highlight=False, width=None if known else LOG_WIDTH)


def console_beside(as_json: bool) -> Console:
    """Return the console for progress: standard error if standard output carries JSON."""
    return _Console(stderr=True, highlight=False) if as_json else terminal()
