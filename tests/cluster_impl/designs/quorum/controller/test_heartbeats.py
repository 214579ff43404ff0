"""What the active controller answers to heartbeats, and what it writes (KIP-631, Broker Registration)."""

from __future__ import annotations

import pytest

from cluster_impl.designs.quorum.states import BrokerState
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.world import LEASE, LEASE_START_MS, World

INITIAL, FENCED, ACTIVE, SHUTDOWN = BrokerState.INITIAL, BrokerState.FENCED, BrokerState.ACTIVE, BrokerState.SHUTDOWN


@pytest.fixture
def world() -> World:
    return World()


def test_the_first_heartbeat_registers_a_broker_at_the_offset_of_its_record_and_leaves_it_fenced(world: World) -> None:
    world.join(5)
    offset = world.state.end_offset
    reply = world.heartbeat(4, INITIAL)
    assert (reply.error_code, reply.next_state, reply.broker_epoch) == (0, FENCED, offset)
    assert world.image.brokers[4].epoch == offset
    assert world.image.brokers[4].endpoints[0].host == "node-4"


@pytest.mark.requirement("K631-56")
def test_the_lease_ends_one_lease_period_after_the_start_that_the_request_named(world: World) -> None:
    assert world.heartbeat(4, INITIAL).lease_end_time_ms == LEASE_START_MS + LEASE * 1000


@pytest.mark.requirement("D631-10", "D631-11", "K631-27")
def test_a_broker_becomes_active_only_once_it_has_reached_its_own_record(world: World) -> None:
    epoch = world.heartbeat(4, INITIAL).broker_epoch
    assert world.heartbeat(4, ACTIVE, epoch, reached=epoch - 1).next_state == FENCED
    assert world.heartbeat(4, ACTIVE, epoch, reached=epoch).next_state == ACTIVE


def test_a_broker_that_is_not_active_yet_is_not_elected(world: World) -> None:
    world.join(4)
    world.heartbeat(5, INITIAL)
    partition = world.topic("t", 4, 5)
    assert (partition.leader, partition.isr) == (4, (4,))


@pytest.mark.requirement("K631-39", "D631-12")
def test_initial_takes_the_id_at_once_and_the_elder_leaves_every_isr_in_the_same_batch(world: World) -> None:
    world.join(4, 5)
    world.topic("t", 4, 5)
    elder = world.epoch(4)
    written = len(world.log)
    newcomer = world.heartbeat(4, INITIAL)
    assert [type(record) for record in world.log[written:]] == [
        m.IsrChangeRecord, m.DeleteBrokerRecord, m.BrokerRecord
    ]  # fmt: skip
    assert newcomer.broker_epoch > elder
    partition = world.partition("t")
    assert (partition.leader, partition.isr, partition.leader_epoch) == (5, (5,), 1)


@pytest.mark.requirement("K631-38", "D631-19")
def test_the_elder_is_told_that_its_epoch_is_stale_and_its_heartbeats_extend_nothing(world: World) -> None:
    world.join(4)
    elder = world.epoch(4)
    world.join(4)
    winner = world.epoch(4)
    world.now += LEASE - 1
    for target in (ACTIVE, FENCED, SHUTDOWN):
        reply = world.heartbeat(4, target, elder)
        assert (reply.error_code, reply.next_state, reply.broker_epoch) == (Error.STALE_BROKER_EPOCH, FENCED, -1)
        assert reply.lease_end_time_ms == LEASE_START_MS
    assert world.epoch(4) == winner
    world.now += 1
    world.end_leases()
    assert 4 not in world.image.brokers


@pytest.mark.requirement("D631-14")
def test_a_stale_epoch_comes_back_with_a_new_one_once_the_id_has_no_live_lease(world: World) -> None:
    world.join(4)
    elder = world.epoch(4)
    world.join(4)
    winner = world.epoch(4)
    world.now += LEASE
    reply = world.heartbeat(4, FENCED, elder)
    assert (reply.error_code, reply.next_state) == (0, FENCED)
    assert reply.broker_epoch > winner


