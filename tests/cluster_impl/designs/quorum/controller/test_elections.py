"""The leader after brokers go and come: rules that hold for any history."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.quorum.image import PartitionRegistration
from tests.cluster_impl.designs.quorum.controller_model import LEASE, Model

BROKERS = (4, 5, 6)
STEPS: dict[str, Callable[[Model, int], object]] = {
    "starts": lambda model, broker: model.join(broker),
    "registers": lambda model, broker: model.heartbeat(broker, FenceState.INITIAL),
    "renews": lambda model, broker: model.heartbeat(broker, FenceState.ACTIVE, epoch(model, broker)),
    "says fenced": lambda model, broker: model.heartbeat(broker, FenceState.FENCED, epoch(model, broker)),
    "stops": lambda model, broker: model.heartbeat(broker, FenceState.SHUTDOWN, epoch(model, broker)),
    "leads alone": lambda model, broker: alone(model, broker),
    "time passes": lambda model, _: setattr(model, "now", model.now + LEASE / 3),
    "controller changes": lambda model, _: model.state.leases.assume(
        model.image.brokers, model.image.offset, model.now
    ),
}


def epoch(model: Model, broker: int) -> int:
    known = model.image.brokers.get(broker)
    return 0 if known is None else known.epoch


def alone(model: Model, broker: int) -> None:
    partition = model.partition("t")
    model.alter_isr(broker, epoch(model, broker), "t", partition.leader_epoch, [broker], partition.leader_epoch)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.sampled_from(BROKERS)), max_size=40))
def test_whatever_happens_an_isr_holds_its_leader_and_is_never_empty_and_epochs_only_grow(
    history: list[tuple[str, int]],
) -> None:
    model = Model()
    model.join(*BROKERS)
    model.topic("t", *BROKERS)
    before = model.partition("t")
    for step, broker in history:
        STEPS[step](model, broker)
        after = model.partition("t")
        check(model, after)
        assert after.leader_epoch >= before.leader_epoch
        if (after.isr, after.leader) != (before.isr, before.leader):
            assert after.leader_epoch > before.leader_epoch
        assert set(after.isr) - set(before.isr) == set(), "no broker joins unless a leader asks for it"
        before = after


def check(model: Model, partition: PartitionRegistration) -> None:
    assert partition.isr
    assert set(partition.isr) <= set(partition.replicas)
    if partition.leader != -1:
        assert partition.leader in partition.isr
        assert partition.leader in model.image.brokers
    absent = set(partition.isr) - set(model.image.brokers)
    assert not absent or partition.leader == -1
    assert len(absent) <= 1, "an unregistered broker is in no ISR, except as the last member"


def test_a_member_that_goes_while_no_broker_can_lead_leaves_the_isr_too() -> None:
    model = Model()
    model.join(4, 5, 6)
    model.topic("t", 4, 5, 6)
    model.topic("u", 5, 6, 4)
    for broker in (5, 6):
        model.heartbeat(broker, FenceState.SHUTDOWN, model.epoch(broker))
    model.heartbeat(4, FenceState.INITIAL)
    assert (model.partition("t").isr, model.partition("t").leader) == ((5, 6), -1)
    model.heartbeat(5, FenceState.SHUTDOWN, model.epoch(5))
    assert (model.partition("t").isr, model.partition("t").leader) == ((6,), -1)
