"""Random histories of a cluster: nothing of the invariants may break, whatever happens in whatever order."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fencepost.cluster_impl.config.ibp import Ibp
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.wire import messages as m
from tests.cluster_impl.designs.zk_controller.controller.invariants import History, check_settled, states_of, topics_of
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import (
    TIMEOUT,
    WITH_HEARTBEATS,
    WITHOUT_HEARTBEATS,
    MemoryCluster,
)

IDS = (1, 2, 3, 4)
TOPICS = ("a", "b")

broker_ids = st.sampled_from(IDS)
topic_names = st.sampled_from(TOPICS)
some_brokers = st.lists(broker_ids, min_size=1, max_size=3, unique=True)


class RandomEvents(RuleBasedStateMachine):
    @initialize(
        level=st.sampled_from(Ibp),
        unclean=st.booleans(),
        version=st.sampled_from((WITHOUT_HEARTBEATS, WITH_HEARTBEATS)),
    )
    def begin(self, level: Ibp, unclean: bool, version: int) -> None:
        self.cluster = MemoryCluster(ibp=level, unclean_leader_election=unclean)
        self.history = History()
        for broker_id in IDS[:3]:
            self.cluster.start(broker_id, version=version)
        self.cluster.elect()

    # Brokers

    @rule(broker_id=broker_ids, version=st.sampled_from((WITHOUT_HEARTBEATS, WITH_HEARTBEATS)))
    def start_or_kill(self, broker_id: int, version: int) -> None:
        if broker_id in self.cluster.brokers:
            self.cluster.kill(broker_id)
        else:
            self.cluster.start(broker_id, version=version)

    @rule(broker_id=broker_ids, version=st.sampled_from((WITHOUT_HEARTBEATS, WITH_HEARTBEATS)))
    def bounce(self, broker_id: int, version: int) -> None:
        if broker_id in self.cluster.brokers:
            self.cluster.bounce(broker_id, version=version)

    @rule(broker_id=broker_ids, state=st.sampled_from((BrokerState.ACTIVE, BrokerState.ACTIVE, BrokerState.STOPPING)))
    def heartbeat(self, broker_id: int, state: BrokerState) -> None:
        if broker_id in self.cluster.brokers and self.cluster.controller is not None:
            self.cluster.heartbeat(broker_id, state)

    @rule(seconds=st.sampled_from((1.0, TIMEOUT / 2, TIMEOUT)))
    def time_passes(self, seconds: float) -> None:
        self.cluster.now += seconds

    @rule(broker_id=broker_ids)
    def shut_down(self, broker_id: int) -> None:
        if broker_id in self.cluster.brokers and self.cluster.controller is not None:
            epoch = self.cluster.brokers[broker_id].epoch
            self.cluster.ask(m.ControlledShutdownRequest(broker_id=broker_id, broker_epoch=epoch), version=3)

    @rule(broker_id=broker_ids)
    def stall_or_go_on(self, broker_id: int) -> None:
        self.cluster.stalled ^= {broker_id}

    # Topics

    @rule(name=topic_names, layout=st.lists(some_brokers, min_size=1, max_size=2))
    def add_topic(self, name: str, layout: list[list[int]]) -> None:
        if not self.cluster.tree.exists(znodes.topic(name)):
            self.cluster.add_topic(name, *layout)

    @rule(name=topic_names, replicas=some_brokers)
    def add_partition(self, name: str, replicas: list[int]) -> None:
        if self.cluster.tree.exists(znodes.topic(name)):
            self.cluster.add_partition(name, replicas)

    @rule(name=topic_names)
    def delete_topic(self, name: str) -> None:
        if not self.cluster.tree.exists(znodes.topic_to_delete(name)):
            self.cluster.delete_topic(name)

    @rule(data=st.data(), wanted=some_brokers)
    def reassign(self, data: st.DataObject, wanted: list[int]) -> None:
        """Maybe in the middle of another one, or of a partition that had no leader yet."""
        partitions = sorted(
            f"{topic}-{at}" for topic, info in topics_of(self.cluster).items() for at in info.partitions
        )
        if partitions:
            if self.cluster.tree.exists(znodes.REASSIGN_PARTITIONS):
                self.cluster.tree.delete(znodes.REASSIGN_PARTITIONS)
            self.cluster.reassign({data.draw(st.sampled_from(partitions)): wanted})

    @rule()
    def elect_preferred(self) -> None:
        if not self.cluster.tree.exists(znodes.PREFERRED_REPLICA_ELECTION):
            everything = znodes.write_partitions(states_of(self.cluster))
            self.cluster.tree.create(znodes.PREFERRED_REPLICA_ELECTION, everything)

    # Leaders

    @rule()
    def followers_catch_up(self) -> None:
        self.cluster.catch_up()

    @rule(data=st.data())
    def a_leader_shrinks_its_isr(self, data: st.DataObject) -> None:
        led = [(b, of) for b in self.cluster.brokers.values() for of in sorted(b.replicas, key=str) if b.leads(of)]
        if led:
            broker, of = data.draw(st.sampled_from(led))
            if self.cluster.tree.exists(znodes.state(of)):
                self.cluster.write_isr(str(of), (broker.broker_id,), by=broker.broker_id)

    @rule(shrinks=st.booleans())
    def leaders_write_their_isrs_between_two_steps_of_the_controller(self, shrinks: bool) -> None:
        self.cluster.tree.meanwhile = self.cluster.shrink_all if shrinks else self.cluster.catch_up

    @rule(data=st.data())
    def a_log_dir_fails(self, data: st.DataObject) -> None:
        """Reported by a znode below the raised level, by an RPC at it."""
        held = [(b, of) for b in self.cluster.brokers.values() for of in sorted(b.replicas, key=str)]
        if not held:
            return
        broker, of = data.draw(st.sampled_from(held))
        broker.failed.add(of)
        broker.replicas.pop(of)
        if not self.cluster.config.design.ibp.has_replica_events:
            self.cluster.notify_log_dir(broker.broker_id)
        elif self.cluster.controller is not None:
            self.cluster.report_offline(broker.broker_id, [of])

    # The controller

    @rule(what=st.sampled_from(("watches", "deliver", "tick")))
    def something_goes_on(self, what: str) -> None:
        if self.cluster.controller is not None:
            getattr(self.cluster, what)()

    @rule(writes=st.integers(0, 12))
    def the_controller_dies_soon(self, writes: int) -> None:
        self.cluster.tree.writes_left = writes

    @rule()
    def another_controller(self) -> None:
        self.cluster.elect(settle=False)

    @rule()
    def comes_to_rest(self) -> None:
        self.cluster.stalled.clear()
        self.cluster.tree.writes_left = None
        if self.cluster.controller is None:
            self.cluster.elect()
        self.cluster.settle()
        check_settled(self.cluster)

    @invariant()
    def nothing_goes_back(self) -> None:
        self.history.check(self.cluster)

    def teardown(self) -> None:
        """At the end all brokers return, whatever happened; then every request is carried out."""
        self.comes_to_rest()
        for broker_id in IDS:
            if broker_id in self.cluster.brokers:
                self.cluster.bounce(broker_id)
            else:
                self.cluster.start(broker_id)
        self.cluster.settle()
        for _ in range(4):
            self.cluster.catch_up()
            self.cluster.settle()
        check_settled(self.cluster)
        self.history.check(self.cluster)
        assert not self.cluster.tree.names(znodes.DELETE_TOPICS)
        for info in topics_of(self.cluster).values():
            assert not any(each.is_reassigned for each in info.partitions.values())


RandomEvents.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, suppress_health_check=list(HealthCheck)
)
TestRandomEvents = RandomEvents.TestCase
