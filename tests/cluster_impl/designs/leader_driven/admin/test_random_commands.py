"""Random commands, each of which may be killed after any of its writes, among brokers that come and go."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.creating import (
    MorePartitions,
    NewTopic,
    create_partitions,
    create_topic,
)
from fencepost.cluster_impl.designs.leader_driven.admin.deleting import delete_partition, delete_topic
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Procedure
from fencepost.cluster_impl.designs.leader_driven.admin.reading import read_topic
from fencepost.cluster_impl.designs.leader_driven.admin.reassigning import reassign
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from tests.cluster_impl.designs.leader_driven.admin.final_state import check_final_state
from tests.cluster_impl.designs.leader_driven.admin.model_cluster import BROKERS, ModelCluster, ProcessDeath

TOPICS = st.sampled_from(["t", "u"])
KILLED_AFTER = st.one_of(st.none(), st.integers(0, 30))
REPLICAS = st.lists(st.sampled_from(BROKERS), min_size=1, max_size=3, unique=True)


class Commands(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.model = ModelCluster(side_by_side=2)

    def do(self, topic: str, procedure: Procedure[object], writes: int | None) -> None:
        try:
            self.model.alone(topic, procedure, writes=writes)
        except (RequestError, ProcessDeath):
            pass

    @rule(topic=TOPICS, layout=st.lists(REPLICAS, min_size=1, max_size=3), writes=KILLED_AFTER)
    def create(self, topic: str, layout: list[list[int]], writes: int | None) -> None:
        factor = min(map(len, layout))
        new = NewTopic(topic, assignment=[replicas[:factor] for replicas in layout])
        self.do(topic, create_topic(self.model.command, new), writes)

    @rule(topic=TOPICS, count=st.integers(1, 5), writes=KILLED_AFTER)
    def extend(self, topic: str, count: int, writes: int | None) -> None:
        self.do(topic, create_partitions(self.model.command, MorePartitions(topic, count)), writes)

    @rule(topic=TOPICS, writes=KILLED_AFTER)
    def delete(self, topic: str, writes: int | None) -> None:
        self.do(topic, delete_topic(self.model.command, topic), writes)

    @rule(topic=TOPICS, index=st.integers(0, 3), writes=KILLED_AFTER)
    def delete_one(self, topic: str, index: int, writes: int | None) -> None:
        self.do(topic, delete_partition(self.model.command, topic, index), writes)

    @rule(topic=TOPICS, moves=st.dictionaries(st.integers(0, 3), REPLICAS, max_size=3), writes=KILLED_AFTER)
    def move(self, topic: str, moves: dict[int, list[int]], writes: int | None) -> None:
        self.do(topic, reassign(self.model.command, topic, moves), writes)

    @rule(broker_id=st.sampled_from(BROKERS))
    def stop_or_start(self, broker_id: int) -> None:
        if self.model.brokers[broker_id].is_up:
            self.model.stop(broker_id)
        else:
            self.model.start(broker_id)

    @rule(broker_id=st.sampled_from(BROKERS))
    def slow_down_or_speed_up(self, broker_id: int) -> None:
        broker = self.model.brokers[broker_id]
        broker.takes_requests = not broker.takes_requests

    @rule()
    def settle(self) -> None:
        self.model.settle()

    @invariant()
    def no_command_holds_a_topic(self) -> None:
        assert self.model.tree.names(znodes.ADMIN) == []

    def teardown(self) -> None:
        """With all brokers up, one command for each topic leaves nothing behind, whatever happened before."""
        for broker in self.model.brokers.values():
            broker.takes_requests = True
            if not broker.is_up:
                self.model.start(broker.broker_id)
        self.model.settle()
        for topic in ("t", "u"):
            found = self.model.tree.run(read_topic(topic))
            numbers = sorted(found.live)
            is_whole = numbers == list(range(len(numbers))) and found.live == found.partitions and numbers
            if not is_whole or any(each.marker for each in found.live.values()):
                self.do(topic, delete_topic(self.model.command, topic), None)
        check_final_state(self.model)


TestCommands = Commands.TestCase
TestCommands.settings = settings(max_examples=60, stateful_step_count=15, suppress_health_check=[HealthCheck.too_slow])
