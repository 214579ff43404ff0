"""AlterIsr: the refusals in their order, and the records of an accepted change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import pytest

from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.controller_model import LEASE, Model


@dataclass(frozen=True)
class Ask:
    """A valid request to shrink the ISR of `t` to [4, 6]."""

    broker: int = 4
    broker_epoch_off_by: int = 0
    topic: str = "t"
    leader_epoch: int = 2
    isr: tuple[int, ...] = (4, 6)
    version: int = 2

    def send(self, model: Model) -> Error:
        epoch = model.epoch(self.broker) + self.broker_epoch_off_by
        reply = model.alter_isr(self.broker, epoch, self.topic, self.leader_epoch, list(self.isr), self.version)
        return Error(reply.error_code or reply.topics[0].partitions[0].error_code)


WRONG: list[tuple[Error, dict[str, object]]] = [
    (Error.STALE_BROKER_EPOCH, {"broker_epoch_off_by": -1}),
    (Error.UNKNOWN_TOPIC_OR_PARTITION, {"topic": "absent"}),
    (Error.NOT_CONTROLLER, {"leader_epoch": 3}),
    (Error.FENCED_LEADER_EPOCH, {"leader_epoch": 0}),
    (Error.INVALID_REQUEST, {"broker": 6}),
    (Error.INVALID_UPDATE_VERSION, {"version": 1}),
    (Error.INVALID_REQUEST, {"isr": (6,)}),
]
"""One error each, in the order in which they are checked."""


@pytest.fixture
def model() -> Model:
    """`t` has the replicas 5, 4, 6, all in sync; 4 leads it since leader epoch 1, and the leader epoch is 2."""
    model = Model()
    model.join(4, 5, 6)
    model.topic("t", 5, 4, 6)
    model.join(5)
    assert Ask(leader_epoch=1, isr=(4, 5, 6), version=1).send(model) == Error.NONE
    partition = model.partition("t")
    assert (partition.isr, partition.leader, partition.leader_epoch, partition.leader_term_epoch) == (
        (5, 4, 6),
        4,
        2,
        1,
    )
    return model


@pytest.mark.requirement("D631-17", "K631-65")
def test_an_accepted_change_is_one_record_and_its_leader_epoch_is_the_new_version(model: Model) -> None:
    reply = model.alter_isr(4, model.epoch(4), "t", 2, [4, 6], 2)
    answer = reply.topics[0].partitions[0]
    assert (answer.error_code, answer.leader_id, answer.leader_epoch, answer.current_isr_version) == (0, 4, 3, 3)
    assert answer.isr == [4, 6]
    partition = model.partition("t")
    assert (partition.isr, partition.leader, partition.leader_epoch, partition.leader_term_epoch) == ((4, 6), 4, 3, 1)


def test_within_a_leader_term_an_older_leader_epoch_is_accepted_if_the_version_is_current(
    model: Model,
) -> None:
    assert Ask(leader_epoch=1).send(model) == Error.NONE


@pytest.mark.parametrize(("error", "wrong"), WRONG)
@pytest.mark.requirement("D631-20")
def test_each_guard_refuses_with_its_error_and_changes_nothing(
    model: Model, error: Error, wrong: dict[str, object]
) -> None:
    written = len(model.log)
    assert replace(Ask(), **wrong).send(model) == error  # type: ignore[arg-type]  # fields by name
    assert len(model.log) == written


@pytest.mark.parametrize(
    ("earlier", "later"),
    [pair for pair in combinations(WRONG, 2) if not pair[0][1].keys() & pair[1][1].keys()],
    ids=lambda case: f"{case[0].name}-{next(iter(case[1]))}",
)
def test_a_request_that_is_wrong_twice_gets_the_error_of_the_earlier_guard(
    model: Model, earlier: tuple[Error, dict[str, object]], later: tuple[Error, dict[str, object]]
) -> None:
    assert replace(Ask(), **earlier[1], **later[1]).send(model) == earlier[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("isr", [(), (5, 6), (4, 4, 5), (4, 9)], ids=["empty", "no leader", "twice", "no replica"])
def test_an_isr_that_this_partition_cannot_have_is_refused(model: Model, isr: tuple[int, ...]) -> None:
    assert Ask(isr=isr).send(model) == Error.INVALID_REQUEST


def test_a_version_ahead_of_this_controller_is_refused_as_not_the_controller(model: Model) -> None:
    assert Ask(version=3).send(model) == Error.NOT_CONTROLLER


def test_an_unknown_broker_is_refused_as_a_stale_epoch_whatever_it_asks(model: Model) -> None:
    assert model.alter_isr(9, 0, "absent", 0, [], 0).error_code == Error.STALE_BROKER_EPOCH


def test_a_broker_that_is_registered_but_not_active_may_not_join(model: Model) -> None:
    assert Ask().send(model) == Error.NONE
    epoch = model.heartbeat(5, FenceState.INITIAL).broker_epoch
    back = Ask(leader_epoch=4, isr=(4, 5, 6), version=4)
    assert back.send(model) == Error.INELIGIBLE_REPLICA
    model.heartbeat(5, FenceState.ACTIVE, epoch)
    assert back.send(model) == Error.NONE


def test_a_broker_that_is_stopping_may_not_join(model: Model) -> None:
    assert Ask(isr=(4,)).send(model) == Error.NONE
    model.topic("u", 5, 6)
    model.heartbeat(5, FenceState.SHUTDOWN, model.epoch(5))
    assert 5 in model.image.brokers
    assert Ask(leader_epoch=3, isr=(4, 5), version=3).send(model) == Error.INELIGIBLE_REPLICA


def test_whose_lease_has_ended_may_not_join(model: Model) -> None:
    assert Ask().send(model) == Error.NONE
    model.now += LEASE / 2
    for broker in (4, 6):
        model.heartbeat(broker, FenceState.ACTIVE, model.epoch(broker))
    model.now += LEASE / 2
    assert Ask(leader_epoch=3, isr=(4, 5, 6), version=3).send(model) == Error.INELIGIBLE_REPLICA


def test_an_ineligible_member_is_looked_for_last(model: Model) -> None:
    assert Ask().send(model) == Error.NONE
    model.heartbeat(5, FenceState.INITIAL)
    assert Ask(leader_epoch=4, isr=(5, 6), version=4).send(model) == Error.INVALID_REQUEST


@pytest.mark.requirement("D631-25")
def test_only_the_process_that_caught_up_joins_not_one_that_took_its_id_since(model: Model) -> None:
    assert Ask().send(model) == Error.NONE
    for_the_old_process = Ask(leader_epoch=3, isr=(4, 5, 6), version=3)
    model.join(5)
    assert for_the_old_process.send(model) == Error.INVALID_UPDATE_VERSION
    assert Ask(leader_epoch=4, isr=(4, 5, 6), version=4).send(model) == Error.NONE


@pytest.mark.requirement("D631-17", "D631-25")
def test_a_change_that_was_asked_for_a_deleted_topic_is_not_made_to_a_later_one_of_its_name(
    model: Model,
) -> None:
    model.topic("u", 4, 6)
    model.join(6)
    deleted = model.partition("u")
    late = Ask(topic="u", leader_epoch=deleted.leader_term_epoch, version=deleted.leader_epoch)
    model.delete("u")
    model.topic("u", 4, 6)
    model.join(6)
    assert model.partition("u").isr == (4,)
    assert late.send(model) == Error.FENCED_LEADER_EPOCH
    assert model.partition("u").isr == (4,)
