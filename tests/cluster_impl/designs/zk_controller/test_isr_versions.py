"""A leader counts the version of its ISR by itself, as IsrChange carries none: it never loses a member over that.

The controller answers NONE without a write where the set is the committed one, so the leader's version may run ahead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.zk_controller.broker.isr_requests import outcome_of
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.isr_change import decide
from fencepost.cluster_impl.replication.control_plane import IsrOutcome, IsrProposal, IsrUnknown, TopicPartition
from fencepost.cluster_impl.replication.in_sync import InSyncReplicas
from fencepost.cluster_impl.wire import messages as m

T0, TOPIC = TopicPartition("t", 0), UUID(int=1)
LEADER, REPLICAS = 4, (4, 5, 6)


@dataclass
class Controller:
    """The state of the partition in ZooKeeper, and the brokers that live."""

    leader: int = LEADER
    leader_epoch: int = 0
    isr: tuple[int, ...] = REPLICAS
    replicas: tuple[int, ...] = REPLICAS
    version: int = 0
    live: set[int] = field(default_factory=lambda: set(REPLICAS))

    def incarnation(self, broker_id: int) -> int | None:
        return 100 + broker_id

    def partition(self, of: TopicPartition) -> Controller | None:
        return self

    def is_live(self, broker_id: int) -> bool:
        return broker_id in self.live

    def is_stopping(self, broker_id: int) -> bool:
        return False

    def handle(self, proposal: IsrProposal) -> IsrOutcome:
        asked = m.IsrChangeRequest.PartitionData(
            leader_epoch=proposal.leader_epoch, partition_index=0, isr_nodes=list(proposal.isr)
        )
        topic = m.IsrChangeRequest.TopicData(topic_name="t", partitions=[asked])
        request = m.IsrChangeRequest(broker_id=LEADER, incarnation_id=100 + LEADER, topics=[topic])
        decision = decide(self, request)
        for change in decision.changes:
            self.isr, self.version = change.isr, self.version + 1
        [result] = decision.response({}).results
        return outcome_of(proposal, result)


class World:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now = 0.0
        self.controller = Controller()
        self.leader = InSyncReplicas()
        self.leader.adopt(frozenset(REPLICAS), 0, 0)
        self.ahead = 0

    def step(self) -> None:
        self.now += 0.2
        match self.random.randrange(8):
            case 0:
                self.controller.live ^= {self.random.choice((5, 6))}
            case 1 if self.random.random() < 0.3:
                self.elect()
            case 2:
                self.metadata()
            case _:
                self.change()
        self.check()

    def change(self) -> None:
        """Ask for an ISR; the request, its answer or neither is lost."""
        target = frozenset({LEADER, *(each for each in (5, 6) if self.random.random() < 0.5)})
        proposal = self.leader.propose(T0, TOPIC, target, self.now)
        if proposal is None:
            return
        fate = self.random.randrange(4)
        outcome: IsrOutcome = IsrUnknown("the request was lost")
        if fate > 0:
            answer = self.controller.handle(proposal)
            self.check()
            outcome = answer if fate > 1 else IsrUnknown("the answer was lost")
        self.leader.settle(proposal, outcome, self.now)

    def elect(self) -> None:
        """The controller writes the state of a new leader epoch, which the leader learns of now or later."""
        state = self.controller
        left = tuple(each for each in state.isr if each == LEADER or each in state.live)
        state.isr, state.version, state.leader_epoch = left, state.version + 1, state.leader_epoch + 1

    def metadata(self) -> None:
        """The leader gets the committed state, and adopts it if it is newer, as `Partition.assign` does."""
        state, known = self.controller, self.leader
        if (state.leader_epoch, state.version) > (known.leader_epoch, known.version):
            known.adopt(frozenset(state.isr), state.leader_epoch, state.version)

    def check(self) -> None:
        state, known = self.controller, self.leader
        if state.leader_epoch == known.leader_epoch:
            assert set(state.isr) <= known.maximal, "a member may become leader without what the leader acknowledged"
            self.ahead += known.version > state.version


@pytest.mark.requirement("D343-08")
def test_whatever_is_lost_the_leader_counts_every_member_of_the_committed_isr() -> None:
    ahead = 0
    for seed in range(150):
        world = World(seed)
        for _ in range(80):
            world.step()
        ahead += world.ahead
    assert ahead, "no leader's version ran ahead, so that nothing was tried"
