"""Many replicas side by side, one input at a time each: with fake agents, on a tree of znodes in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import pytest

from fencepost.cluster_impl.coordination.errors import SessionExpired
from fencepost.cluster_impl.coordination.execution import Execution
from fencepost.cluster_impl.coordination.steps import Exists, Steps
from fencepost.cluster_impl.designs.leader_driven.broker.replica_driver import AT_ONCE, ReplicaDriver
from fencepost.cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from fencepost.cluster_impl.replication.control_plane import IsrProposal, IsrRefused, TopicPartition
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.znode_tree import ZnodeTree
from tests.waiting import until

T = TypeVar("T")


@dataclass
class SlowExecution:
    """Executes a step only once it is let through; `waiting` counts the inputs that stand before one."""

    tree: ZnodeTree = field(default_factory=ZnodeTree)
    open: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: int = 0

    async def run(self, steps: Steps[T]) -> T:
        try:
            batch = next(steps)
            while True:
                self.waiting += 1
                try:
                    await self.open.wait()
                finally:
                    self.waiting -= 1
                batch = steps.send(self.tree.execute(batch))
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()


@dataclass
class FakeAgent:
    """Records its inputs; every input takes one step."""

    partition: TopicPartition
    inputs: list[str] = field(default_factory=list)
    is_stopped: bool = False
    leads: bool = False
    due: float | None = None
    busy: bool = False

    def next_tick(self) -> float | None:
        return self.due

    def tick(self, now: float) -> Steps[None]:
        self.due = None
        return self.input("tick")

    def leader_changed(self, now: float) -> Steps[None]:
        return self.input("leader changed")

    def input(self, what: str, *, stops: bool = False) -> Steps[None]:
        assert not self.busy, "two inputs at a time"
        self.busy = True
        try:
            yield [Exists("/any")]
        finally:
            self.busy = False
        self.inputs.append(what)
        self.is_stopped = stops

    def alter_isr(self, proposal: IsrProposal, now: float) -> Steps[IsrRefused]:
        yield [Exists("/any")]
        return IsrRefused(Error.INVALID_UPDATE_VERSION)

    def session_lost(self) -> None:
        assert not self.busy, "an input was under way when the session was over"
        self.inputs.append("session lost")


class Driven:
    def __init__(self) -> None:
        self.execution = SlowExecution()
        self.agents: dict[TopicPartition, FakeAgent] = {}
        self.leads: list[tuple[TopicPartition, bool]] = []
        self.driver = ReplicaDriver(
            cast("Execution", self.execution), self._make, lambda at, does: self.leads.append((at, does))
        )

    def _make(self, partition: TopicPartition) -> ReplicaAgent:
        agent = self.agents[partition] = FakeAgent(partition)
        return cast("ReplicaAgent", agent)

    def ask(self, index: int, what: str, *, stops: bool = False) -> asyncio.Future[None]:
        return self.driver.ask(at(index), lambda agent, now: cast("FakeAgent", agent).input(what, stops=stops))

    async def started(self, *indexes: int) -> None:
        self.execution.open.set()
        await asyncio.gather(*(self.ask(index, "start") for index in indexes))
        self.execution.open.clear()


def at(index: int) -> TopicPartition:
    return TopicPartition("t", index)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_replica_gets_one_input_at_a_time_and_in_order() -> None:
    it = Driven()
    answers = [it.ask(0, what) for what in ("a", "b", "c")]
    await settle()
    assert it.execution.waiting == 1
    it.execution.open.set()
    await asyncio.gather(*answers)
    assert it.agents[at(0)].inputs == ["a", "b", "c"]


async def test_different_replicas_go_on_side_by_side_but_not_all_at_once() -> None:
    it = Driven()
    answers = [it.ask(index, "a") for index in range(AT_ONCE + 10)]
    await settle()
    assert it.execution.waiting == AT_ONCE
    it.execution.open.set()
    await asyncio.gather(*answers)


@pytest.mark.requirement("LD-06")
async def test_a_change_of_leader_waits_behind_no_other_replica() -> None:
    it = Driven()
    last = AT_ONCE + 10
    await it.started(*range(last + 1))
    others = [it.ask(index, "other") for index in range(last)]
    await settle()
    it.driver.leader_changed(at(last))
    it.driver.leader_changed(at(last))
    order: list[str] = []
    others[-1].add_done_callback(lambda _: order.append(str(it.agents[at(last)].inputs)))
    it.execution.open.set()
    await asyncio.gather(*others)
    assert order == ["['start', 'leader changed']"]


@pytest.mark.requirement("LD-06")
async def test_a_change_of_leader_takes_a_replica_that_waits_for_its_turn_past_the_others() -> None:
    it = Driven()
    last = 4 * AT_ONCE
    await it.started(*range(last + 1))
    others = [it.ask(index, "other") for index in range(last)]
    own = it.ask(last, "own")
    await settle()
    it.driver.leader_changed(at(last))
    order: list[str] = []
    others[-1].add_done_callback(lambda _: order.append(str(it.agents[at(last)].inputs)))
    it.execution.open.set()
    await asyncio.gather(*others, own)
    assert order == ["['start', 'own', 'leader changed']"]


async def test_a_replica_is_looked_at_when_it_asked_for_it() -> None:
    it = Driven()
    await it.started(0, 1)
    it.execution.open.set()
    it.agents[at(0)].due = time.monotonic() + 0.05
    await it.ask(0, "a")
    await until(lambda: "tick" in it.agents[at(0)].inputs)
    assert it.agents[at(1)].inputs == ["start"]


async def test_it_notifies_of_replicas_that_begin_and_cease_to_lead() -> None:
    it = Driven()
    await it.started(0)
    it.execution.open.set()
    for leads in (True, True, False):
        it.agents[at(0)].leads = leads
        await it.ask(0, "a")
    assert it.leads == [(at(0), True), (at(0), False)]
    assert it.driver.led == frozenset()


async def test_a_replica_that_was_closed_is_forgotten_and_made_anew_when_it_is_asked_again() -> None:
    it = Driven()
    await it.started(0)
    first = it.agents[at(0)]
    it.execution.open.set()
    await it.ask(0, "close", stops=True)
    assert list(it.driver) == []
    it.driver.leader_changed(at(0))
    await it.ask(0, "start")
    assert first.inputs == ["start", "close"]
    assert it.agents[at(0)].inputs == ["start"]


async def test_an_input_that_fails_ends_neither_its_replica_nor_others() -> None:
    def broken(agent: ReplicaAgent, now: float) -> Steps[None]:
        raise RuntimeError("broken")

    it = Driven()
    await it.started(0)
    it.execution.open.set()
    with pytest.raises(RuntimeError, match="broken"):
        await it.driver.ask(at(0), broken)
    it.driver.notify(at(0), broken)
    await it.ask(0, "a")
    assert it.agents[at(0)].inputs == ["start", "a"]


@pytest.mark.requirement("DLD-16")
async def test_with_the_session_everything_ends_at_once() -> None:
    it = Driven()
    await it.started(*range(AT_ONCE + 2))
    answers: list[Awaitable[Any]] = [it.ask(index, "never") for index in range(AT_ONCE + 2)]
    proposal = IsrProposal(topic="t", topic_id=cast("Any", None), partition=0, leader_epoch=0, isr=(4,), version=0)
    await settle()
    it.driver.end()
    assert all(agent.inputs == ["start", "session lost"] for agent in it.agents.values())
    it.execution.open.set()
    outcomes = await asyncio.gather(*answers, return_exceptions=True)
    assert all(isinstance(outcome, SessionExpired) for outcome in outcomes)
    with pytest.raises(SessionExpired):
        await it.ask(0, "late")
    assert await it.driver.alter_isr(proposal) == IsrRefused(Error.FENCED_LEADER_EPOCH)
    it.driver.leader_changed(at(0))
    await settle()
    assert all(agent.inputs == ["start", "session lost"] for agent in it.agents.values())
