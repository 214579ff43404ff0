"""The cost of hostile input that a node may have. The allocator does not give all memory back at once."""

from __future__ import annotations

import time

from tests.fuzz.storm import Cost

MEMORY = 64_000_000
"""Bytes by which a process may have grown."""
FILES = 8
"""Open files beyond those before: connections between nodes come and go."""
IDLE_BYTES = 150_000
"""Bytes for each connection that says nothing: a buffer of 64 KiB, and the sockets' objects."""
SLOW_BYTES = 64_000_000
"""Bytes for a client that reads no answer."""
RETURN_S = 30.0


def files_come_back(pid: int, before: int) -> bool:
    """Wait until the process has as many open files as before, but for a few; False if it does not come to that."""
    deadline = time.monotonic() + RETURN_S
    while Cost.of(pid).files > before + FILES:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
