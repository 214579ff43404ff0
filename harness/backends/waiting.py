"""Waiting for what was asked of the kernel to show."""

from __future__ import annotations

import time
from collections.abc import Callable


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Whether it came true in time: asked often at first, since most is done in less than a millisecond."""
    deadline = time.monotonic() + seconds
    pause = 0.0002
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 2, 0.05)
    return True
