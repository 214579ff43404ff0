"""How a broker leaves: it asks the controller to move its leaderships away (ControlledShutdown), then it may end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from cluster_impl.designs.zk_controller.broker.link import ControllerLink
from cluster_impl.replication.control_plane import NO_EPOCH
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

_VERSION = 3
_SOON = 0.1
"""Seconds before asking again who is the controller, or whether the last leaderships have moved."""


@dataclass(frozen=True, slots=True)
class Patience:
    """`retries` after the first attempt, `backoff` and `timeout` (of one attempt) in seconds."""

    retries: int
    backoff: float
    timeout: float


class ControlledShutdown:
    """`broker_epoch` gives this process's own."""

    def __init__(
        self, broker_id: int, broker_epoch: Callable[[], int], link: ControllerLink, patience: Patience
    ) -> None:
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._link = link
        self._patience = patience

    async def run(self) -> bool:
        """True once this broker leads nothing that another could lead; False if that cannot be had in time.

        An attempt fails when nobody answers as the controller, or when leaderships remain; that is tried again soon
        within the time of one backoff, so that a controller that moves, or leaderships that move one after the other,
        cost little. The whole takes at most (retries + 1) * (timeout + backoff).
        """
        loop = asyncio.get_running_loop()
        problem = ""
        for attempt in range(self._patience.retries + 1):
            until = loop.time() + self._patience.backoff
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
        """What is in the way; empty if nothing is."""
        epoch = self._broker_epoch()
        if epoch == NO_EPOCH:
            return "this broker is not registered, and its id may be another process's"
        request = m.ControlledShutdownRequest(broker_id=self._broker_id, broker_epoch=epoch)
        try:
            asked, reply = await self._link.request(request, _VERSION, self._patience.timeout)
        except (ConnectionError, TimeoutError) as error:
            return str(error)
        if reply.error_code == Error.NOT_CONTROLLER:
            self._link.mistaken(asked)
        if reply.error_code:
            return f"broker {asked} answered {Error(reply.error_code).name}"
        left = len(reply.remaining_partitions)
        return f"{left} partitions still have nobody else to lead them" if left else ""
