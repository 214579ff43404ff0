"""CreateTopics and DeleteTopics."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.designs.quorum.controller import placing
from fencepost.cluster_impl.designs.quorum.controller.topics import create_topics, delete_topics
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.controller_model import Model

Creatable = m.CreateTopicsRequest.CreatableTopic


@pytest.fixture
def model() -> Model:
    model = Model()
    model.join(4, 5, 6)
    return model


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


def test_a_created_topic_is_led_by_its_first_replicas_at_leader_epoch_zero(model: Model) -> None:
    assert model.create(topic(partitions=2, factor=3, min_insync_replicas="2")) == Error.NONE
    found = model.image.topics["t"]
    assert model.image.config_of("t") == {"min.insync.replicas": "2"}
    for partition in model.image.partitions[found.id].values():
        assert partition.leader == partition.replicas[0]
        assert partition.isr == partition.replicas
        assert (partition.leader_epoch, partition.leader_term_epoch) == (0, 0)


def test_replicas_are_placed_as_assigned(model: Model) -> None:
    assert model.create(assigned([6, 4, 5], [5, 6, 4])) == Error.NONE
    found = model.image.partitions[model.image.topics["t"].id]
    assert [found[0].replicas, found[1].replicas] == [(6, 4, 5), (5, 6, 4)]


def test_partitions_and_factor_of_minus_one_take_the_defaults(model: Model) -> None:
    assert model.create(topic(partitions=-1, factor=-1)) == Error.NONE
    assert model.partition("t").replicas == (4,)


def test_a_registered_replica_that_is_not_active_starts_outside_the_isr(model: Model) -> None:
    model.now += 5
    for broker in (4, 5):
        model.join(broker)
    model.now += 5
    model.end_leases()
    assert model.create(assigned([6, 4])) == Error.INVALID_REPLICA_ASSIGNMENT
    model.join(6)
    assert model.create(assigned([6, 4])) == Error.NONE


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (topic(""), Error.INVALID_TOPIC_EXCEPTION),
        (topic("."), Error.INVALID_TOPIC_EXCEPTION),
        (topic("a/b"), Error.INVALID_TOPIC_EXCEPTION),
        (topic("t\n"), Error.INVALID_TOPIC_EXCEPTION),
        (topic("x" * 250), Error.INVALID_TOPIC_EXCEPTION),
        (topic("__kafka_metadata"), Error.INVALID_TOPIC_EXCEPTION),
        (topic("__cluster_metadata"), Error.INVALID_TOPIC_EXCEPTION),
        (topic("there"), Error.TOPIC_ALREADY_EXISTS),
        (topic(partitions=0), Error.INVALID_PARTITIONS),
        (topic(factor=0), Error.INVALID_REPLICATION_FACTOR),
        (topic(factor=4), Error.INVALID_REPLICATION_FACTOR),
        (topic(retention_ms="-2"), Error.INVALID_CONFIG),
        (topic(cleanup_policy="shrink"), Error.INVALID_CONFIG),
        (topic(min_cleanable_dirty_ratio="2"), Error.INVALID_CONFIG),
        (topic(preallocate="true"), Error.INVALID_CONFIG),
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
def test_a_topic_that_cannot_be_is_refused_and_changes_nothing(model: Model, asked: Creatable, error: Error) -> None:
    assert model.create(topic("there")) == Error.NONE
    written = len(model.log)
    assert model.create(asked) == error
    assert len(model.log) == written


def answers(model: Model, *wanted: Creatable, validate_only: bool = False) -> list[int]:
    """Return the error codes of one request for all of them, which is only validated."""
    request = m.CreateTopicsRequest(topics=list(wanted), validate_only=validate_only)
    outcome = create_topics(model.state, request, model.now, TopicDefaults(partitions=6, replication_factor=1), uuid4)
    return [result.error_code for result in outcome.reply.topics]


def test_a_request_may_make_ten_thousand_partitions_in_all(model: Model) -> None:
    assert answers(model, topic("a", partitions=9_994), topic("b", partitions=-1)) == [Error.NONE, Error.NONE]


@pytest.mark.parametrize("validate_only", [False, True])
def test_a_request_for_more_is_refused_as_a_whole_before_anything_is_placed(
    model: Model, validate_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "place_as_neighbours", lambda *_: pytest.fail("placed"))
    asked = [topic("a", partitions=9_994), topic("b", partitions=-1), assigned([4]), topic("c", partitions=-7)]
    assert answers(model, *asked, validate_only=validate_only) == [Error.POLICY_VIOLATION] * 4
    assert answers(model, topic("huge", partitions=2**31 - 1)) == [Error.POLICY_VIOLATION]


def test_validate_only_answers_and_writes_nothing(model: Model) -> None:
    written = len(model.log)
    assert model.create(topic(), validate_only=True) == Error.NONE
    assert len(model.log) == written


def test_leaders_go_round_the_brokers_over_topics_and_partitions(model: Model) -> None:
    for number in range(3):
        assert model.create(topic(f"t{number}", partitions=2, factor=2)) == Error.NONE
    leaders = [partition.leader for partition in model.image.all_partitions()]
    assert leaders == [4, 5, 6, 4, 5, 6]


@pytest.mark.requirement("K631-68")
def test_a_topic_is_deleted_by_name_or_by_id_with_all_that_belongs_to_it(model: Model) -> None:
    State = m.DeleteTopicsRequest.DeleteTopicState
    for name in ("a", "b", "c"):
        assert model.create(topic(name, min_insync_replicas="1")) == Error.NONE
    by_id = model.image.topics["b"].id
    reply = model.run(delete_topics(model.state, m.DeleteTopicsRequest(topic_names=["a", "absent"]), version=5))
    assert [result.error_code for result in reply.responses] == [Error.NONE, Error.UNKNOWN_TOPIC_OR_PARTITION]
    twice = m.DeleteTopicsRequest(topics=[State(topic_id=by_id), State(name="b"), State(topic_id=UUID(int=99))])
    reply = model.run(delete_topics(model.state, twice, version=6))
    assert [result.error_code for result in reply.responses] == [
        Error.INVALID_REQUEST, Error.INVALID_REQUEST, Error.UNKNOWN_TOPIC_ID
    ]  # fmt: skip
    model.complete_deletions()
    assert list(model.image.topics) == ["b", "c"]
    request = m.DeleteTopicsRequest(topics=[State(topic_id=by_id)])
    assert model.run(delete_topics(model.state, request, version=6)).responses[0].error_code == Error.NONE
    model.complete_deletions()
    assert list(model.image.topics) == ["c"]
    assert list(model.image.topic_configs) == ["c"]
    assert {partition.topic_id for partition in model.image.all_partitions()} == {model.image.topics["c"].id}


@pytest.mark.requirement("K631-62")
def test_a_topic_that_is_being_deleted_keeps_its_name_and_is_changed_no_more(model: Model) -> None:
    doomed = model.topic("t", 4, 5)
    request = m.DeleteTopicsRequest(topic_names=["t"])
    assert model.run(delete_topics(model.state, request, version=5)).responses[0].error_code == Error.NONE
    assert model.log[-1] == m.TopicRecord(name="t", topic_id=doomed.topic_id, deleting=True)
    assert model.create(topic("t")) == Error.TOPIC_ALREADY_EXISTS
    reply = model.alter_isr(4, model.epoch(4), "t", doomed.leader_epoch, [4], doomed.leader_epoch)
    assert reply.topics[0].partitions[0].error_code == Error.UNKNOWN_TOPIC_OR_PARTITION
    assert model.run(delete_topics(model.state, request, version=5)).responses[0].error_code == Error.NONE
    model.complete_deletions()
    assert model.log[-1] == m.DeleteTopicRecord(name=doomed.topic_id)
    assert model.create(topic("t")) == Error.NONE


@pytest.mark.requirement("D631-32")
def test_replicas_of_a_new_topic_are_spread_over_racks() -> None:
    model = Model()
    model.join(4, 5, 6)
    for broker, rack in {4: "a", 5: "a", 6: "b"}.items():
        model.state.image.brokers[broker] = replace(model.image.brokers[broker], rack=rack)
    assert model.create(topic(partitions=3, factor=2)) == Error.NONE
    found = model.image.partitions[model.image.topics["t"].id]
    assert [found[index].replicas for index in range(3)] == [(4, 6), (5, 6), (6, 4)]


def test_two_topics_do_not_differ_in_dots_and_underscores_only(model: Model) -> None:
    assert model.create(topic("a_b")) == Error.NONE
    assert model.create(topic("a.b")) == Error.INVALID_TOPIC_EXCEPTION
    assert model.create(topic("a-b")) == Error.NONE
