"""AlterPartitionReassignments and ListPartitionReassignments: state in, records out."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.quorum.controller.reassignment import list_reassignments
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.quorum.image import NO_LEADER, MetadataImage
from fencepost.cluster_impl.designs.quorum.snapshot_records import snapshot_records
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.records import decode_record, encode_record
from tests.cluster_impl.designs.quorum.controller_model import LEASE, Model


@pytest.fixture
def model() -> Model:
    model = Model()
    model.join(4, 5, 6, 7)
    model.topic("t", 4, 5)
    return model


def moving(
    model: Model, topics: list[tuple[str, list[int]]] | None = None
) -> list[tuple[list[int], list[int], list[int]]]:
    wanted = m.ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics
    request = m.ListPartitionReassignmentsRequest(
        topics=None if topics is None else [wanted(name=name, partition_indexes=each) for name, each in topics]
    )
    reply = model.run(list_reassignments(model.state, request))
    return [
        (each.replicas, each.adding_replicas, each.removing_replicas)
        for topic in reply.topics
        for each in topic.partitions
    ]


@pytest.mark.requirement("K631-63", "D631-70")
def test_a_reassignment_begins_with_both_sets_of_replicas_and_the_old_isr(model: Model) -> None:
    before = model.partition("t")
    assert model.reassign("t", [6, 7]) == Error.NONE
    after = model.partition("t")
    assert (after.replicas, after.adding, after.removing) == ((6, 7, 4, 5), (6, 7), (4, 5))
    assert (after.isr, after.leader) == (before.isr, before.leader)
    assert after.leader_epoch == before.leader_epoch + 1
    assert after.leader_term_epoch == before.leader_term_epoch
    assert moving(model) == [([6, 7, 4, 5], [6, 7], [4, 5])]


@pytest.mark.requirement("K631-63", "D631-70")
def test_no_replica_is_removed_before_every_target_replica_is_in_sync(model: Model) -> None:
    model.reassign("t", [6, 7])
    model.joins_isr("t", 6)
    assert model.partition("t").replicas == (6, 7, 4, 5)
    epoch = model.partition("t").leader_epoch
    model.joins_isr("t", 7)
    after = model.partition("t")
    assert (after.replicas, after.adding, after.removing) == ((6, 7), (), ())
    assert (set(after.isr), after.leader) == ({6, 7}, 6)
    assert after.leader_epoch == epoch + 2, "one for the ISR, one for the replicas"
    assert after.leader_term_epoch == after.leader_epoch
    assert moving(model) == []


def test_a_leader_that_stays_goes_on_leading(model: Model) -> None:
    model.reassign("t", [6, 4])
    model.joins_isr("t", 6)
    after = model.partition("t")
    assert (after.replicas, after.leader, set(after.isr)) == ((6, 4), 4, {4, 6})
    assert after.leader_term_epoch == 0


def test_another_order_of_the_same_replicas_needs_no_catch_up(model: Model) -> None:
    assert model.reassign("t", [5, 4]) == Error.NONE
    after = model.partition("t")
    assert (after.replicas, after.leader, after.removing) == ((5, 4), 4, ())
    log = len(model.log)
    assert model.reassign("t", [5, 4]) == Error.NONE
    assert len(model.log) == log, "a repeated request changes nothing"


def test_fewer_replicas_that_are_all_in_sync_remain_at_once(model: Model) -> None:
    assert model.reassign("t", [5]) == Error.NONE
    after = model.partition("t")
    assert (after.replicas, after.isr, after.leader, after.removing) == ((5,), (5,), 5, ())


def test_a_removed_replica_cannot_come_back_by_a_late_change_of_the_isr(model: Model) -> None:
    model.reassign("t", [4, 6])
    late = model.partition("t")
    model.joins_isr("t", 6)
    reply = model.alter_isr(4, model.epoch(4), "t", late.leader_epoch, [4, 5, 6], late.leader_epoch)
    assert reply.topics[0].partitions[0].error_code == Error.INVALID_UPDATE_VERSION
    assert model.partition("t").replicas == (4, 6)


def test_a_cancelled_reassignment_drops_the_added_replicas_also_from_the_isr(model: Model) -> None:
    model.reassign("t", [6, 7])
    model.joins_isr("t", 6)
    assert model.reassign("t", None) == Error.NONE
    after = model.partition("t")
    assert (set(after.replicas), set(after.isr), after.leader) == ({4, 5}, {4, 5}, 4)
    assert (after.adding, after.removing) == ((), ())
    assert model.reassign("t", None) == Error.NO_REASSIGNMENT_IN_PROGRESS


def test_an_added_replica_that_leads_hands_over_when_the_reassignment_is_cancelled(model: Model) -> None:
    model.reassign("t", [6, 7])
    model.joins_isr("t", 6)
    for broker in (4, 5):
        model.leave(broker)
    assert model.partition("t").leader == 6
    assert model.partition("t").isr == (6,)
    assert model.reassign("t", None) == Error.INVALID_REPLICA_ASSIGNMENT, "only 6 has every record"
    model.join(5)
    model.joins_isr("t", 5)
    assert model.reassign("t", None) == Error.NONE
    assert (model.partition("t").isr, model.partition("t").leader) == ((5,), 5)


def test_another_target_replaces_the_one_before(model: Model) -> None:
    model.reassign("t", [6, 4])
    assert model.reassign("t", [7, 5]) == Error.NONE
    after = model.partition("t")
    assert (after.replicas, after.adding, after.removing) == ((7, 5, 4), (7,), (4,))
    model.joins_isr("t", 7)
    assert model.partition("t").replicas == (7, 5)


def test_a_reassignment_survives_the_death_of_a_target_broker(model: Model) -> None:
    model.reassign("t", [6, 7])
    model.joins_isr("t", 6)
    model.now += LEASE / 2
    for broker in (4, 5, 6):
        model.heartbeat(broker, FenceState.ACTIVE, model.epoch(broker))
    model.now += LEASE / 2 + 0.1
    model.end_leases()
    assert 7 not in model.image.brokers
    assert model.partition("t").replicas == (6, 7, 4, 5)
    model.join(7)
    model.joins_isr("t", 7)
    assert model.partition("t").replicas == (6, 7)


def test_a_replica_that_stays_and_is_away_holds_up_no_addition(model: Model) -> None:
    model.leave(5)
    model.reassign("t", [4, 5, 6])
    model.joins_isr("t", 6)
    assert (model.partition("t").replicas, model.partition("t").adding) == ((4, 5, 6), ())


def test_a_replica_that_is_in_sync_does_not_go_before_one_that_stays_is_back(model: Model) -> None:
    model.leave(5)
    model.reassign("t", [6, 5])
    model.joins_isr("t", 6)
    assert model.partition("t").removing == (4,)
    model.join(5)
    model.joins_isr("t", 5)
    assert (model.partition("t").replicas, model.partition("t").leader) == ((6, 5), 6)


def test_a_reassignment_goes_on_when_its_leader_dies(model: Model) -> None:
    model.reassign("t", [6, 7])
    model.joins_isr("t", 6)
    model.leave(4)
    assert model.partition("t").leader in (5, 6)
    model.joins_isr("t", 7)
    assert (model.partition("t").replicas, model.partition("t").leader) == ((6, 7), 6)


def test_replicas_stay_while_none_of_the_target_can_lead(model: Model) -> None:
    model.reassign("t", [6])
    epoch = model.epoch(6)
    model.joins_isr("t", 6)
    assert model.partition("t").replicas == (6,)
    model.reassign("t", [4])
    model.heartbeat(4, FenceState.FENCED, model.epoch(4))  # a new epoch: not active yet
    partition = model.partition("t")
    assert partition.leader == 6
    assert partition.replicas == (4, 6)
    assert epoch == model.epoch(6)


def test_a_snapshot_and_a_copy_carry_a_reassignment_under_way(model: Model) -> None:
    model.reassign("t", [6, 7])
    model.joins_isr("t", 6)
    loaded = MetadataImage()
    values = [encode_record(record) for record in snapshot_records(model.image)]
    loaded.load((decode_record(value) for value in values), model.state.end_offset)  # type: ignore[misc]
    assert loaded.partitions == model.image.partitions
    assert loaded.reassigned == model.image.copy().reassigned == model.image.reassigned != {}


def test_a_deleted_topic_is_no_longer_reassigned(model: Model) -> None:
    model.reassign("t", [6, 7])
    model.delete("t")
    assert moving(model) == []
    assert model.image.reassigned == {}


@pytest.mark.parametrize(
    ("replicas", "error"),
    [
        ([], Error.INVALID_REPLICA_ASSIGNMENT),
        ([4, 4], Error.INVALID_REPLICA_ASSIGNMENT),
        ([4, -1], Error.INVALID_REPLICA_ASSIGNMENT),
        ([4, 9], Error.INVALID_REPLICA_ASSIGNMENT),
        (None, Error.NO_REASSIGNMENT_IN_PROGRESS),
    ],
)
def test_a_target_that_no_broker_can_hold_is_refused(model: Model, replicas: list[int] | None, error: Error) -> None:
    log = len(model.log)
    assert model.reassign("t", replicas) == error
    assert len(model.log) == log


def test_the_number_of_replicas_changes_only_if_the_request_allows_it(model: Model) -> None:
    assert model.reassign("t", [4, 5, 6], same_factor=True) == Error.INVALID_REPLICATION_FACTOR
    assert model.reassign("t", [4, 5, 6]) == Error.NONE
    assert model.reassign("nothing", [4]) == Error.UNKNOWN_TOPIC_OR_PARTITION


def test_only_the_partitions_that_are_asked_for_are_listed(model: Model) -> None:
    model.topic("u", 4)
    model.reassign("t", [6, 7])
    model.reassign("u", [5])
    assert len(moving(model)) == 2
    assert moving(model, [("t", [0, 1]), ("gone", [0])]) == [([6, 7, 4, 5], [6, 7], [4, 5])]
    assert moving(model, []) == []
    assert model.partition("u").leader != NO_LEADER
