"""End a process in order when it is interrupted, or when its parent dies."""

from __future__ import annotations

import ctypes
import signal

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def end_on_interrupt() -> None:
    """Let SIGINT end this process, and let the kernel send it when the parent dies; for `preexec_fn`.

    A shell without job control lets what it starts in the background ignore SIGINT, and all below inherit that. The
    kernel watches the thread that started it, which must live as long as its process.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
