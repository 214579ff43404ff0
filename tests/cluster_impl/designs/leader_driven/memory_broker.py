"""A broker in memory: its agents, the listeners that drive them, and its start-up, one operation at a time.

It stands in for the driver of the real broker, in the order of the document: claim, queue, drain, replicas, and only
then the registration.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from fencepost.cluster_impl.coordination.steps import (
    Create,
    Done,
    Found,
    Get,
    NodeExists,
    Operation,
    Outcome,
    Steps,
    names,
    run,
)
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.broker.assigned_replicas import read_assigned_replicas
from fencepost.cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from fencepost.cluster_impl.designs.leader_driven.partition.replica_context import ReplicaContext
from fencepost.cluster_impl.designs.leader_driven.partition.states import Leading
from fencepost.cluster_impl.designs.leader_driven.state_changes.handling import NotStarted, carry_out, drop
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.leader_driven.state_changes.queue import read_waiting
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import QueuedRequest, StateChangeRequest
from fencepost.cluster_impl.replication.control_plane import IsrProposal, PartitionRemoved, TopicPartition
from tests.cluster_impl.designs.leader_driven.memory_data_plane import Disk, MemoryDataPlane

if TYPE_CHECKING:
    from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster

T = TypeVar("T")
Until = Callable[[], bool]
Work = Generator[Sequence[Operation] | Until, Any, T]
"""The steps of a task, or a condition to wait for."""


class SessionOver(Exception):
    """The operation was not executed, and no later one of the same session will be."""


class Task:
    """Work[None] under way in one session."""

    def __init__(self, work: Work[None], ended: Callable[[], None] = lambda: None) -> None:
        self._work = work
        self._ended = ended
        self._operations: deque[Operation] = deque()
        self._outcomes: list[Outcome] = []
        self._until: Until | None = None
        self.is_over = False
        self.stalled_until = 0.0
        """The time before which no random step runs the task."""
        self._resume(None)

    @property
    def is_ready(self) -> bool:
        return not self.is_over and (self._until is None or self._until())

    def step(self, execute: Callable[[Operation], Outcome]) -> None:
        """Run one operation, or continue after a wait."""
        if self._until is not None:
            self._until = None
            self._resume(None)
            return
        self._outcomes.append(execute(self._operations.popleft()))
        if not self._operations:
            outcomes, self._outcomes = self._outcomes, []
            self._resume(outcomes)

    def close(self) -> None:
        self._work.close()
        self.is_over = True

    def _resume(self, outcomes: list[Outcome] | None) -> None:
        try:
            wanted = next(self._work) if outcomes is None else self._work.send(outcomes)
        except StopIteration:
            self.is_over = True
            self._ended()
            return
        if callable(wanted):
            self._until = wanted
        else:
            assert wanted, "a core yielded an empty batch"
            self._operations.extend(wanted)


class WatchedMonitor(StateChangeMonitor):
    def __init__(self, broker_id: int, completed: Callable[[int, StateChangeRequest], None]) -> None:
        super().__init__(broker_id)
        self._completed = completed

    def completed(self, request: StateChangeRequest) -> None:
        self._completed(self.broker_id, request)
        super().completed(request)


class MemoryBroker:
    def __init__(self, broker_id: int, disk: Disk, cluster: MemoryCluster) -> None:
        self.id = broker_id
        self.disk = disk
        self.cluster = cluster
        self.monitor = WatchedMonitor(broker_id, cluster.watcher.completed)
        self.data_plane = MemoryDataPlane(broker_id, disk, lambda: cluster.now, cluster.config.keep_in_sync)
        self.context = ReplicaContext(broker_id, cluster.config, self.data_plane, lambda: self.known, self.monitor)
        self.agents: dict[TopicPartition, ReplicaAgent] = {}
        self.known: dict[int, int] = {}
        """The registered brokers and their epochs."""
        self.epoch = -1
        self.tasks: list[Task] = []
        self.session = 0
        self._begin()

    def _begin(self) -> None:
        self.session = self.cluster.new_session()
        self.epoch = -1
        self._inputs: dict[TopicPartition, deque[Callable[[], Work[None]]]] = {}
        self._busy: set[TopicPartition] = set()
        self._proposing: set[TopicPartition] = set()
        self._taken: set[str] = set()
        self._shrunk = 0
        self._listening: dict[str, bool] = {}
        """True for each listener that is to run again after the present run."""
        self.known = {}
        self.tasks = [Task(self._start_up())]

    @property
    def is_registered(self) -> bool:
        return self.epoch != -1

    @property
    def is_idle(self) -> bool:
        return not any(task.is_ready for task in self.tasks) and not self.fired

    @property
    def fired(self) -> list[str]:
        return self.cluster.tree.fired_in.get(self.session, [])

    # What drives it, one thing at a time

    def step(self, task: Task) -> None:
        """Run one operation of a task."""
        try:
            task.step(self._execute)
        except SessionOver:
            self.lose_session()
        self.tasks = [each for each in self.tasks if not each.is_over]

    def notify(self) -> None:
        """Deliver the oldest fired watch."""
        path = self.fired.pop(0)
        partition = znodes.partition_of_leader(path)
        if partition is not None:
            if partition in self.agents:
                self.input(partition, partial(self._agent_input, partition, "leader_changed"))
        elif path == znodes.state(self.id):
            self._listen("queue", self._read_queue)
        elif path == znodes.BROKER_IDS:
            self._listen("ids", self._read_ids)
        else:
            self._listen("reassigned", self._read_reassigned)

    def tick(self) -> None:
        for partition, agent in self.agents.items():
            due = agent.next_tick()
            if due is not None and due <= self.cluster.now and partition not in self._busy:
                self.input(partition, partial(self._agent_input, partition, "tick"))

    def next_due(self) -> float | None:
        dues = [due for agent in self.agents.values() if (due := agent.next_tick()) is not None]
        return min(dues, default=None)

    def consider_isr(self, partition: TopicPartition) -> None:
        if partition in self._proposing or partition not in self.data_plane.replicas:
            return
        proposal = self.data_plane.wished_isr(partition, self.known)
        if proposal is not None:
            self._proposing.add(partition)
            self._add(Task(self._alter_isr(partition, proposal), partial(self._proposing.discard, partition)))

    def lose_session(self) -> None:
        """Notify the broker that its session is over; it opens another one."""
        for task in self.tasks:
            task.close()
        for agent in self.agents.values():
            agent.session_lost()
        self.cluster.tree.end_session(self.session)
        self._begin()

    def end(self) -> None:
        """Kill the process."""
        for task in self.tasks:
            task.close()
        self.tasks = []

    def input(self, partition: TopicPartition, make: Callable[[], Work[None]]) -> None:
        """Queue an input for the agent."""
        self._inputs.setdefault(partition, deque()).append(make)
        if partition not in self._busy:
            self._busy.add(partition)
            self._add(Task(self._work_off(partition), partial(self._busy.discard, partition)))

    def leading(self, partition: TopicPartition) -> Leading:
        state = self.agents[partition].state
        assert isinstance(state, Leading)
        return state

    def _add(self, task: Task) -> None:
        if not task.is_over:
            self.tasks.append(task)

    def _work_off(self, partition: TopicPartition) -> Work[None]:
        while self._inputs[partition]:
            yield from self._inputs[partition].popleft()()

    def _agent(self, partition: TopicPartition) -> ReplicaAgent:
        if partition not in self.agents:
            self.agents[partition] = ReplicaAgent(self.context, partition)
        return self.agents[partition]

    def _agent_input(self, partition: TopicPartition, name: str) -> Work[None]:
        yield from getattr(self._agent(partition), name)(self.cluster.now)

    def _start(self, partition: TopicPartition) -> Work[None]:
        with suppress(NotStarted):
            yield from self._agent(partition).start(self.cluster.now)

    def _alter_isr(self, partition: TopicPartition, proposal: IsrProposal) -> Work[None]:
        outcome = yield from self._agent(partition).alter_isr(proposal, self.cluster.now)
        replica = self.data_plane.replicas.get(partition)
        if replica is not None:
            replica.isr_answered(proposal, outcome, self.cluster.now)

    # Start-up and listeners

    def _start_up(self) -> Work[None]:
        yield from self._create_when_free(znodes.claim(self.id), b"")
        yield [Create(znodes.state(self.id), znodes.write_queue(znodes.QueueZnode()))]
        self._shrunk = yield from self._take_requests()
        yield lambda: not self._busy
        yield from self._start_assigned(remove_others=True)
        yield lambda: not self._busy
        yield from self._create_when_free(znodes.broker(self.id), b"")
        [found] = yield [Get(znodes.broker(self.id))]
        assert isinstance(found, Found)
        self.epoch = found.stat.czxid
        self._listen("ids", self._read_ids)
        self._listen("reassigned", self._read_reassigned)

    def _create_when_free(self, path: str, data: bytes) -> Work[None]:
        """Create the znode, once that of an earlier session of this id is gone."""
        while True:
            [outcome] = yield [Create(path, data, ephemeral=True)]
            if not isinstance(outcome, NodeExists):
                assert isinstance(outcome, Done)
                return
            yield lambda: not self.cluster.tree.exists(path)

    def _listen(self, name: str, work: Callable[[], Work[None]]) -> None:
        if name in self._listening:
            self._listening[name] = True
            return

        def again() -> Work[None]:
            while True:
                self._listening[name] = False
                yield from work()
                if not self._listening[name]:
                    del self._listening[name]
                    return

        self._add(Task(again()))

    def _take_requests(self) -> Steps[int]:
        waiting = yield from read_waiting(self.id, self._taken, watch=True)
        for queued in waiting.requests:
            self._taken.add(queued.name)
            if queued.request is None:
                yield from drop(queued, self.monitor)
            else:
                self.input(queued.request.partition, partial(self._carry_out, queued))
        return waiting.shrunk

    def _carry_out(self, queued: QueuedRequest) -> Work[None]:
        request = queued.request
        assert request is not None
        self.cluster.watcher.takes(self, request)
        yield from carry_out(queued, self._agent(request.partition), self.monitor, self.cluster.now)
        self._taken.discard(queued.name)

    def _read_queue(self) -> Work[None]:
        shrunk = yield from self._take_requests()
        if shrunk != self._shrunk:
            self._shrunk = shrunk
            yield lambda: not self._busy
            yield from self._start_assigned(remove_others=False)

    def _start_assigned(self, *, remove_others: bool) -> Work[None]:
        assigned = (yield from read_assigned_replicas(self.id)).own
        others = set(self.disk.logs) - assigned if remove_others else set()
        self.data_plane.apply(
            [PartitionRemoved(topic=each.topic, topic_id=None, partition=each.partition) for each in others]
        )
        for each in sorted(assigned, key=str):
            self.input(each, partial(self._start, each))

    def _read_ids(self) -> Work[None]:
        found = yield from names(znodes.BROKER_IDS, watch=True)
        outcomes = yield from run([Get(znodes.broker(int(name))) for name in found])
        self.known = {
            int(name): each.stat.czxid for name, each in zip(found, outcomes, strict=True) if isinstance(each, Found)
        }

    def _read_reassigned(self) -> Work[None]:
        marked: set[TopicPartition] = set()
        for topic in (yield from names(znodes.REASSIGNED, watch=True)):
            indexes = yield from names(znodes.reassigned_topic(topic), watch=True)
            marked |= {TopicPartition(topic, int(index)) for index in indexes}
        for each, agent in self.agents.items():
            if agent.leads and agent.knows_reassigned != (each in marked):
                self.input(each, partial(self._agent_input, each, "reassigned_changed"))

    def _execute(self, operation: Operation) -> Outcome:
        if not self.cluster.is_alive(self.session):
            raise SessionOver
        return self.cluster.execute(operation, self.session)
