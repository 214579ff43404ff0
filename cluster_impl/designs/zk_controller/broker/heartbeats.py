"""Sends a broker's heartbeats (KIP-343), one at a time, and tells what became of them."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass

from cluster_impl.designs.zk_controller.broker.lifecycle import Fence, Heartbeat, Lifecycle
from cluster_impl.designs.zk_controller.broker.link import ControllerLink
from cluster_impl.designs.zk_controller.states import BrokerState
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

RETRY = 0.05
"""Seconds between attempts while nobody answers as the controller."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds. A heartbeat is given up after `timeout`, early enough for another one in time."""

    interval: float
    timeout: float


class Heartbeats:
    """Runs a `Lifecycle` against the controller, whichever broker that is at the moment."""

    def __init__(self, broker_id: int, lifecycle: Lifecycle, link: ControllerLink, pace: Pace) -> None:
        self._broker_id = broker_id
        self._lifecycle = lifecycle
        self._link = link
        self._pace = pace
        self._wake = asyncio.Event()
        self._heard: int | None = None
        """The controller that answered the last heartbeat."""
        self._fence_timer: asyncio.TimerHandle | None = None
        self._told: tuple[BrokerState, int, Fence | None] = (lifecycle.state, lifecycle.incarnation, lifecycle.fence)

    def beat_now(self) -> None:
        """Send the next one at once: this broker is another incarnation, wants another state, or another broker is the
        controller."""
        self._wake.set()

    async def run(self) -> None:
        """For ever."""
        while True:
            self._wake.clear()
            pause = await self._beat()
            self._watch_fence()
            try:
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def _beat(self) -> float:
        """Send one heartbeat and take in its answer; the pause until the next one, in seconds."""
        heartbeat = self._lifecycle.next_heartbeat(time.monotonic())
        self.tell()
        if heartbeat is None:
            return self._pace.interval
        try:
            asked, reply = await self._link.request(self._request(heartbeat), 0, self._pace.timeout)
        except (ConnectionError, TimeoutError) as failure:
            self._lifecycle.gave_up(heartbeat)
            self._hear(None, str(failure))
            return RETRY
        error = Error(reply.error_code)
        self._lifecycle.answered(heartbeat, error, BrokerState(reply.current_state), time.monotonic())
        self.tell()
        if error is Error.NOT_CONTROLLER:
            self._link.mistaken(asked)
            self._hear(None, f"broker {asked} is not the controller")
            return RETRY
        self._hear(asked)
        if error is Error.INVALID_INCARNATION_ID and self._lifecycle.state is BrokerState.INITIAL:
            return RETRY  # the controller has not seen the znode yet
        if error not in (Error.NONE, Error.INVALID_INCARNATION_ID):
            log.warning("the controller, broker %d, refuses a heartbeat: %s", asked, reply.error_string or error.name)
        return self._pace.interval

    def _request(self, heartbeat: Heartbeat) -> m.MetadataHeartbeatRequest:
        return m.MetadataHeartbeatRequest(
            broker_id=self._broker_id, incarnation_id=heartbeat.incarnation, target_state=heartbeat.target_state
        )

    def _hear(self, controller: int | None, why: str = "") -> None:
        """One log line when the controller falls silent, and when one is heard again."""
        if controller == self._heard:
            return
        if controller is not None:
            log.info("the controller, broker %d, answers heartbeats", controller)
        else:
            log.warning("no controller answers heartbeats: %s", why)
        self._heard = controller

    def _watch_fence(self) -> None:
        """Have self-fencing noticed and logged when it comes; `serving` does not depend on this."""
        if self._fence_timer is not None:
            self._fence_timer.cancel()
            self._fence_timer = None
        fences_at = self._lifecycle.fences_at
        if fences_at is not None:
            delay = max(0.0, fences_at - time.monotonic())
            self._fence_timer = asyncio.get_running_loop().call_later(delay, self._may_be_fenced)

    def _may_be_fenced(self) -> None:
        self._lifecycle.tick(time.monotonic())
        self.tell()

    def tell(self) -> None:
        """One log line for each change of state."""
        lifecycle = self._lifecycle
        now = (lifecycle.state, lifecycle.incarnation, lifecycle.fence)
        if now == self._told:
            return
        self._told = now
        fenced = "" if lifecycle.fence is None else f" and fenced: {lifecycle.fence.value}"
        log.info("this broker is %s as incarnation %d%s", lifecycle.state.name, lifecycle.incarnation, fenced)

    def close(self) -> None:
        if self._fence_timer is not None:
            self._fence_timer.cancel()
