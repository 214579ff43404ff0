"""Poll a condition until it holds."""

from __future__ import annotations

import time
from collections.abc import Callable


def within(seconds: float, condition: Callable[[], bool], longest_pause: float = 0.05) -> bool:
    """Return True as soon as `condition` holds, and False when it did not hold within `seconds`.

    The pauses begin at 0.2 ms, since most of what is waited for takes less than a millisecond, and double up to
    `longest_pause` seconds. The condition is checked at least once.
    """
    deadline = time.monotonic() + seconds
    pause = 0.0002
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(min(pause, longest_pause))
        pause = min(pause * 2, longest_pause)
    return True
