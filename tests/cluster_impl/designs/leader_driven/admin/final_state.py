"""The invariants of a cluster in which no command runs and no broker has work left."""

from __future__ import annotations

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.reading import read_topic
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.cluster_impl.designs.leader_driven.admin.model_cluster import ModelCluster


def check_final_state(model: ModelCluster) -> None:
    """Check that no znode is left over, and that the live brokers hold exactly their assigned replicas."""
    model.settle()
    tree = model.tree
    assert tree.names(znodes.ADMIN) == [], "a lock is left"
    assert tree.names(znodes.CLAIMS) == [], "a claim is left"
    assert set(tree.names(znodes.REASSIGNED)) <= set(tree.names(znodes.TOPICS)), "a topic that is gone is being moved"
    assigned: dict[int, set[TopicPartition]] = {broker_id: set() for broker_id in model.brokers}
    for name in tree.names(znodes.TOPICS):
        topic = tree.run(read_topic(name))
        assert sorted(topic.live) == list(range(len(topic.live))) != [], f"{name} has the partitions {topic.live}"
        assert topic.live == topic.partitions, f"{name} has a partition in the making"
        assert not any(each.marker for each in topic.live.values()), f"{name} is left under /partitions_reassigned"
        for index, each in topic.live.items():
            partition = TopicPartition(name, index)
            assert set(tree.names(znodes.partition(partition))) <= {"replicas", "leader", "ISR"}
            for broker_id in each.replicas or ():
                assigned[broker_id].add(partition)
            if any(model.brokers[broker_id].is_up for broker_id in each.replicas or ()):
                assert model.leader(partition) in (each.replicas or ()), f"{partition} has no leader"
    for broker in model.brokers.values():
        if broker.is_up:
            assert tree.names(znodes.state(broker.broker_id)) == [], f"broker {broker.broker_id} has requests left"
            assert broker.hosted == assigned[broker.broker_id], f"broker {broker.broker_id} holds {broker.hosted}"
