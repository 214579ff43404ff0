"""Processes that end in order when they are interrupted, or when whoever started them is gone."""

from __future__ import annotations

import ctypes
import signal

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def heed_interrupts() -> None:
    """For `preexec_fn`: SIGINT ends the process, and the kernel sends it when its parent is killed.

    A shell without job control lets what it starts in the background ignore SIGINT, and all below inherit that. The
    kernel means the thread that started it: that has to be one that lives as long as its process.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
