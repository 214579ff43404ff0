"""Sends a broker's heartbeats, one at a time, and tells what became of its lease."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cluster_impl.config_values import Listener
from cluster_impl.designs.quorum.broker.finder import ControllerFinder
from cluster_impl.designs.quorum.broker.lifecycle import Answer, Heartbeat, Lifecycle, Loss
from cluster_impl.designs.quorum.broker.link import ControllerLink
from cluster_impl.designs.quorum.image import NO_EPOCH
from cluster_impl.designs.quorum.states import BrokerState
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import signed16
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

RETRY = 0.05
"""Seconds between attempts while nobody answers as the active controller."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds. A heartbeat is given up after `timeout`, early enough for another one within the same lease."""

    interval: float
    timeout: float


class Heartbeats:
    """Runs a `Lifecycle` against the active controller.

    `reached` gives the metadata offset reached so far; `on_epoch` is called as soon as an epoch was granted, before the
    next heartbeat can say that the broker has caught up.
    """

    def __init__(
        self,
        broker_id: int,
        advertised: Sequence[Listener],
        lifecycle: Lifecycle,
        link: ControllerLink,
        finder: ControllerFinder,
        pace: Pace,
        reached: Callable[[], int],
        on_epoch: Callable[[], None],
    ) -> None:
        self._broker_id = broker_id
        self._listeners = [
            m.BrokerHeartbeatRequest.Listener(name=at.name, host=at.host, port=signed16(at.port)) for at in advertised
        ]
        self._lifecycle = lifecycle
        self._link = link
        self._finder = finder
        self._pace = pace
        self._reached = reached
        self._on_epoch = on_epoch
        self._wake = asyncio.Event()
        self._heard: int | None = None
        """The controller that answered the last heartbeat as the active one."""
        self._lease_timer: asyncio.TimerHandle | None = None
        self._told: tuple[BrokerState, int, Loss | None] = (lifecycle.state, lifecycle.epoch, lifecycle.loss)

    def metadata_advanced(self) -> None:
        """Beat at once if that is what the broker waited for to become active."""
        lifecycle = self._lifecycle
        if lifecycle.state is BrokerState.FENCED and lifecycle.loss is None and self._reached() >= lifecycle.epoch:
            self._wake.set()

    def stop(self) -> None:
        """Ask for a controlled shutdown; `run` returns when it was granted, or cannot be had."""
        self._lifecycle.stop()
        self._wake.set()

    async def run(self) -> None:
        """Beat until the broker has shut down."""
        while not self._lifecycle.stopped:
            self._wake.clear()
            pause = await self._beat()
            if not self._lifecycle.stopped:
                await self._rest(pause)

    async def _beat(self) -> float:
        """Send one heartbeat and take in its answer; the pause until the next one, in seconds."""
        heartbeat = self._lifecycle.next_heartbeat(time.monotonic())
        self._tell()
        request = self._request(heartbeat)
        try:
            asked, reply = await self._link.request(request, 0, self._pace.timeout)
        except (ConnectionError, TimeoutError) as failure:
            self._lifecycle.gave_up(heartbeat)
            self._hear(None, str(failure))
            return RETRY
        lease = (reply.lease_end_time_ms - request.lease_start_time_ms) / 1000
        answer = Answer(Error(reply.error_code), BrokerState(reply.next_state), reply.broker_epoch, lease)
        before = self._lifecycle.epoch
        self._lifecycle.answered(heartbeat, answer, time.monotonic())
        self._tell()
        if answer.error is Error.NOT_CONTROLLER:
            self._finder.failed(asked)
            self._finder.learned(reply.active_controller_id)
            self._hear(None, f"controller {asked} is not active")
            return RETRY
        self._hear(asked)
        if answer.error not in (Error.NONE, Error.STALE_BROKER_EPOCH):
            log.warning("the active controller, %d, refuses this broker: %s", asked, answer.error.name)
        self._finder.learned(asked)
        if self._lifecycle.epoch != before:
            self._on_epoch()
        self.metadata_advanced()
        return self._pause_after(answer)

    def _hear(self, active: int | None, why: str = "") -> None:
        """One log line when the active controller falls silent, and when one is heard again."""
        if active == self._heard:
            return
        if active is not None:
            log.info("controller %d answers heartbeats", active)
        else:
            log.warning("no controller answers heartbeats: %s", why)
        self._heard = active

    def _pause_after(self, answer: Answer) -> float:
        """What was revoked is asked for again soon, and so is a shutdown whose leaders are on the move."""
        lifecycle = self._lifecycle
        soon = lifecycle.loss in (Loss.REVOKED, Loss.RAN_OUT) or lifecycle.stopping
        return min(RETRY, self._pace.interval) if soon and answer.error is Error.NONE else self._pace.interval

    async def _rest(self, pause: float) -> None:
        self._watch_lease()
        try:
            async with asyncio.timeout(pause):
                await self._wake.wait()
        except TimeoutError:
            pass

    def _watch_lease(self) -> None:
        """Have the end of the lease noticed and logged when it comes; `serving` does not depend on this."""
        if self._lease_timer is not None:
            self._lease_timer.cancel()
            self._lease_timer = None
        ends_at = self._lifecycle.lease_ends_at
        if ends_at is not None:
            delay = max(0.0, ends_at - time.monotonic())
            self._lease_timer = asyncio.get_running_loop().call_later(delay, self._lease_may_be_over)

    def _lease_may_be_over(self) -> None:
        self._lifecycle.tick(time.monotonic())
        self._tell()

    def _request(self, heartbeat: Heartbeat) -> m.BrokerHeartbeatRequest:
        return m.BrokerHeartbeatRequest(
            target_state=heartbeat.target_state,
            broker_id=self._broker_id,
            broker_epoch=heartbeat.broker_epoch,
            lease_start_time_ms=time.time_ns() // 1_000_000,
            cur_metadata_offset=self._reached(),
            listeners=self._listeners,
        )

    def _tell(self) -> None:
        """One log line for each change of state."""
        lifecycle = self._lifecycle
        now = (lifecycle.state, lifecycle.epoch, lifecycle.loss)
        if now == self._told:
            return
        self._told = now
        epoch = "no epoch" if lifecycle.epoch == NO_EPOCH else f"epoch {lifecycle.epoch}"
        why = "" if lifecycle.loss is None else f": {lifecycle.loss.value}"
        log.info("this broker is %s with %s%s", lifecycle.state.name, epoch, why)

    def close(self) -> None:
        if self._lease_timer is not None:
            self._lease_timer.cancel()
