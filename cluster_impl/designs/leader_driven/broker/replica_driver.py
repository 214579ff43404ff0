"""Drives the replicas of this broker through one ZooKeeper session: many side by side, one input at a time each."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fencepost.cluster_impl.coordination.errors import SessionExpired
from fencepost.cluster_impl.coordination.execution import Execution
from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from fencepost.cluster_impl.replication.control_plane import (
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    TopicPartition,
)
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

AT_ONCE = 64
"""Inputs under way at a time: enough to keep ZooKeeper busy, few enough to leave the event loop to other tasks."""

Input = Callable[[ReplicaAgent, float], Steps[None]]
"""Returns the steps of one input, which begins at the given time (seconds, monotonic)."""


@dataclass(slots=True)
class _PendingInput:
    make: Input
    answer: asyncio.Future[None] | None = None


@dataclass(slots=True, eq=False)
class _HostedReplica:
    agent: ReplicaAgent
    pending: deque[_PendingInput] = field(default_factory=deque)
    is_queued: bool = False
    """True if the replica waits for its turn or has it."""
    is_change_pending: bool = False
    is_tick_pending: bool = False
    steps: Steps[None] | None = None
    due: float | None = None


class ReplicaDriver:
    """Hosts the agents. `make_agent` creates the agent of a partition on first use; stopped agents are forgotten.

    `leads` is called when this broker begins or ceases to lead a partition.
    """

    def __init__(
        self,
        execution: Execution,
        make_agent: Callable[[TopicPartition], ReplicaAgent],
        leads: Callable[[TopicPartition, bool], None],
    ) -> None:
        self._execution = execution
        self._make_agent = make_agent
        self._leads = leads
        self._hosted: dict[TopicPartition, _HostedReplica] = {}
        self._led: set[TopicPartition] = set()
        self._urgent: deque[_HostedReplica] = deque()
        """Replicas whose leader has changed; these go before all others (differences between V1 and V2, point 6)."""
        self._ready: OrderedDict[_HostedReplica, None] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._clock: list[tuple[float, int, _HostedReplica]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._counter = itertools.count()
        self._is_over = False

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(self._hosted)

    @property
    def led(self) -> frozenset[TopicPartition]:
        return frozenset(self._led)

    def ask(self, partition: TopicPartition, make: Input) -> asyncio.Future[None]:
        """Queue an input, creating the agent if needed; return a future for its end.

        The future raises what the steps raise, or SessionExpired.
        """
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._is_over:
            answer.set_exception(SessionExpired("the session is over"))
            return answer
        hosted = self._hosted.get(partition)
        if hosted is None:
            hosted = self._hosted[partition] = _HostedReplica(self._make_agent(partition))
        self._push(hosted, _PendingInput(make, answer))
        return answer

    def leader_changed(self, partition: TopicPartition) -> None:
        """Queue the fired watch on /leader, ahead of the inputs of other replicas."""
        hosted = self._hosted.get(partition)
        if hosted is None or hosted.is_change_pending or self._is_over:
            return
        hosted.is_change_pending = True

        def change(agent: ReplicaAgent, now: float) -> Steps[None]:
            hosted.is_change_pending = False
            return agent.leader_changed(now)

        if hosted in self._ready:  # its earlier inputs still come first, those of other replicas do not
            del self._ready[hosted]
            self._urgent.append(hosted)
        self._push(hosted, _PendingInput(change))

    def notify(self, partition: TopicPartition, make: Input) -> None:
        """Queue an input for a replica if it is hosted; no caller waits for its end."""
        hosted = self._hosted.get(partition)
        if hosted is not None and not self._is_over:
            self._push(hosted, _PendingInput(make))

    def settings_changed(self) -> None:
        """Have all replicas take over changed settings of brokers, beside other inputs."""
        if not self._is_over:
            for hosted in self._hosted.values():
                hosted.agent.settings_changed()

    async def alter_isr(self, proposal: IsrProposal) -> IsrOutcome:
        """Change the ISR beside other inputs. Raises SessionExpired."""
        hosted = self._hosted.get(TopicPartition(proposal.topic, proposal.partition))
        if hosted is None or self._is_over:
            return IsrRefused(Error.FENCED_LEADER_EPOCH)
        try:
            return await self._execution.run(hosted.agent.alter_isr(proposal, time.monotonic()))
        finally:
            self._look_at(hosted)

    def end(self) -> None:
        """End all leading and following, because the session is over (decision DLD-16)."""
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        for hosted in self._hosted.values():
            if hosted.steps is not None:
                hosted.steps.close()
            for entry in hosted.pending:
                if entry.answer is not None and not entry.answer.done():
                    entry.answer.set_exception(SessionExpired("the session is over"))
            hosted.pending.clear()
            try:
                hosted.agent.session_lost()
            except Exception:  # the other replicas have to end as well
                log.exception("%s: the replica could not be ended", hosted.agent.partition)
        self._led.clear()

    # Turns

    def _push(self, hosted: _HostedReplica, entry: _PendingInput) -> None:
        hosted.pending.append(entry)
        if not hosted.is_queued:
            hosted.is_queued = True
            self._line_up(hosted)
            self._pump()

    def _line_up(self, hosted: _HostedReplica) -> None:
        if hosted.is_change_pending:
            self._urgent.append(hosted)
        else:
            self._ready[hosted] = None

    def _pump(self) -> None:
        while not self._is_over and len(self._tasks) < AT_ONCE and (self._urgent or self._ready):
            hosted = self._urgent.popleft() if self._urgent else self._ready.popitem(last=False)[0]
            task = asyncio.create_task(self._handle(hosted))
            self._tasks.add(task)
            task.add_done_callback(self._handled)

    def _handled(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._pump()

    async def _handle(self, hosted: _HostedReplica) -> None:
        entry = hosted.pending.popleft()
        failure: Exception | None = None
        try:
            hosted.steps = entry.make(hosted.agent, time.monotonic())
            await self._execution.run(hosted.steps)
        except Exception as error:
            failure = error
        except asyncio.CancelledError:
            failure = SessionExpired("the session is over")
            raise
        finally:
            hosted.steps = None
            self._answer(hosted, entry, failure)
        self._look_at(hosted)
        if hosted.pending:
            self._line_up(hosted)
            return
        hosted.is_queued = False
        if hosted.agent.is_stopped:
            self._hosted.pop(hosted.agent.partition, None)

    def _answer(self, hosted: _HostedReplica, entry: _PendingInput, failure: Exception | None) -> None:
        if entry.answer is not None and not entry.answer.done():
            if failure is None:
                entry.answer.set_result(None)
            else:
                entry.answer.set_exception(failure)
        elif failure is not None and not isinstance(failure, SessionExpired):
            log.error("%s: an input failed", hosted.agent.partition, exc_info=failure)

    def _look_at(self, hosted: _HostedReplica) -> None:
        """Update, after each input, whether the replica leads and when its next tick is due."""
        if self._is_over:
            return
        partition = hosted.agent.partition
        if hosted.agent.leads is not (partition in self._led):
            (self._led.add if hosted.agent.leads else self._led.discard)(partition)
            self._leads(partition, hosted.agent.leads)
        due = hosted.agent.next_tick()
        if due is not None and due != hosted.due:
            heapq.heappush(self._clock, (due, next(self._counter), hosted))
        hosted.due = due
        self._set_timer()

    # Ticks

    def _set_timer(self) -> None:
        while self._clock and self._clock[0][2].due != self._clock[0][0]:
            heapq.heappop(self._clock)  # its due time has changed
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._clock:
            wait = max(0.0, self._clock[0][0] - time.monotonic())
            self._timer = asyncio.get_running_loop().call_later(wait, self._tick)

    def _tick(self) -> None:
        self._timer = None
        now = time.monotonic()
        while self._clock and self._clock[0][0] <= now:
            due, _, hosted = heapq.heappop(self._clock)
            if hosted.due != due or hosted.is_tick_pending:
                continue
            hosted.due, hosted.is_tick_pending = None, True
            self._push(hosted, _PendingInput(self._tick_of(hosted)))
        self._set_timer()

    @staticmethod
    def _tick_of(hosted: _HostedReplica) -> Input:
        def tick(agent: ReplicaAgent, now: float) -> Steps[None]:
            hosted.is_tick_pending = False
            return agent.tick(now)

        return tick
