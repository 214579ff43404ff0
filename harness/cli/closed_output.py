"""Standard output and standard error after their readers have gone.

Ctrl-C ends each process of a pipeline, so `fencepost up | tee up.log` loses its reader while it ends its cluster. The
rest of its output then goes to standard error, or nowhere, and disturbs neither the cleanup nor the exit code.
"""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO, cast

STDOUT, STDERR = 1, 2


class SteadyOutput:
    """A text stream that goes on elsewhere when its pipe is closed; `fallbacks` are descriptors, tried in order."""

    def __init__(self, stream: TextIO, fallbacks: list[int]) -> None:
        self._stream = stream
        self._fallbacks = fallbacks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            written = self._stream.write(text)
        except BrokenPipeError:  # a stream without a buffer has dropped the text
            self._move_on()
            return self.write(text)
        self.flush()
        return written

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:  # a stream with a buffer has kept the text, which comes out at the fallback
            self._move_on()
            self.flush()

    def _move_on(self) -> None:
        os.dup2(self._fallbacks.pop(0), self._stream.fileno())


def outlive_readers() -> None:
    """From now on, a closed pipe at standard output or standard error is no error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    sys.stdout = cast("TextIO", SteadyOutput(sys.stdout, [STDERR, nowhere]))
    sys.stderr = cast("TextIO", SteadyOutput(sys.stderr, [nowhere]))


def give_up_output() -> None:
    """Send the rest of standard output nowhere, so that the interpreter can flush it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
