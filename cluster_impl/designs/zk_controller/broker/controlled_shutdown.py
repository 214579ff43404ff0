"""Controlled shutdown of a broker: the controller moves its leaderships away, then the process may end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from fencepost.cluster_impl.designs.zk_controller.broker.link import ControllerLink
from fencepost.cluster_impl.replication.control_plane import NO_EPOCH
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

_VERSION = 3
_SOON = 0.1
"""Seconds between attempts while the controller changes, or while leaderships move."""


@dataclass(frozen=True, slots=True)
class ShutdownLimits:
    """The number of `retries` after the first attempt; `backoff`, and `timeout` of one attempt, in seconds."""

    retries: int
    backoff: float
    timeout: float


class ShutdownRequester:
    """Requests the shutdown of this broker. `broker_epoch` returns the epoch of this process."""

    def __init__(
        self, broker_id: int, broker_epoch: Callable[[], int], link: ControllerLink, limits: ShutdownLimits
    ) -> None:
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._link = link
        self._limits = limits

    async def run(self) -> bool:
        """Return True once this broker leads no partition that another broker could lead, False after the last attempt.

        An attempt fails if no controller answers, or if leaderships remain. During one backoff the request is repeated
        every 0.1 s, so that a change of controller, or leaderships that move one after the other, cost little time. The
        whole takes at most (retries + 1) * (timeout + backoff).
        """
        loop = asyncio.get_running_loop()
        problem = ""
        for attempt in range(self._limits.retries + 1):
            until = loop.time() + self._limits.backoff
            while True:
                problem = await self._ask()
                if not problem:
                    return True
                if loop.time() + _SOON >= until:
                    break
                await asyncio.sleep(_SOON)
            log.warning("controlled shutdown, attempt %d: %s", attempt + 1, problem)
        log.warning("this broker leaves without controlled shutdown: %s", problem)
        return False

    async def _ask(self) -> str:
        """Send one request; return the problem, or an empty string if no leadership remains."""
        epoch = self._broker_epoch()
        if epoch == NO_EPOCH:
            return "this broker is not registered, and another process may have its id"
        request = m.ControlledShutdownRequest(broker_id=self._broker_id, broker_epoch=epoch)
        try:
            sender, reply = await self._link.request(request, _VERSION, self._limits.timeout)
        except (ConnectionError, TimeoutError) as error:
            return str(error)
        if reply.error_code == Error.NOT_CONTROLLER:
            self._link.mistaken(sender)
        if reply.error_code:
            return f"broker {sender} answered {Error(reply.error_code).name}"
        left = len(reply.remaining_partitions)
        return f"{left} partitions have no other leader yet" if left else ""
