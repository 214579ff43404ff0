"""CreatePartitions: state in, records out."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.quorum.controller.create_partitions import create_partitions
from fencepost.cluster_impl.designs.quorum.controller.leases import Leases
from fencepost.cluster_impl.designs.quorum.controller.placing import NotHeardYet
from fencepost.cluster_impl.designs.shared.topic_requests import MAX_PARTITIONS
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.controller_model import LEASE, Model

More = m.CreatePartitionsRequest.CreatePartitionsTopic


@pytest.fixture
def model() -> Model:
    model = Model()
    model.join(4, 5, 6)
    model.topic("t", 4, 5)
    return model


def more(count: int, *assigned: list[int], name: str = "t") -> More:
    replicas = m.CreatePartitionsRequest.CreatePartitionsAssignment
    return More(name=name, count=count, assignments=[replicas(broker_ids=each) for each in assigned] or None)


def create(model: Model, *topics: More, validate_only: bool = False) -> list[int]:
    request = m.CreatePartitionsRequest(topics=list(topics), validate_only=validate_only)
    return [each.error_code for each in model.run(create_partitions(model.state, request, model.now)).results]


def test_new_partitions_have_as_many_replicas_and_a_leader(model: Model) -> None:
    assert create(model, more(3)) == [Error.NONE]
    partitions = model.image.partitions[model.image.topics["t"].id]
    assert list(partitions) == [0, 1, 2]
    for index in (1, 2):
        assert len(set(partitions[index].replicas)) == 2
        assert partitions[index].leader == partitions[index].replicas[0]
        assert partitions[index].isr == partitions[index].replicas
    assert partitions[1].leader != partitions[2].leader


def test_replicas_are_placed_as_assigned(model: Model) -> None:
    assert create(model, more(3, [6, 4], [5, 6])) == [Error.NONE]
    partitions = model.image.partitions[model.image.topics["t"].id]
    assert [partitions[index].replicas for index in (1, 2)] == [(6, 4), (5, 6)]


def test_a_request_that_is_only_validated_changes_nothing(model: Model) -> None:
    log = len(model.log)
    assert create(model, more(3), validate_only=True) == [Error.NONE]
    assert len(model.log) == log


@pytest.mark.parametrize(
    ("topic", "error"),
    [
        (more(1), Error.INVALID_PARTITIONS),
        (more(0), Error.INVALID_PARTITIONS),
        (more(2, [4, 5], [5, 6]), Error.INVALID_REPLICA_ASSIGNMENT),
        (more(2, [4]), Error.INVALID_REPLICA_ASSIGNMENT),
        (more(2, [4, 4]), Error.INVALID_REPLICA_ASSIGNMENT),
        (more(2, [4, 9]), Error.INVALID_REPLICA_ASSIGNMENT),
        (more(2, name="nothing"), Error.UNKNOWN_TOPIC_OR_PARTITION),
        (more(MAX_PARTITIONS + 2), Error.POLICY_VIOLATION),
    ],
)
def test_what_cannot_be_added_is_refused(model: Model, topic: More, error: Error) -> None:
    log = len(model.log)
    assert create(model, topic) == [error]
    assert len(model.log) == log


def test_a_topic_that_is_named_twice_is_refused_and_another_one_is_not(model: Model) -> None:
    model.topic("u", 6)
    assert create(model, more(2), more(3), more(2, name="u")) == [
        Error.INVALID_REQUEST,
        Error.INVALID_REQUEST,
        Error.NONE,
    ]


def test_partitions_that_a_reassignment_grows_do_not_change_the_factor(model: Model) -> None:
    model.reassign("t", [6, 5, 4])
    assert create(model, more(2)) == [Error.NONE]
    assert len(model.image.partitions[model.image.topics["t"].id][1].replicas) == 2


def test_a_new_controller_waits_for_brokers_that_it_has_not_heard(model: Model) -> None:
    model.state.leases = Leases(LEASE)
    model.state.leases.assume(model.image.brokers, model.state.stable_offset, model.now)
    with pytest.raises(NotHeardYet):
        create(model, more(2))
