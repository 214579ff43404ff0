"""Wait in tests for a condition that no event announces; fail with what was waited for when it does not come true."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

SECONDS = 30.0


def eventually(condition: Callable[[], object], what: str = "the condition", within: float = SECONDS) -> None:
    """Poll until the condition is true. Raises AssertionError after `within` seconds."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, f"not within {within:g} s: {what}"
        time.sleep(0.005)


async def until(condition: Callable[[], object], what: str = "the condition", within: float = SECONDS) -> None:
    """Let the event loop run until the condition is true. Raises AssertionError after `within` seconds."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, f"not within {within:g} s: {what}"
        await asyncio.sleep(0.002)
