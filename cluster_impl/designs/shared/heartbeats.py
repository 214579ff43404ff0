"""The sending of a broker's heartbeats; the designs differ in the requests and in the states of a broker."""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from fencepost.cluster_impl.wire.codec import Message, R, RequestMessage

log = logging.getLogger(__name__)

RETRY_S = 0.05
"""Pause between attempts while no controller answers."""

Heartbeat = TypeVar("Heartbeat")
Reply = TypeVar("Reply", bound=Message)


@dataclass(frozen=True, slots=True)
class HeartbeatTiming:
    """Seconds. A heartbeat is given up after `timeout`, early enough for another one before the broker is fenced."""

    interval: float
    timeout: float


class PendingHeartbeat:
    """The number of the heartbeat whose response still counts: the newest one, until it is answered or given up.

    A response to an older heartbeat must not be applied after a newer one was sent: the newer one carries another epoch
    or another target state, and its response says what became of the older one.
    """

    def __init__(self) -> None:
        self._sent = 0
        self._number: int | None = None

    def next(self) -> int:
        """Return the number of a new heartbeat. The response to an earlier one counts no longer."""
        self._sent += 1
        self._number = self._sent
        return self._sent

    def is_pending(self, number: int) -> bool:
        """Return whether the response to this heartbeat still counts."""
        return number == self._number

    def give_up(self, number: int) -> None:
        """Ignore the response to this heartbeat."""
        if self.is_pending(number):
            self.clear()

    def clear(self) -> None:
        """Wait for no response."""
        self._number = None


class HeartbeatLifecycle(Protocol[Heartbeat]):
    """The state machine that decides what a heartbeat says. Times are seconds of the monotonic clock."""

    @property
    def fences_at(self) -> float | None:
        """When the broker fences itself unless a response comes before; None while it is fenced."""
        ...

    def tick(self, now: float) -> None:
        """Fence the broker if its time is over."""
        ...

    def next_heartbeat(self, now: float) -> Heartbeat | None:
        """Return the heartbeat to send at `now`, None if there is none to send."""
        ...

    def gave_up(self, heartbeat: Heartbeat) -> None:
        """Ignore a response to this heartbeat."""
        ...


class ControllerRequester(Protocol):
    """A connection to the controller."""

    async def request(self, message: RequestMessage[R], version: int, timeout: float) -> tuple[int, R]:
        """Return the id of the node that was asked, and its response. Raises ConnectionError or TimeoutError."""
        ...


class HeartbeatSender(ABC, Generic[Heartbeat, Reply]):
    """Runs a lifecycle against the controller.

    It logs each change of the broker's state, and when the controller stops or starts to answer.
    """

    def __init__(
        self, lifecycle: HeartbeatLifecycle[Heartbeat], link: ControllerRequester, timing: HeartbeatTiming
    ) -> None:
        self._lifecycle = lifecycle
        self._link = link
        self._timing = timing
        self._wake = asyncio.Event()
        self._answering: int | None = None
        """The controller that answered the last heartbeat."""
        self._fence_timer: asyncio.TimerHandle | None = None
        self._logged_state = self._state()

    @abstractmethod
    def _state(self) -> str:
        """Return the broker's state, for the log."""

    @abstractmethod
    def _request(self, heartbeat: Heartbeat) -> RequestMessage[Reply]:
        """Return the request that carries this heartbeat."""

    @abstractmethod
    def _received(self, heartbeat: Heartbeat, request: RequestMessage[Reply], sender: int, reply: Reply) -> float:
        """Apply a response, and return the pause until the next heartbeat, in seconds."""

    def _is_done(self) -> bool:
        """Return whether no further heartbeat is needed."""
        return False

    def beat_now(self) -> None:
        """Send the next heartbeat at once."""
        self._wake.set()

    async def run(self) -> None:
        """Send heartbeats until none is needed."""
        while not self._is_done():
            self._wake.clear()
            pause = await self._beat()
            if not self._is_done():
                await self._rest(pause)

    async def _beat(self) -> float:
        """Send one heartbeat and apply its response; return the pause until the next one, in seconds."""
        heartbeat = self._lifecycle.next_heartbeat(time.monotonic())
        self.log_state()
        if heartbeat is None:
            return self._timing.interval
        request = self._request(heartbeat)
        try:
            sender, reply = await self._link.request(request, 0, self._timing.timeout)
        except (ConnectionError, TimeoutError) as failure:
            self._lifecycle.gave_up(heartbeat)
            self._no_controller(str(failure))
            return RETRY_S
        return self._received(heartbeat, request, sender, reply)

    def _controller_answers(self, controller: int) -> None:
        if controller != self._answering:
            log.info("controller %d answers heartbeats", controller)
        self._answering = controller

    def _no_controller(self, why: str) -> None:
        if self._answering is not None:
            log.warning("no controller answers heartbeats: %s", why)
        self._answering = None

    async def _rest(self, pause: float) -> None:
        self._set_fence_timer()
        try:
            async with asyncio.timeout(pause):
                await self._wake.wait()
        except TimeoutError:
            pass

    def _set_fence_timer(self) -> None:
        """Log the end of the broker's time when it comes; that the broker stops serving does not depend on this."""
        self.close()
        fences_at = self._lifecycle.fences_at
        if fences_at is not None:
            delay = max(0.0, fences_at - time.monotonic())
            self._fence_timer = asyncio.get_running_loop().call_later(delay, self._tick)

    def _tick(self) -> None:
        self._lifecycle.tick(time.monotonic())
        self.log_state()

    def log_state(self) -> None:
        """Log the broker's state if it has changed since the last call."""
        state = self._state()
        if state != self._logged_state:
            log.info("this broker is %s", state)
        self._logged_state = state

    def close(self) -> None:
        """Stop the timer."""
        if self._fence_timer is not None:
            self._fence_timer.cancel()
            self._fence_timer = None
