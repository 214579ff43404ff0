"""CreateTopics and DeleteTopics."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from cluster_impl.designs.quorum.controller import topics
from cluster_impl.designs.quorum.controller.placement import place
from cluster_impl.designs.quorum.controller.topics import TopicDefaults, create_topics, delete_topics
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.world import World

Creatable = m.CreateTopicsRequest.CreatableTopic


@pytest.fixture
def world() -> World:
    world = World()
    world.join(4, 5, 6)
    return world


def topic(name: str = "t", partitions: int = 1, factor: int = 1, **config: str) -> Creatable:
    configs = [
        m.CreateTopicsRequest.CreatableTopicConfig(name=key.replace("_", "."), value=value)
        for key, value in config.items()
    ]
    return Creatable(name=name, num_partitions=partitions, replication_factor=factor, configs=configs)


def assigned(*layout: list[int], partitions: int = -1, numbers: list[int] | None = None) -> Creatable:
    assignments = [
        m.CreateTopicsRequest.CreatableReplicaAssignment(partition_index=index, broker_ids=replicas)
        for index, replicas in zip(numbers or range(len(layout)), layout, strict=True)
    ]
    return Creatable(name="t", num_partitions=partitions, replication_factor=-1, assignments=assignments)


def test_a_created_topic_is_led_by_its_first_replicas_at_leader_epoch_zero(world: World) -> None:
    assert world.create(topic(partitions=2, factor=3, min_insync_replicas="2")) == Error.NONE
    found = world.image.topics["t"]
    assert world.image.config_of("t") == {"min.insync.replicas": "2"}
    for partition in world.image.partitions[found.id].values():
        assert partition.leader == partition.replicas[0]
        assert partition.isr == partition.replicas
        assert (partition.leader_epoch, partition.tenure_epoch) == (0, 0)


def test_replicas_are_placed_as_assigned(world: World) -> None:
    assert world.create(assigned([6, 4, 5], [5, 6, 4])) == Error.NONE
    found = world.image.partitions[world.image.topics["t"].id]
    assert [found[0].replicas, found[1].replicas] == [(6, 4, 5), (5, 6, 4)]


def test_partitions_and_factor_of_minus_one_take_the_defaults(world: World) -> None:
    assert world.create(topic(partitions=-1, factor=-1)) == Error.NONE
    assert world.partition("t").replicas == (4,)


def test_a_registered_replica_that_is_not_active_starts_outside_the_isr(world: World) -> None:
    world.now += 5
    for broker in (4, 5):
        world.join(broker)
    world.now += 5
    world.end_leases()
    assert world.create(assigned([6, 4])) == Error.INVALID_REPLICA_ASSIGNMENT
    world.join(6)
    assert world.create(assigned([6, 4])) == Error.NONE


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (topic(""), Error.INVALID_TOPIC_EXCEPTION),
        (topic("."), Error.INVALID_TOPIC_EXCEPTION),
        (topic("a/b"), Error.INVALID_TOPIC_EXCEPTION),
        (topic("t\n"), Error.INVALID_TOPIC_EXCEPTION),
        (topic("x" * 250), Error.INVALID_TOPIC_EXCEPTION),
        (topic("__kafka_metadata"), Error.INVALID_TOPIC_EXCEPTION),
        (topic("there"), Error.TOPIC_ALREADY_EXISTS),
        (topic(partitions=0), Error.INVALID_PARTITIONS),
        (topic(factor=0), Error.INVALID_REPLICATION_FACTOR),
        (topic(factor=4), Error.INVALID_REPLICATION_FACTOR),
        (topic(retention_ms="1"), Error.INVALID_CONFIG),
        (topic(cleanup_policy="compact"), Error.INVALID_CONFIG),
        (topic(min_insync_replicas="0"), Error.INVALID_CONFIG),
        (topic(min_insync_replicas="two"), Error.INVALID_CONFIG),
        (assigned([4], partitions=1), Error.INVALID_REQUEST),
        (assigned([]), Error.INVALID_REPLICA_ASSIGNMENT),
        (assigned([4, 4]), Error.INVALID_REPLICA_ASSIGNMENT),
        (assigned([4, 9]), Error.INVALID_REPLICA_ASSIGNMENT),
        (assigned([4, 5], [6]), Error.INVALID_REPLICA_ASSIGNMENT),
        (assigned([4], numbers=[1]), Error.INVALID_REPLICA_ASSIGNMENT),
        (assigned([4], [5], numbers=[0, 0]), Error.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_a_topic_that_cannot_be_is_refused_and_changes_nothing(world: World, asked: Creatable, error: Error) -> None:
    assert world.create(topic("there")) == Error.NONE
    written = len(world.log)
    assert world.create(asked) == error
    assert len(world.log) == written


def answers(world: World, *wanted: Creatable, validate_only: bool = False) -> list[int]:
    """The error codes of one request for all of them, which is decided and not written."""
    request = m.CreateTopicsRequest(topics=list(wanted), validate_only=validate_only)
    outcome = create_topics(world.state, request, world.now, TopicDefaults(partitions=6, replication_factor=1), uuid4)
    return [result.error_code for result in outcome.reply.topics]


def test_a_request_may_make_ten_thousand_partitions_in_all(world: World) -> None:
    assert answers(world, topic("a", partitions=9_994), topic("b", partitions=-1)) == [Error.NONE, Error.NONE]


@pytest.mark.parametrize("validate_only", [False, True])
def test_a_request_for_more_is_refused_as_a_whole_before_anything_is_placed(
    world: World, validate_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "place", lambda *_: pytest.fail("placed"))
    asked = [topic("a", partitions=9_994), topic("b", partitions=-1), assigned([4]), topic("c", partitions=-7)]
    assert answers(world, *asked, validate_only=validate_only) == [Error.POLICY_VIOLATION] * 4
    assert answers(world, topic("huge", partitions=2**31 - 1)) == [Error.POLICY_VIOLATION]


def test_validate_only_answers_and_writes_nothing(world: World) -> None:
    written = len(world.log)
    assert world.create(topic(), validate_only=True) == Error.NONE
    assert len(world.log) == written


def test_leaders_go_round_the_brokers_over_topics_and_partitions(world: World) -> None:
    for number in range(3):
        assert world.create(topic(f"t{number}", partitions=2, factor=2)) == Error.NONE
    leaders = [partition.leader for partition in world.image.all_partitions()]
    assert leaders == [4, 5, 6, 4, 5, 6]


def test_placement_takes_neighbours_on_the_ring_of_sorted_ids() -> None:
    assert place([6, 4, 5], partitions=3, replication_factor=2, start=1) == [[5, 6], [6, 4], [4, 5]]


@pytest.mark.requirement("K631-68")
def test_a_topic_is_deleted_by_name_or_by_id_with_all_that_belongs_to_it(world: World) -> None:
    State = m.DeleteTopicsRequest.DeleteTopicState
    for name in ("a", "b", "c"):
        assert world.create(topic(name, min_insync_replicas="1")) == Error.NONE
    by_id = world.image.topics["b"].id
    reply = world.run(delete_topics(world.state, m.DeleteTopicsRequest(topic_names=["a", "absent"]), version=5))
    assert [result.error_code for result in reply.responses] == [Error.NONE, Error.UNKNOWN_TOPIC_OR_PARTITION]
    request = m.DeleteTopicsRequest(topics=[State(topic_id=by_id), State(topic_id=by_id), State(topic_id=UUID(int=99))])
    reply = world.run(delete_topics(world.state, request, version=6))
    assert [result.error_code for result in reply.responses] == [
        Error.NONE, Error.INVALID_REQUEST, Error.UNKNOWN_TOPIC_ID
    ]  # fmt: skip
    assert list(world.image.topics) == ["c"]
    assert list(world.image.topic_configs) == ["c"]
    assert {partition.topic_id for partition in world.image.all_partitions()} == {world.image.topics["c"].id}