@pytest.mark.requirement("D631-14", "D631-26", "ACK-01")
def test_an_elder_does_not_lead_what_only_its_successor_holds(world: World) -> None:
    """The successor caught up and joined the ISR; then the other replica died, and then the successor."""
    world.join(4, 5)
    world.topic("t", 5, 4)
    elder = world.epoch(4)
    world.join(4)
    successor = world.epoch(4)
    version = world.partition("t").leader_epoch
    joined = world.alter_isr(5, world.epoch(5), "t", version, [5, 4], version)
    assert joined.topics[0].partitions[0].error_code == 0
    world.now += 1
    world.heartbeat(4, ACTIVE, successor)
    world.now += LEASE - 0.5
    world.end_leases()
    assert (world.partition("t").isr, world.partition("t").leader) == ((4,), 4)
    world.now += LEASE
    assert world.heartbeat(4, FENCED, elder).error_code == Error.STALE_BROKER_EPOCH
    assert world.partition("t").leader == -1
    assert world.heartbeat(4, FENCED, successor).error_code == 0


@pytest.mark.requirement("D631-14", "D631-26", "ACK-01")
def test_an_elder_does_not_lead_what_its_successor_led_alone(world: World) -> None:
    world.join(4)
    world.topic("t", 4)
    elder = world.epoch(4)
    world.join(4)
    successor = world.epoch(4)
    world.now += LEASE
    assert world.heartbeat(4, FENCED, elder).error_code == Error.STALE_BROKER_EPOCH
    assert world.heartbeat(4, FENCED, successor).error_code == 0


@pytest.mark.requirement("D631-14")
def test_a_process_that_never_heard_of_its_last_grant_comes_back_to_what_it_alone_holds(world: World) -> None:
    world.join(4)
    world.topic("t", 4)
    known = world.epoch(4)
    assert world.heartbeat(4, FENCED, known).broker_epoch > known  # and the answer is lost
    world.now += LEASE + 1
    assert world.heartbeat(4, FENCED, known).error_code == 0


@pytest.mark.requirement("D631-15")
def test_two_processes_with_one_id_do_not_oust_each_other(world: World) -> None:
    world.join(4)
    elder = world.epoch(4)
    world.join(4)
    winner = world.epoch(4)
    for _ in range(20):
        world.now += LEASE / 3
        assert world.heartbeat(4, FENCED, elder).error_code == Error.STALE_BROKER_EPOCH
        assert world.heartbeat(4, ACTIVE, winner).next_state == ACTIVE
    assert world.epoch(4) == winner


@pytest.mark.requirement("K631-67", "D631-07")
def test_a_lease_that_is_not_renewed_ends_as_a_delete_broker_record_and_leadership_moves(world: World) -> None:
    world.join(4, 5)
    world.topic("t", 4, 5)
    world.now += LEASE / 2
    world.heartbeat(5, ACTIVE, world.epoch(5))
    world.now += LEASE / 2
    written = len(world.log)
    world.end_leases()
    assert world.log[written:] == [
        m.IsrChangeRecord(partition_id=0, topic_id=world.partition("t").topic_id, isr=[5], leader=5, leader_epoch=1),
        m.DeleteBrokerRecord(id=4),
    ]


@pytest.mark.requirement("D631-02")
def test_a_lease_counts_from_the_receipt_of_the_last_renewal(world: World) -> None:
    world.join(4)
    world.now += LEASE - 0.001
    world.heartbeat(4, ACTIVE, world.epoch(4))
    world.now += LEASE - 0.001
    world.end_leases()
    assert 4 in world.image.brokers
    world.now += 0.001
    world.end_leases()
    assert 4 not in world.image.brokers


def test_the_last_member_of_an_isr_stays_in_it_and_leads_again_when_it_is_active_again(world: World) -> None:
    world.join(4, 5)
    world.topic("t", 4)
    epoch = world.heartbeat(4, INITIAL).broker_epoch
    partition = world.partition("t")
    assert (partition.isr, partition.leader, partition.leader_epoch) == ((4,), -1, 1)
    world.heartbeat(4, ACTIVE, epoch)
    partition = world.partition("t")
    assert (partition.isr, partition.leader, partition.leader_epoch, partition.tenure_epoch) == ((4,), 4, 2, 2)


def test_of_brokers_whose_leases_end_together_the_last_stays_in_the_isr(world: World) -> None:
    world.join(4, 5, 6)
    world.topic("t", 6, 5, 4)
    for broker in (5, 4, 6):
        world.now += 0.5
        world.heartbeat(broker, ACTIVE, world.epoch(broker))
    world.now += LEASE
    world.end_leases()
    partition = world.partition("t")
    assert (partition.isr, partition.leader) == ((6,), -1)


