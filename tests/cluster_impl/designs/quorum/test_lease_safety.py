"""Brokers and the active controller under delays, losses, pauses and changes of controllers, step by step.

The real cores of both sides run against each other on one clock, without sockets. The controller is as safe as Raft
makes it: what it grants or renews is committed or confirmed, so its answers may be late but never void.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush

import pytest

from fencepost.cluster_impl.designs.quorum.broker.lifecycle import HeartbeatAnswer, LeaseHeartbeat, LeaseLifecycle
from fencepost.cluster_impl.designs.quorum.controller.leases import LeaseState
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.controller_model import LEASE, LEASE_START_MS, Model

INTERVAL = LEASE / 5
TIMEOUT_S = LEASE / 3
"""Seconds after which the response to a heartbeat is no longer awaited."""

STEPS = 150


@dataclass(order=True)
class Event:
    at: float
    number: int
    happen: Callable[[], None] = field(compare=False)


class Process:
    """One broker process. While `paused` nothing of it runs, but what was asked of it is answered when it wakes.

    `reached` is how far it has the metadata.
    """

    def __init__(self, broker: int) -> None:
        self.broker = broker
        self.lifecycle = LeaseLifecycle()
        self.reached = -1
        self.alive = True
        self.paused = False


class Simulation:
    """`epochs_given_up` holds the epochs whose leases the controller ended because their time was over."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.model = Model()
        self.processes: list[Process] = []
        self.epochs_given_up: set[int] = set()
        self.faults_ended = False
        self._events: list[Event] = []
        self._numbers = 0

    def at(self, time: float, happen: Callable[[], None]) -> None:
        self._numbers += 1
        heappush(self._events, Event(time, self._numbers, happen))

    def run_until(self, end: float) -> None:
        while self._events and self._events[0].at <= end:
            event = heappop(self._events)
            self.model.now = max(self.model.now, event.at)
            event.happen()
            self.give_up_leases()
            self.check()
        self.model.now = end

    def give_up_leases(self) -> None:
        before = dict(self.model.image.brokers)
        over = self.model.state.leases.over(self.model.now)
        self.model.end_leases()
        self.epochs_given_up |= {before[broker].epoch for broker in over if broker in before}

    def check(self) -> None:
        for process in self.processes:
            if process.alive and process.lifecycle.serving(self.model.now):
                assert process.lifecycle.epoch not in self.epochs_given_up
                assert process.lifecycle.epoch <= process.reached
        serving = [p.lifecycle.epoch for p in self.processes if p.alive and p.lifecycle.serving(self.model.now)]
        assert len(set(serving)) == len(serving)

    def start(self, broker: int) -> None:
        process = Process(broker)
        self.processes.append(process)
        self.beat(process)

    def delay(self) -> float:
        return 0.01 if self.faults_ended else self.random.choice([0.01, 0.01, LEASE / 4, LEASE / 2, LEASE * 1.5])

    def lost(self) -> bool:
        return not self.faults_ended and self.random.random() < 0.2

    def beat(self, process: Process) -> None:
        """Send a heartbeat, and another one when this is answered or given up."""
        if not process.alive:
            return
        if process.paused:
            self.at(self.model.now + INTERVAL, lambda: self.beat(process))
            return
        heartbeat = process.lifecycle.next_heartbeat(self.model.now)
        if not self.lost():
            process.reached = self.model.image.offset
        reached = process.reached
        if not self.lost():
            self.at(self.model.now + self.delay(), lambda: self.receive(process, heartbeat, reached))
        self.at(self.model.now + TIMEOUT_S, lambda: self.give_up(process, heartbeat))

    def give_up(self, process: Process, heartbeat: LeaseHeartbeat) -> None:
        if process.lifecycle.waits_for(heartbeat):
            process.lifecycle.gave_up(heartbeat)
            self.beat(process)

    def receive(self, process: Process, heartbeat: LeaseHeartbeat, reached: int) -> None:
        self.give_up_leases()
        assumed = self.model.state.leases.state_of(process.broker) is LeaseState.ASSUMED
        reply = self.model.heartbeat(process.broker, heartbeat.target_state, heartbeat.broker_epoch, reached=reached)
        assert not assumed or process.broker in self.model.image.brokers, "a new controller fences no broker at once"
        lease = (reply.lease_end_time_ms - LEASE_START_MS) / 1000
        answer = HeartbeatAnswer(Error(reply.error_code), FenceState(reply.next_state), reply.broker_epoch, lease)
        if not self.lost():
            self.at(self.model.now + self.delay(), lambda: self.hear(process, heartbeat, answer))

    def hear(self, process: Process, heartbeat: LeaseHeartbeat, answer: HeartbeatAnswer) -> None:
        if process.paused:
            self.at(self.model.now + INTERVAL, lambda: self.hear(process, heartbeat, answer))
        elif process.alive and process.lifecycle.waits_for(heartbeat):
            process.lifecycle.answered(heartbeat, answer, self.model.now)
            self.at(self.model.now + INTERVAL, lambda: self.beat(process))

    def disturb(self) -> None:
        """Inject a random fault at a process or at the controllers."""
        process = self.random.choice(self.processes)
        match self.random.randrange(6):
            case 0:
                process.paused = not process.paused
            case 1 if len([p for p in self.processes if p.alive]) < 4:
                self.start(process.broker)
            case 2 if len([p for p in self.processes if p.alive]) > 1:
                process.alive = False
            case 3:
                image = self.model.image
                self.model.state.leases.assume(image.brokers, image.offset, self.model.now)

    def heal(self) -> None:
        self.faults_ended = True
        for process in self.processes:
            process.paused = False


@pytest.mark.parametrize("seed", range(12))
def test_no_process_serves_on_an_epoch_that_was_given_up_and_each_epoch_has_one_process(seed: int) -> None:
    simulation = Simulation(seed)
    for broker in (4, 4, 5):
        simulation.start(broker)
    for _ in range(STEPS):
        simulation.run_until(simulation.model.now + simulation.random.uniform(0, LEASE / 2))
        simulation.check()
        simulation.disturb()


@pytest.mark.parametrize("seed", range(12))
def test_once_all_faults_end_one_process_of_each_id_serves_and_none_is_ousted_any_more(seed: int) -> None:
    simulation = Simulation(seed)
    for broker in (4, 4, 5):
        simulation.start(broker)
    for _ in range(60):
        simulation.run_until(simulation.model.now + simulation.random.uniform(0, LEASE / 2))
        simulation.disturb()
    simulation.heal()
    simulation.run_until(simulation.model.now + 8 * LEASE)
    settled = dict(simulation.model.image.brokers)
    assert set(settled) == {process.broker for process in simulation.processes if process.alive}
    for _ in range(40):
        simulation.run_until(simulation.model.now + LEASE / 4)
        serving = {p.lifecycle.epoch for p in simulation.processes if p.lifecycle.serving(simulation.model.now)}
        assert {broker.epoch for broker in settled.values()} <= serving
    assert simulation.model.image.brokers == settled
