"""The active controller's responses to heartbeats, and the records it writes (KIP-631, Broker Registration)."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.controller_model import LEASE, LEASE_START_MS, Model

INITIAL, FENCED, ACTIVE, SHUTDOWN = (
    FenceState.INITIAL,
    FenceState.FENCED,
    FenceState.ACTIVE,
    FenceState.SHUTDOWN,
)


@pytest.fixture
def model() -> Model:
    return Model()


def test_the_first_heartbeat_registers_a_broker_at_the_offset_of_its_record_and_leaves_it_fenced(
    model: Model,
) -> None:
    model.join(5)
    offset = model.state.end_offset
    reply = model.heartbeat(4, INITIAL)
    assert (reply.error_code, reply.next_state, reply.broker_epoch) == (0, FENCED, offset)
    assert model.image.brokers[4].epoch == offset
    assert model.image.brokers[4].endpoints[0].host == "node-4"


@pytest.mark.requirement("K631-56")
def test_the_lease_ends_one_lease_period_after_the_start_that_the_request_named(model: Model) -> None:
    assert model.heartbeat(4, INITIAL).lease_end_time_ms == LEASE_START_MS + LEASE * 1000


@pytest.mark.requirement("D631-10", "D631-11", "K631-27")
def test_a_broker_becomes_active_only_once_it_has_reached_its_own_record(model: Model) -> None:
    epoch = model.heartbeat(4, INITIAL).broker_epoch
    assert model.heartbeat(4, ACTIVE, epoch, reached=epoch - 1).next_state == FENCED
    assert model.heartbeat(4, ACTIVE, epoch, reached=epoch).next_state == ACTIVE


def test_a_broker_that_is_not_active_yet_is_not_elected(model: Model) -> None:
    model.join(4)
    model.heartbeat(5, INITIAL)
    partition = model.topic("t", 4, 5)
    assert (partition.leader, partition.isr) == (4, (4,))


@pytest.mark.requirement("K631-39", "D631-12")
def test_initial_takes_the_id_at_once_and_the_original_leaves_every_isr_in_the_same_batch(
    model: Model,
) -> None:
    model.join(4, 5)
    model.topic("t", 4, 5)
    original = model.epoch(4)
    written = len(model.log)
    duplicate = model.heartbeat(4, INITIAL)
    assert [type(record) for record in model.log[written:]] == [
        m.IsrChangeRecord, m.DeleteBrokerRecord, m.BrokerRecord
    ]  # fmt: skip
    assert duplicate.broker_epoch > original
    partition = model.partition("t")
    assert (partition.leader, partition.isr, partition.leader_epoch) == (5, (5,), 1)


@pytest.mark.requirement("K631-38", "D631-19")
def test_the_original_learns_that_its_epoch_is_stale_and_its_heartbeats_extend_nothing(model: Model) -> None:
    model.join(4)
    original = model.epoch(4)
    model.join(4)
    winner = model.epoch(4)
    model.now += LEASE - 1
    for target in (ACTIVE, FENCED, SHUTDOWN):
        reply = model.heartbeat(4, target, original)
        assert (reply.error_code, reply.next_state, reply.broker_epoch) == (Error.STALE_BROKER_EPOCH, FENCED, -1)
        assert reply.lease_end_time_ms == LEASE_START_MS
    assert model.epoch(4) == winner
    model.now += 1
    model.end_leases()
    assert 4 not in model.image.brokers


@pytest.mark.requirement("D631-14")
def test_a_stale_epoch_comes_back_with_a_new_one_once_the_id_has_no_live_lease(model: Model) -> None:
    model.join(4)
    original = model.epoch(4)
    model.join(4)
    winner = model.epoch(4)
    model.now += LEASE
    reply = model.heartbeat(4, FENCED, original)
    assert (reply.error_code, reply.next_state) == (0, FENCED)
    assert reply.broker_epoch > winner


@pytest.mark.requirement("D631-14", "D631-26", "ACK-01")
def test_an_original_does_not_lead_what_only_its_successor_holds(model: Model) -> None:
    """The successor caught up and joined the ISR; then the other replica died, and then the successor."""
    model.join(4, 5)
    model.topic("t", 5, 4)
    original = model.epoch(4)
    model.join(4)
    successor = model.epoch(4)
    version = model.partition("t").leader_epoch
    joined = model.alter_isr(5, model.epoch(5), "t", version, [5, 4], version)
    assert joined.topics[0].partitions[0].error_code == 0
    model.now += 1
    model.heartbeat(4, ACTIVE, successor)
    model.now += LEASE - 0.5
    model.end_leases()
    assert (model.partition("t").isr, model.partition("t").leader) == ((4,), 4)
    model.now += LEASE
    assert model.heartbeat(4, FENCED, original).error_code == Error.STALE_BROKER_EPOCH
    assert model.partition("t").leader == -1
    assert model.heartbeat(4, FENCED, successor).error_code == 0


@pytest.mark.requirement("D631-14", "D631-26", "ACK-01")
def test_an_original_does_not_lead_what_its_successor_led_alone(model: Model) -> None:
    model.join(4)
    model.topic("t", 4)
    original = model.epoch(4)
    model.join(4)
    successor = model.epoch(4)
    model.now += LEASE
    assert model.heartbeat(4, FENCED, original).error_code == Error.STALE_BROKER_EPOCH
    assert model.heartbeat(4, FENCED, successor).error_code == 0


@pytest.mark.requirement("D631-14")
def test_a_process_that_never_heard_of_its_last_grant_comes_back_to_what_it_alone_holds(model: Model) -> None:
    model.join(4)
    model.topic("t", 4)
    known = model.epoch(4)
    assert model.heartbeat(4, FENCED, known).broker_epoch > known  # and the answer is lost
    model.now += LEASE + 1
    assert model.heartbeat(4, FENCED, known).error_code == 0


@pytest.mark.requirement("D631-15")
def test_two_processes_with_one_id_do_not_oust_each_other(model: Model) -> None:
    model.join(4)
    original = model.epoch(4)
    model.join(4)
    winner = model.epoch(4)
    for _ in range(20):
        model.now += LEASE / 3
        assert model.heartbeat(4, FENCED, original).error_code == Error.STALE_BROKER_EPOCH
        assert model.heartbeat(4, ACTIVE, winner).next_state == ACTIVE
    assert model.epoch(4) == winner


@pytest.mark.requirement("K631-67", "D631-07")
def test_a_lease_that_is_not_renewed_ends_as_a_delete_broker_record_and_leadership_moves(
    model: Model,
) -> None:
    model.join(4, 5)
    model.topic("t", 4, 5)
    model.now += LEASE / 2
    model.heartbeat(5, ACTIVE, model.epoch(5))
    model.now += LEASE / 2
    written = len(model.log)
    model.end_leases()
    assert model.log[written:] == [
        m.IsrChangeRecord(partition_id=0, topic_id=model.partition("t").topic_id, isr=[5], leader=5, leader_epoch=1),
        m.DeleteBrokerRecord(id=4),
    ]


@pytest.mark.requirement("D631-02")
def test_a_lease_counts_from_the_receipt_of_the_last_renewal(model: Model) -> None:
    model.join(4)
    model.now += LEASE - 0.001
    model.heartbeat(4, ACTIVE, model.epoch(4))
    model.now += LEASE - 0.001
    model.end_leases()
    assert 4 in model.image.brokers
    model.now += 0.001
    model.end_leases()
    assert 4 not in model.image.brokers


@pytest.mark.requirement("D631-07", "K631-67")
def test_the_last_member_of_an_isr_stays_in_it_and_leads_again_when_it_is_active_again(model: Model) -> None:
    model.join(4, 5)
    model.topic("t", 4)
    epoch = model.heartbeat(4, INITIAL).broker_epoch
    partition = model.partition("t")
    assert (partition.isr, partition.leader, partition.leader_epoch) == ((4,), -1, 1)
    model.heartbeat(4, ACTIVE, epoch)
    partition = model.partition("t")
    assert (partition.isr, partition.leader, partition.leader_epoch, partition.leader_term_epoch) == ((4,), 4, 2, 2)


def test_of_brokers_whose_leases_end_together_the_last_stays_in_the_isr(model: Model) -> None:
    model.join(4, 5, 6)
    model.topic("t", 6, 5, 4)
    for broker in (5, 4, 6):
        model.now += 0.5
        model.heartbeat(broker, ACTIVE, model.epoch(broker))
    model.now += LEASE
    model.end_leases()
    partition = model.partition("t")
    assert (partition.isr, partition.leader) == ((6,), -1)


@pytest.mark.requirement("D631-06")
def test_fenced_with_the_current_epoch_moves_leadership_and_grants_a_new_epoch_in_one_batch(
    model: Model,
) -> None:
    model.join(4, 5)
    model.topic("t", 4, 5)
    epoch = model.epoch(4)
    written = len(model.log)
    reply = model.heartbeat(4, FENCED, epoch)
    assert (reply.error_code, reply.next_state) == (0, FENCED)
    assert reply.broker_epoch == model.epoch(4) > epoch
    assert [type(record) for record in model.log[written:]] == [m.IsrChangeRecord, m.BrokerRecord]
    partition = model.partition("t")
    assert (partition.leader, partition.isr, partition.leader_epoch) == (5, (4, 5), 1)


@pytest.mark.requirement("D631-24")
def test_a_broker_that_could_not_renew_in_a_change_of_controllers_does_not_leave_the_isr_to_a_dead_one(
    model: Model,
) -> None:
    model.join(4, 5, 6)
    model.topic("t", 4, 5, 6)
    model.state.leases.assume(model.image.brokers, model.image.offset, model.now)
    for broker in (5, 6):
        epoch = model.heartbeat(broker, FENCED, model.epoch(broker)).broker_epoch
        model.heartbeat(broker, ACTIVE, epoch)
    model.now += LEASE / 2
    for broker in (5, 6):
        model.heartbeat(broker, ACTIVE, model.epoch(broker))
    model.now += LEASE / 2
    model.end_leases()
    assert (model.partition("t").leader, model.partition("t").isr) == (5, (5, 6))


def test_without_a_possible_leader_a_partition_waits_for_the_first_isr_member_to_be_active(
    model: Model,
) -> None:
    model.join(4, 5)
    model.topic("t", 4, 5)
    epochs = {broker: model.heartbeat(broker, FENCED, model.epoch(broker)).broker_epoch for broker in (5, 4)}
    assert (model.partition("t").leader, model.partition("t").isr) == (-1, (4, 5))
    model.heartbeat(5, ACTIVE, epochs[5])
    assert (model.partition("t").leader, model.partition("t").isr) == (5, (4, 5))


@pytest.mark.requirement("K631-27")
def test_metadata_that_stays_behind_the_stable_offset_for_longer_than_a_lease_revokes_the_lease(
    model: Model,
) -> None:
    model.join(4, 5)
    model.topic("t", 4, 5)
    epoch, stuck = model.epoch(4), model.image.offset - 1
    model.heartbeat(4, ACTIVE, epoch, reached=model.image.offset - 1)
    for _ in range(10):
        model.now += LEASE / 10
        model.heartbeat(5, ACTIVE, model.epoch(5))
        assert model.heartbeat(4, ACTIVE, epoch, reached=stuck).next_state == ACTIVE
    model.now += LEASE / 10
    reply = model.heartbeat(4, ACTIVE, epoch, reached=stuck)
    assert (reply.error_code, reply.next_state, reply.broker_epoch) == (0, FENCED, epoch)
    assert reply.lease_end_time_ms == LEASE_START_MS
    assert 4 not in model.image.brokers
    assert model.partition("t").leader == 5


def test_a_broker_that_follows_a_busy_metadata_log_at_a_distance_stays_active(model: Model) -> None:
    model.join(4, 5)
    epoch = model.epoch(4)
    for _ in range(50):
        model.now += LEASE / 5
        model.heartbeat(5, INITIAL)
        assert model.heartbeat(4, ACTIVE, epoch, reached=model.state.stable_offset - 3).next_state == ACTIVE


@pytest.mark.requirement("K631-36", "K631-37", "K631-45")
def test_controlled_shutdown_moves_the_leaders_off_first_and_then_lets_the_broker_go(model: Model) -> None:
    model.join(4, 5)
    model.topic("t", 4, 5)
    epoch = model.epoch(4)
    reply = model.heartbeat(4, SHUTDOWN, epoch)
    assert (reply.next_state, reply.broker_epoch) == (ACTIVE, epoch)
    assert (model.partition("t").leader, model.partition("t").isr) == (5, (4, 5))
    assert model.heartbeat(4, SHUTDOWN, epoch).next_state == SHUTDOWN
    assert 4 not in model.image.brokers
    assert model.partition("t").isr == (5,)


def test_what_no_other_broker_can_lead_does_not_hold_up_a_shutdown(model: Model) -> None:
    model.join(4, 5)
    model.topic("t", 4)
    assert model.heartbeat(4, SHUTDOWN, model.epoch(4)).next_state == SHUTDOWN
    assert (model.partition("t").leader, model.partition("t").isr) == (-1, (4,))


def test_a_stopping_broker_is_not_elected(model: Model) -> None:
    model.join(4, 5, 6)
    model.topic("t", 4, 5, 6)
    model.topic("u", 5, 6, 4)
    model.heartbeat(5, SHUTDOWN, model.epoch(5))
    model.heartbeat(4, INITIAL)
    assert model.partition("t").leader == 6


def test_a_fenced_broker_without_a_registration_may_stop_at_once(model: Model) -> None:
    model.join(4)
    epoch = model.epoch(4)
    model.now += LEASE
    reply = model.heartbeat(4, SHUTDOWN, epoch)
    assert (reply.error_code, reply.next_state) == (0, SHUTDOWN)
    assert 4 not in model.image.brokers


@pytest.mark.requirement("D631-04")
def test_a_new_active_controller_fences_no_broker_until_a_full_lease_has_passed(model: Model) -> None:
    model.join(4)
    model.now += 5 * LEASE
    model.state.leases.assume(model.image.brokers, model.image.offset, model.now)
    model.now += LEASE - 0.001
    model.end_leases()
    assert 4 in model.image.brokers
    model.now += 0.001
    model.end_leases()
    assert 4 not in model.image.brokers


def test_a_broker_registered_under_an_earlier_controller_may_lead_until_it_says_otherwise(
    model: Model,
) -> None:
    model.join(4, 5)
    model.topic("t", 4, 5)
    model.state.leases.assume(model.image.brokers, model.image.offset, model.now)
    model.heartbeat(4, INITIAL)
    assert model.partition("t").leader == 5
    epoch = model.epoch(5)
    assert model.heartbeat(5, ACTIVE, epoch, reached=epoch - 1).next_state == FENCED
    assert (model.partition("t").leader, model.epoch(5)) == (-1, epoch)


INVALID = {
    "a negative id": (-1, INITIAL, -1),
    "the id of a controller": (2, INITIAL, -1),
    "an unknown state": (4, 9, 0),
    "the state UNKNOWN": (4, FenceState.UNKNOWN, 0),
    "INITIAL with an epoch": (4, INITIAL, 0),
    "ACTIVE without an epoch": (4, ACTIVE, -1),
    "FENCED without an epoch": (4, FENCED, -1),
    "SHUTDOWN without an epoch": (4, SHUTDOWN, -1),
    "an epoch below -1": (4, ACTIVE, -2),
}


@pytest.mark.parametrize("case", INVALID.values(), ids=INVALID.keys())
def test_a_heartbeat_that_makes_no_sense_is_refused_and_changes_nothing(
    model: Model, case: tuple[int, int, int]
) -> None:
    model.join(4)
    written, ends_at = len(model.log), model.state.leases.next_end()
    model.now += 1
    broker, target, epoch = case
    assert model.heartbeat(broker, target, epoch).error_code == Error.INVALID_REQUEST
    assert len(model.log) == written
    assert model.state.leases.next_end() == ends_at


@pytest.mark.parametrize("start", [-1, 2**63 - 1])
@pytest.mark.parametrize("target", [INITIAL, ACTIVE])
def test_a_lease_start_whose_end_does_not_fit_is_refused_and_changes_nothing(
    model: Model, start: int, target: FenceState
) -> None:
    model.join(4)
    written, ends_at = len(model.log), model.state.leases.next_end()
    model.now += 1
    reply = model.heartbeat(4, target, -1 if target is INITIAL else model.epoch(4), lease_start_ms=start)
    assert reply.error_code == Error.INVALID_REQUEST
    assert reply.encode(0)
    assert (len(model.log), model.state.leases.next_end()) == (written, ends_at)


@pytest.mark.parametrize("target", [9, FenceState.UNKNOWN])
def test_a_heartbeat_that_makes_no_sense_and_is_stale_gets_the_earlier_error(model: Model, target: int) -> None:
    model.join(4)
    assert model.heartbeat(4, target, model.epoch(4) + 1).error_code == Error.INVALID_REQUEST


@pytest.mark.parametrize("target", [INITIAL, FENCED, ACTIVE, SHUTDOWN])
def test_a_listener_that_older_clients_cannot_read_is_refused_and_changes_nothing(
    model: Model, target: FenceState
) -> None:
    model.join(4)
    epoch = model.epoch(4)
    written, ends_at = len(model.log), model.state.leases.next_end()
    model.now += 1
    reply = model.heartbeat(4, target, -1 if target is INITIAL else epoch, host="h" * 40_000)
    assert reply.error_code == Error.INVALID_REQUEST
    assert (len(model.log), model.state.leases.next_end()) == (written, ends_at)
    assert model.heartbeat(4, ACTIVE, epoch).next_state == ACTIVE


@pytest.mark.requirement("K631-61", "D631-32")
def test_rack_and_security_protocols_of_a_heartbeat_are_in_the_brokers_record() -> None:
    model = Model()
    listener = m.BrokerHeartbeatRequest.Listener(name="CLIENT", host="h", port=9092, security_protocol=2)
    request = m.BrokerHeartbeatRequest(
        target_state=FenceState.INITIAL, broker_id=4, listeners=[listener], rack="r1", cur_metadata_offset=0
    )
    model.run(heartbeats.heartbeat(model.state, request, model.now))
    [record] = model.log
    assert isinstance(record, m.BrokerRecord)
    assert (record.rack, record.end_points[0].security_protocol) == ("r1", 2)
    registered = model.image.brokers[4]
    assert (registered.rack, registered.endpoints[0].security_protocol) == ("r1", 2)
