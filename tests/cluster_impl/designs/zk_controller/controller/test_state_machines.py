"""Every arrow of the two state machines, and every one that does not exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import RegisteredBroker
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import StateMachines
from fencepost.cluster_impl.designs.zk_controller.controller.state.transitions import (
    PARTITION_TRANSITIONS,
    REPLICA_TRANSITIONS,
    PartitionState,
    ReplicaState,
)
from fencepost.cluster_impl.designs.zk_controller.znodes import BrokerInfo, LeaderAndIsr, PartitionReplicas
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import CONFIG
from tests.cluster_impl.designs.znode_tree import ZnodeTree

pytestmark = pytest.mark.requirement("DINT-12", "INT-45", "INT-47")

P, R = PartitionState, ReplicaState
T0 = TopicPartition("t", 0)

PARTITION_TABLE = {
    (P.NON_EXISTENT, P.NEW),
    (P.NEW, P.ONLINE),
    (P.NEW, P.OFFLINE),
    (P.ONLINE, P.ONLINE),
    (P.ONLINE, P.OFFLINE),
    (P.OFFLINE, P.ONLINE),
    (P.OFFLINE, P.OFFLINE),
    (P.OFFLINE, P.NON_EXISTENT),
}
REPLICA_TABLE = {
    (R.NON_EXISTENT, R.NEW),
    (R.NEW, R.ONLINE),
    (R.NEW, R.OFFLINE),
    (R.ONLINE, R.ONLINE),
    (R.ONLINE, R.OFFLINE),
    (R.OFFLINE, R.ONLINE),
    (R.OFFLINE, R.OFFLINE),
    (R.OFFLINE, R.DELETION_STARTED),
    (R.OFFLINE, R.DELETION_INELIGIBLE),
    (R.DELETION_STARTED, R.DELETION_SUCCESSFUL),
    (R.DELETION_STARTED, R.DELETION_INELIGIBLE),
    (R.DELETION_SUCCESSFUL, R.NON_EXISTENT),
    (R.DELETION_INELIGIBLE, R.ONLINE),
    (R.DELETION_INELIGIBLE, R.OFFLINE),
}


class StateMachinesUnderTest:
    """t-0 on brokers 1 and 2, led by 1; both live."""

    def __init__(self) -> None:
        self.machines = StateMachines.make(CONFIG)
        self.tree = ZnodeTree()
        context = self.machines.context
        context.epoch = 1
        for broker_id in (1, 2):
            context.registered[broker_id] = RegisteredBroker(broker_id, 10 + broker_id, BrokerInfo(4, (), 0))
            context.live[broker_id] = 10 + broker_id
        context.add_topic("t", UUID(int=7))
        context.assign(T0, PartitionReplicas((1, 2)))
        context.leadership[T0] = LeaderAndIsr(1, 5, (1, 2), 1)
        self.tree.create(znodes.state(T0), znodes.write_state(context.leadership[T0]))

    def state(self) -> LeaderAndIsr:
        return znodes.read_state(T0, self.tree.data(znodes.state(T0)), self.tree.version(znodes.state(T0)))


def every(kind: type[PartitionState] | type[ReplicaState]) -> list[tuple[object, object]]:
    return [(source, target) for source in kind for target in kind]


def test_the_tables_are_kafkas() -> None:
    assert _pairs(PARTITION_TRANSITIONS) == PARTITION_TABLE
    assert _pairs(REPLICA_TRANSITIONS) == REPLICA_TABLE


def _pairs(table: Mapping[Any, frozenset[Any]]) -> set[tuple[Any, Any]]:
    return {(source, target) for target, sources in table.items() for source in sources}


@pytest.mark.requirement("INT-32")
@pytest.mark.parametrize(("source", "target"), every(PartitionState))
def test_a_partition_changes_its_state_along_the_table_only(source: PartitionState, target: PartitionState) -> None:
    setup = StateMachinesUnderTest()
    setup.machines.context.put_partition_state(T0, source)
    if source is P.NEW:
        del setup.machines.context.leadership[T0]
        setup.tree.delete(znodes.state(T0))
    before = setup.machines.context.leadership.get(T0)
    if target is P.ONLINE:
        setup.tree.run(setup.machines.partitions.bring_online([T0]))
    else:
        setup.machines.partitions.put([T0], target)
    valid = (source, target) in PARTITION_TABLE
    assert setup.machines.context.partition_state(T0) is (target if valid else source)
    if not valid:
        assert setup.machines.context.leadership.get(T0) == before
        assert setup.machines.batch.drain() == []


@pytest.mark.requirement("INT-48")
@pytest.mark.parametrize(("source", "target"), every(ReplicaState))
@pytest.mark.requirement("INT-41")
def test_a_replica_changes_its_state_along_the_table_only(source: ReplicaState, target: ReplicaState) -> None:
    setup = StateMachinesUnderTest()
    replica = (T0, 2)
    if source is not R.NON_EXISTENT:
        setup.machines.context.replica_states[replica] = source
    match target:
        case R.NEW:
            setup.machines.replicas.start_new([replica])
        case R.ONLINE:
            setup.machines.replicas.bring_online([replica])
        case R.OFFLINE:
            setup.tree.run(setup.machines.replicas.take_offline([replica]))
        case _:
            setup.machines.replicas.put([replica], target)
    valid = (source, target) in REPLICA_TABLE
    assert setup.machines.context.replica_state(*replica) is (target if valid else source)
    if not valid:
        assert setup.state().version == 0
        assert [each for _, each in setup.machines.batch.drain() if not isinstance(each, m.UpdateMetadataRequest)] == []


@pytest.mark.requirement("INT-49")
def test_a_replica_that_goes_offline_leaves_the_isr_and_the_others_hear_of_it() -> None:
    setup = StateMachinesUnderTest()
    setup.machines.context.replica_states[T0, 2] = R.ONLINE
    setup.tree.run(setup.machines.replicas.take_offline([(T0, 2)]))
    assert setup.state() == LeaderAndIsr(1, 6, (1,), 1, version=1)
    sent = setup.machines.batch.drain()
    assert [(id, type(each)) for id, each in sent if not isinstance(each, m.UpdateMetadataRequest)] == [
        (1, m.LeaderAndIsrRequest),
        (2, m.StopReplicaRequest),
    ]


@pytest.mark.requirement("DINT-08", "DINT-13")
def test_the_last_member_stays_in_the_isr_and_leads_no_more() -> None:
    setup = StateMachinesUnderTest()
    setup.machines.context.replica_states.update({(T0, 1): R.ONLINE, (T0, 2): R.ONLINE})
    setup.tree.run(setup.machines.replicas.take_offline([(T0, 2)]))
    setup.tree.run(setup.machines.replicas.take_offline([(T0, 1)]))
    assert setup.state() == LeaderAndIsr(-1, 7, (1,), 1, version=2)


def test_members_that_fail_together_stay_in_the_isr_together() -> None:
    setup = StateMachinesUnderTest()
    setup.machines.context.replica_states.update({(T0, 1): R.ONLINE, (T0, 2): R.ONLINE})
    setup.tree.run(setup.machines.replicas.take_offline([(T0, 1), (T0, 2)]))
    assert setup.state() == LeaderAndIsr(-1, 6, (1, 2), 1, version=1)


@pytest.mark.requirement("INT-46", "INT-41")
def test_at_the_start_a_replica_is_online_if_its_broker_lives_else_ineligible_for_deletion() -> None:
    setup = StateMachinesUnderTest()
    del setup.machines.context.live[2]
    assert setup.machines.replicas.startup() == [(T0, 2)]
    assert setup.machines.context.replica_state(T0, 1) is R.ONLINE
    assert setup.machines.context.replica_state(T0, 2) is R.DELETION_INELIGIBLE


@pytest.mark.parametrize(("leader", "state"), [(1, P.ONLINE), (3, P.OFFLINE), (-1, P.OFFLINE), (None, P.NEW)])
def test_at_the_start_a_partition_is_online_if_its_leader_is(leader: int | None, state: PartitionState) -> None:
    setup = StateMachinesUnderTest()
    if leader is None:
        del setup.machines.context.leadership[T0]
    else:
        setup.machines.context.leadership[T0] = LeaderAndIsr(leader, 5, (1, 2), 1)
    setup.machines.partitions.startup()
    assert setup.machines.context.partition_state(T0) is state


def test_a_state_that_a_leader_wrote_meanwhile_is_adopted_and_the_change_decided_again() -> None:
    setup = StateMachinesUnderTest()
    setup.machines.context.replica_states[T0, 2] = R.ONLINE
    setup.tree.overwrite(znodes.state(T0), znodes.write_state(LeaderAndIsr(1, 5, (1,), 1)))
    setup.tree.run(setup.machines.replicas.take_offline([(T0, 2)]))
    assert setup.state() == LeaderAndIsr(1, 5, (1,), 1, version=1)
    assert setup.machines.context.leadership[T0].version == 1