@pytest.mark.requirement("D631-06")
def test_fenced_with_the_current_epoch_moves_leadership_and_grants_a_new_epoch_in_one_batch(world: World) -> None:
    world.join(4, 5)
    world.topic("t", 4, 5)
    epoch = world.epoch(4)
    written = len(world.log)
    reply = world.heartbeat(4, FENCED, epoch)
    assert (reply.error_code, reply.next_state) == (0, FENCED)
    assert reply.broker_epoch == world.epoch(4) > epoch
    assert [type(record) for record in world.log[written:]] == [m.IsrChangeRecord, m.BrokerRecord]
    partition = world.partition("t")
    assert (partition.leader, partition.isr, partition.leader_epoch) == (5, (4, 5), 1)


@pytest.mark.requirement("D631-24")
def test_who_could_not_renew_through_a_change_of_controllers_does_not_leave_the_isr_to_one_who_is_gone(
    world: World,
) -> None:
    world.join(4, 5, 6)
    world.topic("t", 4, 5, 6)
    world.state.leases.assume(world.image.brokers, world.image.offset, world.now)
    for broker in (5, 6):
        epoch = world.heartbeat(broker, FENCED, world.epoch(broker)).broker_epoch
        world.heartbeat(broker, ACTIVE, epoch)
    world.now += LEASE / 2
    for broker in (5, 6):
        world.heartbeat(broker, ACTIVE, world.epoch(broker))
    world.now += LEASE / 2
    world.end_leases()
    assert (world.partition("t").leader, world.partition("t").isr) == (5, (5, 6))


def test_what_nobody_can_lead_waits_for_the_first_in_the_isr_who_is_active_again(world: World) -> None:
    world.join(4, 5)
    world.topic("t", 4, 5)
    epochs = {broker: world.heartbeat(broker, FENCED, world.epoch(broker)).broker_epoch for broker in (5, 4)}
    assert (world.partition("t").leader, world.partition("t").isr) == (-1, (4, 5))
    world.heartbeat(5, ACTIVE, epochs[5])
    assert (world.partition("t").leader, world.partition("t").isr) == (5, (4, 5))


def test_metadata_that_stays_behind_the_stable_offset_for_longer_than_a_lease_revokes_the_lease(world: World) -> None:
    world.join(4, 5)
    world.topic("t", 4, 5)
    epoch, stuck = world.epoch(4), world.image.offset - 1
    world.heartbeat(4, ACTIVE, epoch, reached=world.image.offset - 1)
    for _ in range(10):
        world.now += LEASE / 10
        world.heartbeat(5, ACTIVE, world.epoch(5))
        assert world.heartbeat(4, ACTIVE, epoch, reached=stuck).next_state == ACTIVE
    world.now += LEASE / 10
    reply = world.heartbeat(4, ACTIVE, epoch, reached=stuck)
    assert (reply.error_code, reply.next_state, reply.broker_epoch) == (0, FENCED, epoch)
    assert reply.lease_end_time_ms == LEASE_START_MS
    assert 4 not in world.image.brokers
    assert world.partition("t").leader == 5


def test_a_broker_that_follows_a_busy_metadata_log_at_a_distance_stays_active(world: World) -> None:
    world.join(4, 5)
    epoch = world.epoch(4)
    for _ in range(50):
        world.now += LEASE / 5
        world.heartbeat(5, INITIAL)
        assert world.heartbeat(4, ACTIVE, epoch, reached=world.state.stable_offset - 3).next_state == ACTIVE


@pytest.mark.requirement("K631-36", "K631-37", "K631-45")
def test_controlled_shutdown_moves_the_leaders_off_first_and_then_lets_the_broker_go(world: World) -> None:
    world.join(4, 5)
    world.topic("t", 4, 5)
    epoch = world.epoch(4)
    reply = world.heartbeat(4, SHUTDOWN, epoch)
    assert (reply.next_state, reply.broker_epoch) == (ACTIVE, epoch)
    assert (world.partition("t").leader, world.partition("t").isr) == (5, (4, 5))
    assert world.heartbeat(4, SHUTDOWN, epoch).next_state == SHUTDOWN
    assert 4 not in world.image.brokers
    assert world.partition("t").isr == (5,)


