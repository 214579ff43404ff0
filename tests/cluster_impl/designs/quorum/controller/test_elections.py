"""Who leads when brokers go and come: rules that hold for any history."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from cluster_impl.designs.quorum.image import Partition
from cluster_impl.designs.quorum.states import BrokerState
from tests.cluster_impl.designs.quorum.world import LEASE, World

BROKERS = (4, 5, 6)
STEPS: dict[str, Callable[[World, int], object]] = {
    "starts": lambda world, broker: world.join(broker),
    "registers": lambda world, broker: world.heartbeat(broker, BrokerState.INITIAL),
    "renews": lambda world, broker: world.heartbeat(broker, BrokerState.ACTIVE, epoch(world, broker)),
    "says fenced": lambda world, broker: world.heartbeat(broker, BrokerState.FENCED, epoch(world, broker)),
    "stops": lambda world, broker: world.heartbeat(broker, BrokerState.SHUTDOWN, epoch(world, broker)),
    "leads alone": lambda world, broker: alone(world, broker),
    "time passes": lambda world, _: setattr(world, "now", world.now + LEASE / 3),
    "controller changes": lambda world, _: world.state.leases.assume(
        world.image.brokers, world.image.offset, world.now
    ),
}


def epoch(world: World, broker: int) -> int:
    known = world.image.brokers.get(broker)
    return 0 if known is None else known.epoch


def alone(world: World, broker: int) -> None:
    partition = world.partition("t")
    world.alter_isr(broker, epoch(world, broker), "t", partition.leader_epoch, [broker], partition.leader_epoch)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.sampled_from(BROKERS)), max_size=40))
def test_whatever_happens_an_isr_holds_its_leader_and_is_never_empty_and_epochs_only_grow(
    history: list[tuple[str, int]],
) -> None:
    world = World()
    world.join(*BROKERS)
    world.topic("t", *BROKERS)
    before = world.partition("t")
    for step, broker in history:
        STEPS[step](world, broker)
        after = world.partition("t")
        check(world, after)
        assert after.leader_epoch >= before.leader_epoch
        if (after.isr, after.leader) != (before.isr, before.leader):
            assert after.leader_epoch > before.leader_epoch
        assert set(after.isr) - set(before.isr) == set(), "nobody joins unless a leader asks for it"
        before = after


def check(world: World, partition: Partition) -> None:
    assert partition.isr
    assert set(partition.isr) <= set(partition.replicas)
    if partition.leader != -1:
        assert partition.leader in partition.isr
        assert partition.leader in world.image.brokers
    absent = set(partition.isr) - set(world.image.brokers)
    assert not absent or partition.leader == -1
    assert len(absent) <= 1, "who is not registered is in no ISR, but for the last member"


def test_a_member_that_goes_while_nobody_can_lead_leaves_the_isr_too() -> None:
    world = World()
    world.join(4, 5, 6)
    world.topic("t", 4, 5, 6)
    world.topic("u", 5, 6, 4)
    for broker in (5, 6):
        world.heartbeat(broker, BrokerState.SHUTDOWN, world.epoch(broker))
    world.heartbeat(4, BrokerState.INITIAL)
    assert (world.partition("t").isr, world.partition("t").leader) == ((5, 6), -1)
    world.heartbeat(5, BrokerState.SHUTDOWN, world.epoch(5))
    assert (world.partition("t").isr, world.partition("t").leader) == ((6,), -1)
