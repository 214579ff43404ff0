"""Make the tests independent of how they were started: their child processes react to the signals that they send."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import signal
from collections.abc import Callable, Coroutine, Generator
from typing import Any

import pytest
from hypothesis import settings

# A slow machine is no counterexample. A change is judged by the same examples each time; each night has new ones.
settings.register_profile("fencepost", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=1000)
settings.load_profile("nightly" if "FENCEPOST_TEST_RANDOM" in os.environ else "fencepost")


def pytest_configure() -> None:
    """Restore signals that `nohup`, or a shell without job control, makes all child processes ignore."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Let no test know the target files and catalogues that another test has named."""
    names = ("FENCEPOST_TARGETS", "FENCEPOST_CATALOGUES")
    before = {name: os.environ[name] for name in names if name in os.environ}
    try:
        return (yield)
    finally:
        for name in names:
            os.environ.pop(name, None)
        os.environ.update(before)


ASYNC_SECONDS = 60
"""The time limit of each test that is a coroutine: a condition that never comes true ends the test, not the run."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            item.obj = _limited(item.obj)


def _limited(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., Coroutine[Any, Any, None]]:
    @functools.wraps(test)
    async def limited(*arguments: Any, **named: Any) -> None:
        async with asyncio.timeout(ASYNC_SECONDS):
            await test(*arguments, **named)

    return limited
