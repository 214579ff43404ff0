from __future__ import annotations

import pytest

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.shared.topic_requests import MAX_PARTITIONS
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.zk_controller.controller.invariants import check_settled
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import MemoryCluster

Topic = m.CreateTopicsRequest.CreatableTopic
Assignment = m.CreateTopicsRequest.CreatableReplicaAssignment
Config = m.CreateTopicsRequest.CreatableTopicConfig
Result = m.CreateTopicsResponse.CreatableTopicResult


@pytest.fixture
def cluster() -> MemoryCluster:
    cluster = MemoryCluster(brokers=(1, 2, 3), topic_defaults=TopicDefaults(2, 3))
    cluster.elect()
    cluster.add_topic("old_one", (1,))
    cluster.settle()
    return cluster


def create(cluster: MemoryCluster, *topics: m.CreateTopicsRequest.CreatableTopic, check: bool = False) -> list[Result]:
    [answer] = cluster.ask(m.CreateTopicsRequest(topics=list(topics), validate_only=check), version=7)
    cluster.settle()
    assert isinstance(answer, m.CreateTopicsResponse)
    return answer.topics


def simple(name: str, partitions: int = 1, factor: int = 1, **config: str) -> m.CreateTopicsRequest.CreatableTopic:
    configs = [Config(name=key.replace("_", "."), value=value) for key, value in config.items()]
    return Topic(name=name, num_partitions=partitions, replication_factor=factor, configs=configs)


def assigned(name: str, *layout: tuple[int, ...]) -> m.CreateTopicsRequest.CreatableTopic:
    assignments = [Assignment(partition_index=at, broker_ids=list(each)) for at, each in enumerate(layout)]
    return Topic(name=name, num_partitions=-1, replication_factor=-1, assignments=assignments)


def test_a_topic_is_written_led_and_answered(cluster: MemoryCluster) -> None:
    [result] = create(cluster, simple("t", 3, 2, min_insync_replicas="2"))
    assert (result.error_code, result.num_partitions, result.replication_factor) == (Error.NONE, 3, 2)
    assert [(each.name, each.value) for each in result.configs or []] == [("min.insync.replicas", "2")]
    info = znodes.read_topic("t", cluster.tree.data(znodes.topic("t")))
    assert info.topic_id == result.topic_id
    assert config_znodes.read_topic_config("t", cluster.tree.data(config_znodes.topic_config("t"))) == {
        "min.insync.replicas": "2"
    }
    assert len({cluster.state(f"t-{at}").leader for at in range(3)}) == 3
    check_settled(cluster)


def test_a_topic_that_leaves_its_size_open_gets_the_defaults(cluster: MemoryCluster) -> None:
    [result] = create(cluster, simple("t", -1, -1))
    assert (result.num_partitions, result.replication_factor) == (2, 3)


def test_a_topic_goes_where_it_is_assigned(cluster: MemoryCluster) -> None:
    create(cluster, assigned("t", (3, 1), (2, 3)))
    assert cluster.assignment("t-0").replicas == (3, 1)
    assert cluster.state("t-1").leader == 2


def test_settings_that_an_earlier_topic_left_are_not_inherited(cluster: MemoryCluster) -> None:
    cluster.tree.create(config_znodes.topic_config("t"), config_znodes.write_config({"min.insync.replicas": "3"}))
    create(cluster, simple("t"))
    assert config_znodes.read_topic_config("t", cluster.tree.data(config_znodes.topic_config("t"))) == {}


@pytest.mark.parametrize(
    ("topic", "error"),
    [
        (simple(""), Error.INVALID_TOPIC_EXCEPTION),
        (simple(".."), Error.INVALID_TOPIC_EXCEPTION),
        (simple("a/b"), Error.INVALID_TOPIC_EXCEPTION),
        (simple("x" * 250), Error.INVALID_TOPIC_EXCEPTION),
        (simple("old.one"), Error.INVALID_TOPIC_EXCEPTION),
        (simple("old_one"), Error.TOPIC_ALREADY_EXISTS),
        (simple("t", partitions=0), Error.INVALID_PARTITIONS),
        (simple("t", factor=0), Error.INVALID_REPLICATION_FACTOR),
        (simple("t", factor=4), Error.INVALID_REPLICATION_FACTOR),
        (simple("t", compression_type="zstd"), Error.INVALID_CONFIG),
        (simple("t", min_insync_replicas="x"), Error.INVALID_CONFIG),
        (simple("t", unclean_leader_election_enable="maybe"), Error.INVALID_CONFIG),
        (assigned("t", (1, 9)), Error.INVALID_REPLICA_ASSIGNMENT),
        (assigned("t", (1, 1)), Error.INVALID_REPLICA_ASSIGNMENT),
        (assigned("t", ()), Error.INVALID_REPLICA_ASSIGNMENT),
        (assigned("t", (1, 2), (1,)), Error.INVALID_REPLICA_ASSIGNMENT),
        (
            Topic(
                name="t",
                num_partitions=1,
                replication_factor=-1,
                assignments=[Assignment(partition_index=0, broker_ids=[1])],
            ),
            Error.INVALID_REQUEST,
        ),
        (
            Topic(
                name="t",
                num_partitions=-1,
                replication_factor=-1,
                assignments=[Assignment(partition_index=1, broker_ids=[1])],
            ),
            Error.INVALID_REPLICA_ASSIGNMENT,
        ),
    ],
)
def test_a_topic_that_cannot_be_is_refused_and_changes_nothing(
    cluster: MemoryCluster, topic: m.CreateTopicsRequest.CreatableTopic, error: Error
) -> None:
    before = cluster.tree.zxid
    [result] = create(cluster, topic)
    assert result.error_code == error
    assert result.error_message
    assert cluster.tree.zxid == before


