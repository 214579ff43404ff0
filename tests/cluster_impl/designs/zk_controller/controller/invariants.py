"""Invariants of a cluster: of its znodes at any time, and of each broker's view once the cluster has settled."""

from __future__ import annotations

from uuid import UUID

from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr, TopicInfo
from fencepost.cluster_impl.replication.control_plane import NO_LEADER, TopicPartition
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import MemoryCluster


def topics_of(cluster: MemoryCluster) -> dict[str, TopicInfo]:
    tree = cluster.tree
    return {name: znodes.read_topic(name, tree.data(znodes.topic(name))) for name in tree.names(znodes.TOPICS)}


def states_of(cluster: MemoryCluster) -> dict[TopicPartition, LeaderAndIsr]:
    of = [TopicPartition(name, index) for name, info in topics_of(cluster).items() for index in info.partitions]
    return {each: cluster.state(str(each)) for each in of if cluster.tree.exists(znodes.state(each))}


class History:
    """Follows the states of all partitions; `check` compares with what was seen before."""

    def __init__(self) -> None:
        self._seen: dict[tuple[UUID | None, TopicPartition], LeaderAndIsr] = {}

    def check(self, cluster: MemoryCluster) -> None:
        topics = topics_of(cluster)
        for partition, state in states_of(cluster).items():
            assert state.isr, f"{partition} has an empty ISR"
            assert state.leader == NO_LEADER or state.leader in state.isr, f"{partition} is led from outside its ISR"
            assert len(set(state.isr)) == len(state.isr), f"{partition} has an ISR that repeats itself"
            replicas = topics[partition.topic].partitions[partition.partition].replicas
            assert set(replicas) & set(state.isr), f"{partition} has no assigned replica in sync"
            key = topics[partition.topic].topic_id, partition
            before = self._seen.get(key)
            if before is not None:
                assert state.leader_epoch >= before.leader_epoch, f"the leader epoch of {partition} went back"
                assert state.controller_epoch >= before.controller_epoch, f"an old controller wrote {partition}"
                if (before.leader, before.leader_epoch) != (state.leader, state.leader_epoch):
                    assert state.leader_epoch > before.leader_epoch, f"{partition} has two leaders in one epoch"
            self._seen[key] = state


def check_settled(cluster: MemoryCluster) -> None:
    """Check a settled cluster with a controller, in which every broker gets its requests."""
    live = live_brokers(cluster)
    topics = topics_of(cluster)
    states = states_of(cluster)
    deleting = set(cluster.tree.names(znodes.DELETE_TOPICS))
    assert not cluster.tree.names(znodes.ISR_CHANGES)
    for partition, state in states.items():
        if partition.topic in deleting:
            continue
        replicas = topics[partition.topic].partitions[partition.partition].replicas
        usable = [each for each in live if each in replicas and partition not in cluster.brokers[each].failed]
        assert state.leader == NO_LEADER or state.leader in usable, f"{partition} is led by {state.leader}: {usable}"
        if set(state.isr) & set(usable):
            assert state.leader != NO_LEADER, f"{partition} has no leader: {state}, {usable}"
    for topic, info in topics.items():
        for index, assigned in info.partitions.items():
            partition = TopicPartition(topic, index)
            if topic not in deleting and live.keys() & set(assigned.replicas):
                assert partition in states, f"{partition} has no state"
    for topic in deleting:
        holders = {each for replicas in topics[topic].partitions.values() for each in replicas.replicas}
        failed = {of.topic for broker in cluster.brokers.values() for of in broker.failed}
        moving = any(each.is_reassigned for each in topics[topic].partitions.values())
        assert holders - live.keys() or topic in failed or moving, f"nothing keeps topic {topic} from being deleted"
    for broker_id in live:
        _check_broker(cluster, broker_id, topics, states, deleting)


def live_brokers(cluster: MemoryCluster) -> dict[int, int]:
    """Broker id to epoch, as the controller sees them."""
    assert cluster.controller is not None
    return dict(cluster.controller._components.machines.context.live)


def _check_broker(
    cluster: MemoryCluster,
    broker_id: int,
    topics: dict[str, TopicInfo],
    states: dict[TopicPartition, LeaderAndIsr],
    deleting: set[str],
) -> None:
    broker = cluster.brokers[broker_id]
    assert broker.live_brokers == live_brokers(cluster), f"broker {broker_id} believes in other brokers"
    for partition, state in states.items():
        if partition.topic in deleting:
            continue
        cached = broker.metadata.get(partition)
        assert cached is not None, f"broker {broker_id} does not know {partition}"
        known = (cached.leader, cached.leader_epoch, tuple(cached.isr), cached.zk_version)
        assert known == (state.leader, state.leader_epoch, state.isr, state.version), f"{broker_id} of {partition}"
        replicas = topics[partition.topic].partitions[partition.partition].replicas
        if broker_id in replicas and partition not in broker.failed and not _is_stopping(cluster, broker_id):
            order = broker.replicas.get(partition)
            assert order is not None, f"broker {broker_id} has no assignment of {partition}"
            assert order.leader == state.leader, f"broker {broker_id} believes in another leader of {partition}"
            assert order.leader_epoch == state.leader_epoch, f"broker {broker_id} is behind in {partition}"
            assert tuple(order.replicas) == replicas, f"{broker_id} knows other replicas of {partition}"
    assert {each.topic for each in broker.metadata} <= topics.keys(), f"broker {broker_id} knows topics that are gone"
    for partition, topic_id in broker.disk.folders.items():
        info = topics.get(partition.topic)
        if partition in broker.failed:
            continue
        assert info is not None, f"broker {broker_id} kept {partition} of a topic that is gone"
        assert info.topic_id == topic_id, f"broker {broker_id} kept {partition} of an earlier topic"
        assert broker_id in info.partitions[partition.partition].replicas, f"broker {broker_id} kept {partition}"


def _is_stopping(cluster: MemoryCluster, broker_id: int) -> bool:
    assert cluster.controller is not None
    return broker_id in cluster.controller._components.machines.context.stopping