def test_what_nobody_else_can_lead_does_not_hold_up_a_shutdown(world: World) -> None:
    world.join(4, 5)
    world.topic("t", 4)
    assert world.heartbeat(4, SHUTDOWN, world.epoch(4)).next_state == SHUTDOWN
    assert (world.partition("t").leader, world.partition("t").isr) == (-1, (4,))


def test_a_stopping_broker_is_not_elected(world: World) -> None:
    world.join(4, 5, 6)
    world.topic("t", 4, 5, 6)
    world.topic("u", 5, 6, 4)
    world.heartbeat(5, SHUTDOWN, world.epoch(5))
    world.heartbeat(4, INITIAL)
    assert world.partition("t").leader == 6


def test_a_fenced_broker_without_a_registration_may_stop_at_once(world: World) -> None:
    world.join(4)
    epoch = world.epoch(4)
    world.now += LEASE
    reply = world.heartbeat(4, SHUTDOWN, epoch)
    assert (reply.error_code, reply.next_state) == (0, SHUTDOWN)
    assert 4 not in world.image.brokers


@pytest.mark.requirement("D631-04")
def test_a_new_active_controller_fences_nobody_until_a_full_lease_has_passed(world: World) -> None:
    world.join(4)
    world.now += 5 * LEASE
    world.state.leases.assume(world.image.brokers, world.image.offset, world.now)
    world.now += LEASE - 0.001
    world.end_leases()
    assert 4 in world.image.brokers
    world.now += 0.001
    world.end_leases()
    assert 4 not in world.image.brokers


def test_a_broker_registered_under_an_earlier_controller_may_lead_until_it_says_otherwise(world: World) -> None:
    world.join(4, 5)
    world.topic("t", 4, 5)
    world.state.leases.assume(world.image.brokers, world.image.offset, world.now)
    world.heartbeat(4, INITIAL)
    assert world.partition("t").leader == 5
    epoch = world.epoch(5)
    assert world.heartbeat(5, ACTIVE, epoch, reached=epoch - 1).next_state == FENCED
    assert (world.partition("t").leader, world.epoch(5)) == (-1, epoch)


INVALID = {
    "a negative id": (-1, INITIAL, -1),
    "the id of a controller": (2, INITIAL, -1),
    "an unknown state": (4, 9, 0),
    "the state UNKNOWN": (4, BrokerState.UNKNOWN, 0),
    "INITIAL with an epoch": (4, INITIAL, 0),
    "ACTIVE without an epoch": (4, ACTIVE, -1),
    "FENCED without an epoch": (4, FENCED, -1),
    "SHUTDOWN without an epoch": (4, SHUTDOWN, -1),
    "an epoch below -1": (4, ACTIVE, -2),
}


@pytest.mark.parametrize("case", INVALID.values(), ids=INVALID.keys())
def test_a_heartbeat_that_makes_no_sense_is_refused_and_changes_nothing(
    world: World, case: tuple[int, int, int]
) -> None:
    world.join(4)
    written, ends_at = len(world.log), world.state.leases.next_end()
    world.now += 1
    broker, target, epoch = case
    assert world.heartbeat(broker, target, epoch).error_code == Error.INVALID_REQUEST
    assert len(world.log) == written
    assert world.state.leases.next_end() == ends_at


@pytest.mark.parametrize("target", [9, BrokerState.UNKNOWN])
def test_a_heartbeat_that_makes_no_sense_and_is_stale_gets_the_earlier_error(world: World, target: int) -> None:
    world.join(4)
    assert world.heartbeat(4, target, world.epoch(4) + 1).error_code == Error.INVALID_REQUEST


@pytest.mark.parametrize("target", [INITIAL, FENCED, ACTIVE, SHUTDOWN])
def test_a_listener_that_no_record_can_hold_is_refused_and_changes_nothing(world: World, target: BrokerState) -> None:
    world.join(4)
    epoch = world.epoch(4)
    written, ends_at = len(world.log), world.state.leases.next_end()
    world.now += 1
    reply = world.heartbeat(4, target, -1 if target is INITIAL else epoch, host="h" * 40_000)
    assert reply.error_code == Error.INVALID_REQUEST
    assert (len(world.log), world.state.leases.next_end()) == (written, ends_at)
    assert world.heartbeat(4, ACTIVE, epoch).next_state == ACTIVE