def test_each_topic_of_a_request_is_judged_for_itself(cluster: MemoryCluster) -> None:
    results = create(cluster, simple("a"), simple("t", 0), simple("b"), simple("t"), simple("c"))
    assert [(each.name, each.error_code) for each in results] == [
        ("a", Error.NONE),
        ("t", Error.INVALID_REQUEST),
        ("b", Error.NONE),
        ("t", Error.INVALID_REQUEST),
        ("c", Error.NONE),
    ]
    assert cluster.tree.names(znodes.TOPICS) == ["a", "b", "c", "old_one"]


def test_a_request_for_more_partitions_than_one_may_make_is_refused_as_a_whole(cluster: MemoryCluster) -> None:
    before = cluster.tree.zxid
    for topics in (
        [simple("a", MAX_PARTITIONS + 1)],
        [simple("a", MAX_PARTITIONS), simple("b")],
        [simple("a", MAX_PARTITIONS - 1), simple("b", -1, -1)],
        [simple("a", MAX_PARTITIONS), assigned("b", (1,))],
        [simple("a", 2**31 - 1), simple("b", 2**31 - 1)],
    ):
        results = create(cluster, *topics)
        assert [each.error_code for each in results] == [Error.POLICY_VIOLATION] * len(topics)
        assert all(each.error_message for each in results)
    assert cluster.tree.zxid == before


def test_a_topic_that_cannot_be_does_not_count(cluster: MemoryCluster) -> None:
    results = create(cluster, simple("a", MAX_PARTITIONS, factor=9), simple("b", -7), check=True)
    assert [each.error_code for each in results] == [Error.INVALID_REPLICATION_FACTOR, Error.INVALID_PARTITIONS]


def test_a_request_may_make_as_many_partitions_as_that(cluster: MemoryCluster) -> None:
    results = create(cluster, simple("a", MAX_PARTITIONS - 1, 3), simple("b"), check=True)
    assert [each.error_code for each in results] == [Error.NONE, Error.NONE]


def test_a_topic_whose_znode_zookeeper_would_not_take_is_refused() -> None:
    cluster = MemoryCluster(brokers=range(2_000_000_000, 2_000_000_010))
    cluster.elect()
    before = cluster.tree.zxid
    [result] = create(cluster, simple("a", MAX_PARTITIONS, 10))
    assert result.error_code == Error.INVALID_PARTITIONS
    assert result.error_message
    assert cluster.tree.zxid == before


def test_a_topic_that_is_only_validated_is_not_created(cluster: MemoryCluster) -> None:
    before = cluster.tree.zxid
    [result] = create(cluster, simple("t", 2, 2), check=True)
    assert (result.error_code, result.num_partitions) == (Error.NONE, 2)
    assert cluster.tree.zxid == before


def test_a_topic_that_is_being_deleted_exists_still(cluster: MemoryCluster) -> None:
    cluster.kill(1)
    cluster.settle()
    cluster.delete_topic("old_one")
    cluster.settle()
    [result] = create(cluster, simple("old_one"))
    assert result.error_code == Error.TOPIC_ALREADY_EXISTS


def test_a_topic_that_is_created_at_the_same_time_exists(cluster: MemoryCluster) -> None:
    cluster.add_topic("t", (2,))
    [result] = create(cluster, simple("t"))
    assert result.error_code == Error.TOPIC_ALREADY_EXISTS
    assert cluster.assignment("t-0").replicas == (2,)
    assert not cluster.tree.exists(config_znodes.topic_config("t"))


def test_a_request_to_a_deposed_controller_is_refused(cluster: MemoryCluster) -> None:
    cluster.tree.writes_left = 1
    [answer] = cluster.ask(m.CreateTopicsRequest(topics=[simple("t")]), version=7)
    assert isinstance(answer, m.CreateTopicsResponse)
    assert [each.error_code for each in answer.topics] == [Error.NOT_CONTROLLER]
