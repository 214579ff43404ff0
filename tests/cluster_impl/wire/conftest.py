"""Runs coroutines of tests on both event loops that a node may use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

Run = Callable[[Coroutine[Any, Any, None]], None]

DEADLINE_SECONDS = 60


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop

    def run_with_deadline(test: Coroutine[Any, Any, None]) -> None:
        async def limited() -> None:
            async with asyncio.timeout(DEADLINE_SECONDS):
                await test

        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(limited())

    return run_with_deadline


async def until(condition: Callable[[], bool]) -> None:
    """Lets the loop run until something has happened that nobody announces; the deadline is that of `run`."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.001)
