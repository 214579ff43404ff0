"""CreatePartitions, ElectLeaders and reassignments by request; the same by znodes is in `test_admin_by_znodes`."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.znodes import PartitionReplicas
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.zk_controller.controller.invariants import check_settled
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import MemoryCluster, partition

pytestmark = pytest.mark.requirement("DINT-28")

More = m.CreatePartitionsRequest.CreatePartitionsTopic
PREFERRED, UNCLEAN = 0, 1


@pytest.fixture
def cluster() -> MemoryCluster:
    """t-0 on 1 and 2, t-1 on 2 and 1, of four brokers."""
    cluster = MemoryCluster(brokers=(1, 2, 3, 4))
    cluster.elect()
    cluster.add_topic("t", (1, 2), (2, 1))
    cluster.settle()
    return cluster


def add(cluster: MemoryCluster, *topics: More, check: bool = False) -> list[int]:
    [answer] = cluster.ask(m.CreatePartitionsRequest(topics=list(topics), validate_only=check), version=3)
    cluster.settle()
    assert isinstance(answer, m.CreatePartitionsResponse)
    return [each.error_code for each in answer.results]


def more(count: int, *assigned: list[int], name: str = "t") -> More:
    replicas = m.CreatePartitionsRequest.CreatePartitionsAssignment
    return More(name=name, count=count, assignments=[replicas(broker_ids=each) for each in assigned] or None)


def reassign(cluster: MemoryCluster, replicas: list[int] | None, *, same_factor: bool = False, index: int = 0) -> int:
    one = m.AlterPartitionReassignmentsRequest.ReassignablePartition(partition_index=index, replicas=replicas)
    topic = m.AlterPartitionReassignmentsRequest.ReassignableTopic(name="t", partitions=[one])
    request = m.AlterPartitionReassignmentsRequest(allow_replication_factor_change=not same_factor, topics=[topic])
    [answer] = cluster.ask(request, version=1)
    cluster.settle()
    assert isinstance(answer, m.AlterPartitionReassignmentsResponse)
    return answer.responses[0].partitions[0].error_code


def moving(cluster: MemoryCluster) -> list[tuple[list[int], list[int], list[int]]]:
    [answer] = cluster.ask(m.ListPartitionReassignmentsRequest())
    assert isinstance(answer, m.ListPartitionReassignmentsResponse)
    found = [each for topic in answer.topics for each in topic.partitions]
    return [(each.replicas, each.adding_replicas, each.removing_replicas) for each in found]


def elect(cluster: MemoryCluster, *indexes: int, kind: int = PREFERRED) -> list[int]:
    named = [m.ElectLeadersRequest.TopicPartitions(topic="t", partitions=list(indexes))] if indexes else None
    [answer] = cluster.ask(m.ElectLeadersRequest(election_type=kind, topic_partitions=named), version=2)
    cluster.settle()
    assert isinstance(answer, m.ElectLeadersResponse)
    if answer.error_code:
        return [answer.error_code]
    return [each.error_code for topic in answer.replica_election_results for each in topic.partition_result]


def test_added_partitions_are_written_and_led(cluster: MemoryCluster) -> None:
    assert add(cluster, more(4)) == [Error.NONE]
    info = znodes.read_topic("t", cluster.tree.data(znodes.topic("t")))
    assert sorted(info.partitions) == [0, 1, 2, 3]
    assert all(len(set(each.replicas)) == 2 for each in info.partitions.values())
    assert cluster.state("t-3").leader == info.partitions[3].replicas[0]
    assert add(cluster, more(5, [3, 4])) == [Error.NONE]
    assert cluster.assignment("t-4").replicas == (3, 4)
    check_settled(cluster)


@pytest.mark.parametrize(
    ("topic", "error"),
    [
        (more(2), Error.INVALID_PARTITIONS),
        (more(3, [1, 2], [3, 4]), Error.INVALID_REPLICA_ASSIGNMENT),
        (more(3, [1]), Error.INVALID_REPLICA_ASSIGNMENT),
        (more(3, [1, 9]), Error.INVALID_REPLICA_ASSIGNMENT),
        (more(3, name="gone"), Error.UNKNOWN_TOPIC_OR_PARTITION),
        (more(10_003), Error.POLICY_VIOLATION),
    ],
)
def test_partitions_that_cannot_be_added_are_refused(cluster: MemoryCluster, topic: More, error: Error) -> None:
    before = cluster.tree.data(znodes.topic("t"))
    assert add(cluster, topic) == [error]
    assert add(cluster, more(3), check=True) == [Error.NONE]
    assert cluster.tree.data(znodes.topic("t")) == before


def test_a_reassignment_by_request_waits_for_the_target_and_then_drops_the_rest(cluster: MemoryCluster) -> None:
    assert reassign(cluster, [3, 4]) == Error.NONE
    assert cluster.assignment("t-0") == PartitionReplicas((3, 4, 1, 2), adding=(3, 4), removing=(1, 2))
    assert moving(cluster) == [([3, 4, 1, 2], [3, 4], [1, 2])]
    assert not cluster.tree.exists(znodes.REASSIGN_PARTITIONS)
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((3, 4))
    assert cluster.state("t-0").leader == 3
    assert moving(cluster) == []
    check_settled(cluster)


def test_a_cancelled_reassignment_ends_with_the_replicas_before(cluster: MemoryCluster) -> None:
    assert reassign(cluster, None) == Error.NO_REASSIGNMENT_IN_PROGRESS
    reassign(cluster, [3, 4])
    assert partition("t-0") in cluster.brokers[3].disk.folders
    assert reassign(cluster, None) == Error.NONE
    after = cluster.assignment("t-0")
    assert (set(after.replicas), after.adding, after.removing) == ({1, 2}, (), ())
    assert partition("t-0") not in cluster.brokers[3].disk.folders
    assert moving(cluster) == []
    check_settled(cluster)


def test_a_request_replaces_what_the_znode_asks_for_also_at_the_next_controller(cluster: MemoryCluster) -> None:
    cluster.reassign({"t-0": (3, 4)})
    cluster.settle()
    assert reassign(cluster, [1, 4]) == Error.NONE
    assert not cluster.tree.exists(znodes.REASSIGN_PARTITIONS)
    cluster.resign()
    cluster.elect()
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((1, 4))
    check_settled(cluster)


def test_the_next_controller_continues_a_reassignment_by_request(cluster: MemoryCluster) -> None:
    reassign(cluster, [3, 4])
    cluster.resign()
    cluster.elect()
    cluster.settle()
    assert moving(cluster) == [([3, 4, 1, 2], [3, 4], [1, 2])]
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((3, 4))
    check_settled(cluster)


@pytest.mark.parametrize(
    ("replicas", "error"),
    [
        ([], Error.INVALID_REPLICA_ASSIGNMENT),
        ([1, 1], Error.INVALID_REPLICA_ASSIGNMENT),
        ([1, 9], Error.INVALID_REPLICA_ASSIGNMENT),
        ([1, 2, 3], Error.INVALID_REPLICATION_FACTOR),
    ],
)
def test_a_target_that_cannot_be_is_refused(cluster: MemoryCluster, replicas: list[int], error: Error) -> None:
    before = cluster.tree.data(znodes.topic("t"))
    assert reassign(cluster, replicas, same_factor=True) == error
    assert reassign(cluster, [1], index=7) == Error.UNKNOWN_TOPIC_OR_PARTITION
    assert cluster.tree.data(znodes.topic("t")) == before


def test_the_preferred_replica_is_elected_where_it_can_lead(cluster: MemoryCluster) -> None:
    assert elect(cluster, 0, 5) == [Error.ELECTION_NOT_NEEDED, Error.UNKNOWN_TOPIC_OR_PARTITION]
    cluster.bounce(1)
    cluster.settle()
    assert cluster.state("t-0").leader == 2
    assert elect(cluster, 0) == [Error.PREFERRED_LEADER_NOT_AVAILABLE]
    cluster.catch_up()
    cluster.settle()
    assert elect(cluster) == [Error.NONE]
    assert cluster.state("t-0").leader == 1
    assert elect(cluster) == []
    assert elect(cluster, 0, kind=2) == [Error.INVALID_REQUEST]
    check_settled(cluster)


def test_an_unclean_election_makes_a_replica_outside_the_isr_the_leader(cluster: MemoryCluster) -> None:
    assert elect(cluster, 0, kind=UNCLEAN) == [Error.ELECTION_NOT_NEEDED]
    cluster.kill(2)
    cluster.settle()
    cluster.kill(1)
    cluster.settle()
    assert cluster.state("t-0").isr == (1,)
    assert elect(cluster, 0, kind=UNCLEAN) == [Error.ELIGIBLE_LEADERS_NOT_AVAILABLE]
    cluster.start(2)
    cluster.settle()
    assert cluster.state("t-0").leader == -1
    assert elect(cluster, 0, kind=UNCLEAN) == [Error.NONE]
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (2, (2,))
