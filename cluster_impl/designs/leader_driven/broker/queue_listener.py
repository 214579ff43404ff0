"""Takes state change requests from this broker's queue and has its replicas carry them out ("On State change")."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from fencepost.cluster_impl.coordination.execution import Execution
from fencepost.cluster_impl.coordination.steps import Create, Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.broker.replica_driver import ReplicaDriver
from fencepost.cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from fencepost.cluster_impl.designs.leader_driven.state_changes.handling import carry_out, drop
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.leader_driven.state_changes.queue import read_waiting
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import QueuedRequest

log = logging.getLogger(__name__)


def make_queue(broker_id: int) -> Steps[None]:
    """ "create /brokers/state/[broker_id] path if it doesn't already exist" """
    yield [Create(znodes.state(broker_id), znodes.write_queue(znodes.QueueZnode()))]


class QueueListener:
    """Listens during one session. Requests of one replica run in queue order, those of different replicas side by side.

    `look_again` is called after requests to start replicas were dropped from a full queue: the broker must then read
    its assignment (decision DLD-14).
    """

    def __init__(
        self,
        execution: Execution,
        replicas: ReplicaDriver,
        monitor: StateChangeMonitor,
        look_again: Callable[[], Awaitable[None]],
    ) -> None:
        self._execution = execution
        self._replicas = replicas
        self._monitor = monitor
        self._look_again = look_again
        self._under_way: dict[str, asyncio.Future[None]] = {}
        """Requests being carried out, by the name of their znode."""
        self._shrunk: int | None = None
        self._fired = asyncio.Event()

    @property
    def length(self) -> int:
        """The number of requests that are taken and not yet carried out."""
        return len(self._under_way)

    def changed(self) -> None:
        """Handle a fired watch on the queue."""
        self._fired.set()

    async def drain(self) -> None:
        """Carry out requests until the queue is empty, and listen from the first read on. Raises SessionExpired."""
        while await self._take():
            await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def run(self) -> None:
        """Carry out new requests until the session is over. Raises SessionExpired."""
        while True:
            await self._fired.wait()
            shrunk = self._shrunk
            await self._take()
            if self._shrunk != shrunk:
                log.warning("requests to start replicas were dropped from the queue: the assignment is read again")
                await self.drain()
                await self._look_again()

    async def _take(self) -> int:
        """Begin all new requests; return their number."""
        self._fired.clear()
        me = self._monitor.broker_id
        waiting = await self._execution.run(read_waiting(me, self._under_way, watch=True))
        self._shrunk = waiting.shrunk
        for queued in waiting.requests:
            self._begin(queued)
        return len(waiting.requests)

    def _begin(self, queued: QueuedRequest) -> None:
        answer: asyncio.Future[None]
        if queued.request is None:
            answer = asyncio.ensure_future(self._execution.run(drop(queued, self._monitor)))
        else:

            def steps(agent: ReplicaAgent, now: float) -> Steps[None]:
                return carry_out(queued, agent, self._monitor, now)

            answer = self._replicas.ask(queued.request.partition, steps)
        self._under_way[queued.name] = answer
        answer.add_done_callback(lambda done: self._ended(queued, done))

    def _ended(self, queued: QueuedRequest, done: asyncio.Future[None]) -> None:
        """Forget the request. A failed one stays in the queue, and is begun again at its next change or after a
        restart."""
        self._under_way.pop(queued.name, None)
        if not done.cancelled() and (error := done.exception()) is not None:
            log.error("the state change request %s was not carried out: %r", queued.path, error)
