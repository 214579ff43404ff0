"""Drives the replicas of this broker through one ZooKeeper session: many side by side, each one input at a time."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from cluster_impl.coordination.errors import SessionExpired
from cluster_impl.coordination.execution import Execution
from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent, State
from cluster_impl.replication.control_plane import (
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    TopicPartition,
)
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

AT_ONCE = 64
"""Inputs under way at a time: enough to keep ZooKeeper busy, and few enough to leave the loop to others in between."""

Input = Callable[[ReplicaAgent, float], Steps[None]]
"""Makes the steps of one input; the time is that at which it begins (seconds, monotonic)."""


@dataclass(slots=True)
class _Asked:
    make: Input
    answer: asyncio.Future[None] | None = None


@dataclass(slots=True, eq=False)
class _Hosted:
    agent: ReplicaAgent
    pending: deque[_Asked] = field(default_factory=deque)
    is_queued: bool = False
    """It waits for its turn, or has it."""
    is_change_pending: bool = False
    is_tick_pending: bool = False
    steps: Steps[None] | None = None
    due: float | None = None


class ReplicaDriver:
    """`make_agent` makes the agent of a partition when it is first asked for; one that has stopped is forgotten.

    `leads` is told of each partition that this broker begins to lead, or leads no more.
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
        self._hosted: dict[TopicPartition, _Hosted] = {}
        self._led: set[TopicPartition] = set()
        self._urgent: deque[_Hosted] = deque()
        """Their leader has changed, which waits behind nothing else (differences between V1 and V2, point 6)."""
        self._ready: OrderedDict[_Hosted, None] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._clock: list[tuple[float, int, _Hosted]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._counter = itertools.count()
        self._is_over = False

    def __iter__(self) -> Iterator[TopicPartition]:
        """Whatever is hosted."""
        return iter(self._hosted)

    @property
    def led(self) -> frozenset[TopicPartition]:
        return frozenset(self._led)

    def ask(self, partition: TopicPartition, make: Input) -> asyncio.Future[None]:
        """Have an input handled in its turn. The future raises what the steps raise, or SessionExpired."""
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._is_over:
            answer.set_exception(SessionExpired("the session is over"))
            return answer
        hosted = self._hosted.get(partition)
        if hosted is None:
            hosted = self._hosted[partition] = _Hosted(self._make_agent(partition))
        self._push(hosted, _Asked(make, answer))
        return answer

    def leader_changed(self, partition: TopicPartition) -> None:
        hosted = self._hosted.get(partition)
        if hosted is None or hosted.is_change_pending or self._is_over:
            return
        hosted.is_change_pending = True

        def change(agent: ReplicaAgent, now: float) -> Steps[None]:
            hosted.is_change_pending = False
            return agent.leader_changed(now)

        if hosted in self._ready:  # what it was asked before still comes first, and no other replica does
            del self._ready[hosted]
            self._urgent.append(hosted)
        self._push(hosted, _Asked(change))

    def tell(self, partition: TopicPartition, make: Input) -> None:
        """An input that concerns hosted replicas only, and that nobody waits for."""
        hosted = self._hosted.get(partition)
        if hosted is not None and not self._is_over:
            self._push(hosted, _Asked(make))

    async def alter_isr(self, proposal: IsrProposal) -> IsrOutcome:
        """Beside whatever is under way. Raises SessionExpired."""
        hosted = self._hosted.get(TopicPartition(proposal.topic, proposal.partition))
        if hosted is None or self._is_over:
            return IsrRefused(Error.FENCED_LEADER_EPOCH)
        try:
            return await self._execution.run(hosted.agent.alter_isr(proposal, time.monotonic()))
        finally:
            self._look_at(hosted)

    def end(self) -> None:
        """The session is over: whatever was led or followed ends now (decision DLD-16)."""
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        for hosted in self._hosted.values():
            if hosted.steps is not None:
                hosted.steps.close()
            for asked in hosted.pending:
                if asked.answer is not None and not asked.answer.done():
                    asked.answer.set_exception(SessionExpired("the session is over"))
            hosted.pending.clear()
            try:
                hosted.agent.session_lost()
            except Exception:  # the others have to end as well
                log.exception("%s: its end failed here", hosted.agent.partition)
        self._led.clear()

    # Turns

    def _push(self, hosted: _Hosted, asked: _Asked) -> None:
        hosted.pending.append(asked)
        if not hosted.is_queued:
            hosted.is_queued = True
            self._line_up(hosted)
            self._pump()

    def _line_up(self, hosted: _Hosted) -> None:
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

    async def _handle(self, hosted: _Hosted) -> None:
        asked = hosted.pending.popleft()
        failure: Exception | None = None
        try:
            hosted.steps = asked.make(hosted.agent, time.monotonic())
            await self._execution.run(hosted.steps)
        except Exception as error:
            failure = error
        except asyncio.CancelledError:
            failure = SessionExpired("the session is over")
            raise
        finally:
            hosted.steps = None
            self._answer(hosted, asked, failure)
        self._look_at(hosted)
        if hosted.pending:
            self._line_up(hosted)
            return
        hosted.is_queued = False
        if hosted.agent.state is State.STOPPED:
            self._hosted.pop(hosted.agent.partition, None)

    def _answer(self, hosted: _Hosted, asked: _Asked, failure: Exception | None) -> None:
        if asked.answer is not None and not asked.answer.done():
            if failure is None:
                asked.answer.set_result(None)
            else:
                asked.answer.set_exception(failure)
        elif failure is not None and not isinstance(failure, SessionExpired):
            log.error("%s: an input failed here", hosted.agent.partition, exc_info=failure)

    def _look_at(self, hosted: _Hosted) -> None:
        """After each input: does it lead, and when is it to be looked at again."""
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
            heapq.heappop(self._clock)  # it is due at another time by now
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
            self._push(hosted, _Asked(self._tick_of(hosted)))
        self._set_timer()

    @staticmethod
    def _tick_of(hosted: _Hosted) -> Input:
        def tick(agent: ReplicaAgent, now: float) -> Steps[None]:
            hosted.is_tick_pending = False
            return agent.tick(now)

        return tick
