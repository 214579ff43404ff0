"""Takes state change requests out of this broker's queue and has its replicas carry them out ("On State change")."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from cluster_impl.coordination.execution import Execution
from cluster_impl.coordination.steps import Create, Steps
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.broker.replica_driver import ReplicaDriver
from cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from cluster_impl.designs.leader_driven.state_changes.handling import carry_out, drop
from cluster_impl.designs.leader_driven.state_changes.monitor import Monitor
from cluster_impl.designs.leader_driven.state_changes.queue import read_waiting
from cluster_impl.designs.leader_driven.state_changes.request import Queued

log = logging.getLogger(__name__)


def make_queue(broker_id: int) -> Steps[None]:
    """ "create /brokers/state/[broker_id] path if it doesn't already exist" """
    yield [Create(znodes.state(broker_id), znodes.write_queue(znodes.QueueInfo()))]


class QueueListener:
    """Of one session. Requests of one replica are carried out in the order of the queue, those of others beside them.

    `look_again` is called when requests to start replicas were dropped from the queue since it was full, so that what
    they were about has to be found out in another way (decision DLD-14).
    """

    def __init__(
        self,
        execution: Execution,
        replicas: ReplicaDriver,
        monitor: Monitor,
        look_again: Callable[[], Awaitable[None]],
    ) -> None:
        self._execution = execution
        self._replicas = replicas
        self._monitor = monitor
        self._look_again = look_again
        self._under_way: dict[str, asyncio.Future[None]] = {}
        """By the name of the request's znode."""
        self._shrunk: int | None = None
        self._fired = asyncio.Event()

    @property
    def length(self) -> int:
        """Requests that were taken and are not carried out yet."""
        return len(self._under_way)

    def changed(self) -> None:
        """The watch on the queue was told."""
        self._fired.set()

    async def drain(self) -> None:
        """Returns when the queue was seen empty; from the first read on it is listened to. Raises SessionExpired."""
        while await self._take():
            await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def run(self) -> None:
        """Until the session is over: raises SessionExpired."""
        while True:
            await self._fired.wait()
            shrunk = self._shrunk
            await self._take()
            if self._shrunk != shrunk:
                log.warning("requests to start replicas were dropped from the queue: the assignment is read again")
                await self.drain()
                await self._look_again()

    async def _take(self) -> int:
        """Have everything that is new carried out; how much that is."""
        self._fired.clear()
        me = self._monitor.broker_id
        waiting = await self._execution.run(read_waiting(me, self._under_way, watch=True))
        self._shrunk = waiting.shrunk
        for queued in waiting.requests:
            self._begin(queued)
        return len(waiting.requests)

    def _begin(self, queued: Queued) -> None:
        answer: asyncio.Future[None]
        if queued.request is None:
            answer = asyncio.ensure_future(self._execution.run(drop(queued, self._monitor)))
        else:

            def steps(agent: ReplicaAgent, now: float) -> Steps[None]:
                return carry_out(queued, agent, self._monitor, now)

            answer = self._replicas.ask(queued.request.partition, steps)
        self._under_way[queued.name] = answer
        answer.add_done_callback(lambda done: self._ended(queued, done))

    def _ended(self, queued: Queued, done: asyncio.Future[None]) -> None:
        """What failed here stays in the queue, and is begun again when that changes, or after a restart."""
        self._under_way.pop(queued.name, None)
        if not done.cancelled() and (error := done.exception()) is not None:
            log.error("the state change request %s was not carried out: %r", queued.path, error)
