"""Calls into client libraries that may never return: each has a name, and each wait for one has a deadline.

Nothing ends a thread that is inside such a call. So it runs in a thread of its own, which ends with the process, and
the one that waits gives it up at a deadline and says which call has not returned.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from math import inf
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from fencepost.harness.errors import CallHangs

T = TypeVar("T")

MARGIN_SECONDS = 15.0
"""Seconds for what takes milliseconds on a machine at rest, such as closing a client that is not in a group."""

_UNDER_WAY: dict[int, tuple[str, float]] = {}
"""By thread, the call that it is in, and the monotonic time of its begin."""
_WAITING: dict[int, int] = {}
"""By thread, the thread of the activity that it waits for."""


def named(client: T, name: str) -> T:
    """Return the client, with each call of its methods known by its name: `Consumer.close() of c1`."""
    return cast("T", _NamedClient(client, name))


class _NamedClient:
    def __init__(self, client: object, name: str) -> None:
        self._client = client
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(self._client, attribute)
        if not callable(value):
            return value
        known = self.__dict__[attribute] = self._known(value, attribute)  # found there the next time: clients poll
        return known

    def _known(self, method: Callable[..., Any], attribute: str) -> Callable[..., Any]:
        call = f"{type(self._client).__name__}.{attribute}() of {self._name}"

        def known(*arguments: Any, **more: Any) -> Any:
            thread = threading.get_ident()
            outer = _UNDER_WAY.get(thread)  # the library may call back from inside a call
            _UNDER_WAY[thread] = call, time.monotonic()
            try:
                return method(*arguments, **more)
            finally:
                if outer is None:
                    del _UNDER_WAY[thread]
                else:
                    _UNDER_WAY[thread] = outer

        return known


class Activity(Generic[T]):
    """Work in a thread of its own. `name` says what it is, for an error: `the client c1`."""

    def __init__(self, name: str, work: Callable[[], T]) -> None:
        self.name = name
        self._began = time.monotonic()
        self._result: Future[T] = Future()
        self._thread = threading.Thread(target=self._run, args=(work,), name=name, daemon=True)
        self._thread.start()

    def result(self, deadline: float) -> T:
        """Return what the work returned, or raise what it raised. Raise CallHangs at the monotonic `deadline`."""
        thread, waiter = self._thread.ident or 0, threading.get_ident()
        _WAITING[waiter] = thread
        try:
            return self._result.result(max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            if self._result.done():  # the work's own error
                raise
        finally:
            del _WAITING[waiter]
        call, since = whereabouts(thread)
        seconds = time.monotonic() - max(since, self._began)
        raise CallHangs(f"{self.name} did not end: {call} has not returned for {seconds:.1f} s", seconds)

    def _run(self, work: Callable[[], T]) -> None:
        try:
            self._result.set_result(work())
        except BaseException as error:
            self._result.set_exception(error)


def whereabouts(thread: int) -> tuple[str, float]:
    """Return the call that a thread is in or waits for, and the monotonic time of its begin, `-inf` if unknown."""
    while thread in _WAITING:
        thread = _WAITING[thread]
    return _UNDER_WAY.get(thread) or (_place(thread), -inf)


def _place(thread: int) -> str:
    """Return the function that a thread is in, outside the standard library."""
    frame = sys._current_frames().get(thread)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in sys.stdlib_module_names:
        frame = frame.f_back
    if frame is None:
        return "its thread"
    return f"{frame.f_code.co_name} ({Path(frame.f_code.co_filename).name}:{frame.f_lineno})"


def in_time(name: str, seconds: float, work: Callable[[], T]) -> T:
    """Return what `work` returns, made in a thread of its own. Raise CallHangs after so many seconds."""
    return Activity(name, work).result(time.monotonic() + seconds)
