"""The core on an event loop: its inputs, its timer, the tasks that its effects begin, and the failure that ends it."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.core import NotLeader, RaftCore, VoterChangeRefused

log = logging.getLogger(__name__)

_RESIGN_TIMEOUT_S = 0.2
"""Seconds to wait, when the node stops, until the peers have received its resignation."""

Input = Callable[[RaftCore, float], list[fx.Effect]]
"""A method of the core; its last argument is the time."""


class CoreDriver:
    """Gives the core one input after the other, with the time, and has its effects performed in their order.

    `perform` performs an effect, or begins to. `ended` is called when a failure has ended the core.
    """

    def __init__(self, node_id: int, perform: Callable[[fx.Effect], None], ended: Callable[[], None]) -> None:
        self.core: RaftCore | None = None
        """None before the start, and after a failure or the end."""
        self._node_id = node_id
        self._perform = perform
        self._ended = ended
        self._effects: deque[fx.Effect] = deque()
        self._performing = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = float("inf")
        self._failure: asyncio.Future[None] | None = None

    @property
    def started(self) -> bool:
        return self._failure is not None

    @property
    def running(self) -> RaftCore:
        """The core. Raises NotLeader if it does not run."""
        if self.core is None:
            raise NotLeader(f"controller {self._node_id} is not running")
        return self.core

    def start(self, core: RaftCore) -> None:
        """Take the core. The first input begins its work."""
        self._failure = asyncio.get_running_loop().create_future()
        self.core = core

    def input(self, step: Input) -> None:
        """Give the core an input and perform the effects. Effects of inputs that a listener adds meanwhile come
        after."""
        if self.core is None:
            return
        try:
            self._effects.extend(step(self.core, time.monotonic()))
            if not self._performing:
                self._performing = True
                try:
                    while self._effects:
                        self._perform(self._effects.popleft())
                finally:
                    self._performing = False
                self._set_timer()
        except (NotLeader, VoterChangeRefused):
            raise
        except Exception as error:
            self.fail(error)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin what takes longer than an effect may."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def fail(self, error: Exception) -> None:
        """Stop after a failure between decision and disk, because going on could break a promise to other voters."""
        assert self._failure is not None
        if self._failure.done():
            return
        log.critical("this controller stops: %s", error)
        self.core = None
        self._failure.set_exception(error)
        self._failure.exception()  # marks the exception as retrieved, also if no caller awaits `failed`
        self._effects.clear()
        self._ended()

    async def failed(self) -> None:
        """Wait for ever, or raise the failure that ended the core."""
        assert self._failure is not None
        await asyncio.shield(self._failure)

    async def close(self) -> None:
        """Resign, let the peers hear of it, and end all tasks."""
        before = set(self._tasks)
        self.input(RaftCore.resign)
        self.core = None
        if self._timer is not None:
            self._timer.cancel()
        if notices := self._tasks - before:
            await asyncio.wait(notices, timeout=_RESIGN_TIMEOUT_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _set_timer(self) -> None:
        """Keep one timer, no later than the core's deadline; an early tick does no harm."""
        if self.core is None:
            return
        deadline = self.core.deadline()
        if self._timer is not None and self._timer_at <= deadline:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        delay = max(0.001, deadline - time.monotonic())
        self._timer = asyncio.get_running_loop().call_later(delay, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self.input(RaftCore.tick)
