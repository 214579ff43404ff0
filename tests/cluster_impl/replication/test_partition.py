"""The decisions of one replica: the high watermark, changes of the ISR, acknowledgements."""

from __future__ import annotations

from uuid import UUID

import pytest

from fencepost.cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    PartitionAssignment,
    TopicPartition,
)
from fencepost.cluster_impl.replication.follower import FollowerFetch, credits
from fencepost.cluster_impl.replication.partition import Partition, RoleTransition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.wire.errors import Error

NAME, TOPIC_ID, LAG = TopicPartition("t", 0), UUID(int=7), 10.0
EPOCHS = {4: 104, 5: 105, 6: 106}


def state(
    leader: int = 4, isr: tuple[int, ...] = (4, 5, 6), epoch: int = 1, leader_term: int | None = None
) -> PartitionAssignment:
    return PartitionAssignment(
        topic="t", topic_id=TOPIC_ID, partition=0, replicas=(4, 5, 6), isr=isr, leader=leader,
        leader_epoch=epoch, leader_term_epoch=epoch if leader_term is None else leader_term, version=epoch,
    )  # fmt: skip


def replica(assignment: PartitionAssignment, *, end: int = 0, high_watermark: int = 0, min_isr: int = 1) -> Partition:
    partition = Partition(4, NAME, TOPIC_ID, high_watermark=high_watermark, lag_limit=LAG)
    partition.assign(assignment, log_end_offset=end, min_isr=min_isr, now=0.0)
    return partition


def fetch(replica_id: int, offset: int, leader_epoch: int = 1, broker_epoch: int | None = None) -> FollowerFetch:
    epoch = EPOCHS[replica_id] if broker_epoch is None else broker_epoch
    return FollowerFetch(replica_id=replica_id, broker_epoch=epoch, leader_epoch=leader_epoch, offset=offset)


def fetched(partition: Partition, replica_id: int, offset: int, now: float = 0.0) -> bool:
    request = fetch(replica_id, offset, partition.leader_epoch)
    assert partition.check_follower(request, EPOCHS[replica_id]) is Error.NONE
    return partition.credit(request, now)


def proposal(partition: Partition, now: float) -> IsrProposal:
    wished = partition.next_isr(EPOCHS.get, now)
    assert wished is not None
    return wished


@pytest.mark.requirement("HW-02", "INT-30")
def test_the_high_watermark_is_what_every_in_sync_replica_has() -> None:
    leader = replica(state())
    leader.appended(10, now=0.0)
    assert not fetched(leader, 5, 10)
    assert leader.high_watermark == 0
    assert fetched(leader, 6, 7)
    assert leader.high_watermark == 7


@pytest.mark.requirement("DINT-27", "INT-55")
def test_a_new_leader_starts_from_the_high_watermark_it_knew_and_waits_for_its_followers() -> None:
    leader = replica(state(epoch=3), end=20, high_watermark=12)
    assert (leader.high_watermark, leader.leader_term_start) == (12, 20)
    fetched(leader, 5, 20)
    assert leader.high_watermark == 12
    fetched(leader, 6, 20)
    assert leader.high_watermark == 20


@pytest.mark.requirement("HW-01")
def test_the_high_watermark_never_goes_back_when_a_follower_does() -> None:
    leader = replica(state())
    leader.appended(10, now=0.0)
    fetched(leader, 5, 10)
    fetched(leader, 6, 10)
    fetched(leader, 6, 3)
    assert leader.high_watermark == 10


@pytest.mark.parametrize(
    ("broker_epoch", "error"),
    [
        (-1, Error.NOT_LEADER_OR_FOLLOWER),
        (104, Error.NOT_LEADER_OR_FOLLOWER),
        (106, Error.UNKNOWN_LEADER_EPOCH),
        (105, Error.NONE),
    ],
)
@pytest.mark.requirement("D631-16", "ISR-07")
def test_only_the_registered_incarnation_of_a_follower_is_credited(broker_epoch: int, error: Error) -> None:
    assert credits(fetch(5, 10, broker_epoch=broker_epoch), 105) is error


def test_a_broker_that_is_not_registered_is_not_credited() -> None:
    assert credits(fetch(5, 10), None) is Error.UNKNOWN_LEADER_EPOCH
    leader = replica(state())
    assert leader.check_follower(fetch(5, 10, broker_epoch=-1), None) is Error.NOT_LEADER_OR_FOLLOWER


@pytest.mark.requirement("D631-18", "D631-21")
def test_a_fetch_at_another_leader_epoch_is_refused_before_anything_is_credited() -> None:
    leader = replica(state(epoch=5))
    assert leader.check_follower(fetch(5, 0, leader_epoch=4), 105) is Error.FENCED_LEADER_EPOCH
    assert leader.check_follower(fetch(5, 0, leader_epoch=6), 105) is Error.UNKNOWN_LEADER_EPOCH


def test_a_fetch_of_a_broker_that_is_no_replica_is_refused() -> None:
    request = FollowerFetch(replica_id=9, broker_epoch=1, leader_epoch=1, offset=0)
    assert replica(state()).check_follower(request, 1) is Error.UNKNOWN_LEADER_EPOCH


def test_an_older_state_is_not_adopted() -> None:
    leader = replica(state(epoch=5))
    change = leader.assign(state(leader=5, epoch=4), log_end_offset=0, min_isr=1, now=0.0)
    assert (change, leader.role, leader.leader_epoch) == (RoleTransition.NOTHING, ReplicaRole.LEADER, 5)


def test_a_change_of_isr_alone_keeps_the_leader_term() -> None:
    leader = replica(state(epoch=5), end=10)
    leader.appended(15, now=0.0)
    fetched(leader, 5, 15)
    change = leader.assign(state(isr=(4, 5), epoch=6, leader_term=5), log_end_offset=15, min_isr=1, now=1.0)
    assert (change, leader.leader_term_start, leader.high_watermark) == (RoleTransition.LEADS_ON, 10, 15)


def test_a_broker_elected_again_starts_a_new_leader_term() -> None:
    leader = replica(state(epoch=5), end=10)
    leader.appended(15, now=0.0)
    change = leader.assign(state(epoch=7), log_end_offset=15, min_isr=1, now=1.0)
    assert (change, leader.leader_term_start) == (RoleTransition.LEADS_ANEW, 15)
    assert all(progress.log_end_offset == -1 for progress in leader.followers.values())


def test_roles_follow_the_assignment() -> None:
    partition = replica(state(leader=5, epoch=1))
    roles = [partition.role]

    def assign(to: PartitionAssignment) -> RoleTransition:
        transition = partition.assign(to, log_end_offset=0, min_isr=1, now=0.0)
        roles.append(partition.role)
        return transition

    assert assign(state(leader=5, isr=(5, 6), epoch=2, leader_term=1)) is RoleTransition.FOLLOWS_ON
    assert assign(state(leader=5, epoch=3, leader_term=3)) is RoleTransition.FOLLOWS
    assert assign(state(leader=-1, epoch=4)) is RoleTransition.WENT_OFFLINE
    assert assign(state(leader=4, epoch=5)) is RoleTransition.LEADS
    assert roles == [
        ReplicaRole.FOLLOWER,
        ReplicaRole.FOLLOWER,
        ReplicaRole.FOLLOWER,
        ReplicaRole.OFFLINE,
        ReplicaRole.LEADER,
    ]


def test_a_follower_that_lags_too_long_is_proposed_to_leave() -> None:
    leader = replica(state())
    leader.appended(10, now=0.0)
    fetched(leader, 5, 10, now=1.0)
    assert leader.next_isr(EPOCHS.get, LAG) is None
    assert proposal(leader, LAG + 0.1).isr == (4, 5)


def test_a_follower_that_reaches_the_end_of_its_previous_fetch_is_not_late() -> None:
    """Under a steady load a follower never has all: what the leader had a fetch ago is enough."""
    leader = replica(state(isr=(4, 5)))
    for second in range(30):
        leader.appended((second + 1) * 10, now=0.0)
        fetched(leader, 5, second * 10, now=float(second))
    assert leader.next_isr(EPOCHS.get, 30.0) is None


def test_a_silent_follower_that_has_everything_stays() -> None:
    leader = replica(state())
    fetched(leader, 5, 0)
    fetched(leader, 6, 0)
    assert leader.next_isr(EPOCHS.get, 1000.0) is None


def test_a_shrink_counts_only_once_it_is_committed() -> None:
    leader = replica(state())
    leader.appended(10, now=0.0)
    fetched(leader, 5, 10)
    shrink = proposal(leader, LAG + 1)
    assert shrink.isr == (4, 5) and leader.high_watermark == 0
    assert leader.isr_answered(shrink, IsrAccepted(isr=(4, 5), leader_epoch=2, version=2), LAG + 1)
    assert (leader.high_watermark, leader.leader_epoch) == (10, 2)


def test_a_follower_joins_with_all_that_is_committed_and_counts_from_the_moment_it_is_proposed() -> None:
    leader = replica(state(isr=(4, 5)))
    leader.appended(10, now=0.0)
    fetched(leader, 5, 10)
    fetched(leader, 6, 9)
    assert leader.next_isr(EPOCHS.get, 0.0) is None
    fetched(leader, 6, 10)
    assert proposal(leader, 0.0).isr == (4, 5, 6)
    leader.appended(20, now=0.0)
    fetched(leader, 5, 20)
    assert leader.high_watermark == 10


def test_a_follower_below_the_start_of_the_leader_term_does_not_join() -> None:
    """KAFKA-7128: the leader's high watermark may lag behind what an earlier leader committed."""
    leader = replica(state(isr=(4, 5)), end=20, high_watermark=12)
    fetched(leader, 6, 15)
    assert leader.next_isr(EPOCHS.get, 0.0) is None
    fetched(leader, 6, 20)
    assert proposal(leader, 0.0).isr == (4, 5, 6)


def test_a_follower_that_is_registered_anew_does_not_join_by_what_its_former_process_had() -> None:
    leader = replica(state(isr=(4, 5)))
    fetched(leader, 6, 0)
    assert leader.next_isr({4: 104, 5: 105, 6: 206}.get, 0.0) is None


@pytest.mark.requirement("D343-09")
def test_one_proposal_at_a_time() -> None:
    leader = replica(state())
    leader.appended(10, now=0.0)
    assert proposal(leader, LAG + 1).isr == (4,)
    fetched(leader, 5, 10, now=LAG + 1)
    assert leader.next_isr(EPOCHS.get, LAG + 2) is None


def test_silence_repeats_the_same_proposal_and_keeps_its_members_counted() -> None:
    leader = replica(state(isr=(4, 5)))
    fetched(leader, 6, 0)
    first = proposal(leader, 0.0)
    leader.isr_answered(first, IsrUnknown("no answer"), 1.0)
    leader.appended(10, now=0.0)
    fetched(leader, 5, 10)
    assert leader.high_watermark == 0, "6 may be a member by now"
    assert proposal(leader, 1.0 + LAG) == first


def test_a_refusal_after_silence_does_not_end_the_doubt_but_another_proposal_does() -> None:
    leader = replica(state(isr=(4, 5)))
    fetched(leader, 6, 0)
    first = proposal(leader, 0.0)
    leader.isr_answered(first, IsrUnknown("no answer"), 1.0)
    again = proposal(leader, 10.0)
    leader.appended(10, now=0.0)
    fetched(leader, 5, 10, now=10.0)
    assert not leader.isr_answered(again, IsrRefused(Error.INELIGIBLE_REPLICA), 10.0)
    settling = leader.next_isr({4: 104, 5: 105}.get, 20.0)
    assert settling is not None and settling.isr == (4, 5)
    assert leader.isr_answered(settling, IsrAccepted(isr=(4, 5), leader_epoch=2, version=2), 20.0)
    assert leader.high_watermark == 10


def test_a_refusal_adopts_nothing() -> None:
    leader = replica(state(isr=(4, 5)))
    leader.appended(10, now=0.0)
    fetched(leader, 6, 10)
    fetched(leader, 5, 5)
    expand = proposal(leader, 0.0)
    leader.isr_answered(expand, IsrRefused(Error.INELIGIBLE_REPLICA), 0.0)
    assert leader.isr.maximal == {4, 5} and leader.leader_epoch == 1


@pytest.mark.parametrize("error", [Error.INVALID_UPDATE_VERSION, Error.FENCED_LEADER_EPOCH])
def test_a_leader_that_is_behind_waits_for_the_newer_state(error: Error) -> None:
    leader = replica(state(isr=(4, 5)))
    fetched(leader, 6, 0)
    leader.isr_answered(proposal(leader, 0.0), IsrRefused(error), 0.0)
    assert leader.next_isr(EPOCHS.get, 1000.0) is None
    leader.assign(state(isr=(4, 5), epoch=2, leader_term=1), log_end_offset=0, min_isr=1, now=1000.0)
    assert proposal(leader, 1000.0).version == 2


def test_newer_state_overtakes_a_proposal_whose_answer_then_changes_nothing() -> None:
    leader = replica(state(isr=(4, 5)))
    fetched(leader, 6, 0)
    late = proposal(leader, 0.0)
    leader.assign(state(isr=(4,), epoch=2, leader_term=1), log_end_offset=0, min_isr=1, now=0.0)
    leader.isr_answered(late, IsrAccepted(isr=(4, 5, 6), leader_epoch=2, version=2), 1.0)
    assert leader.isr.committed == {4}


def test_a_replica_that_left_for_lagging_does_not_join_again_before_it_has_caught_up() -> None:
    """Below the minimum of in-sync replicas the high watermark stands still, so a silent follower has all of it."""
    leader = replica(state(isr=(4, 5)), min_isr=2)
    fetched(leader, 5, 0)
    leader.appended(10, now=0.0)
    assert proposal(leader, now=LAG + 1).isr == (4,)
    leader.assign(state(isr=(4,), epoch=2, leader_term=1), log_end_offset=10, min_isr=2, now=LAG + 1)
    assert leader.high_watermark == 0
    assert leader.next_isr(EPOCHS.get, LAG + 2) is None
    fetched(leader, 5, 10, now=LAG + 3)
    assert proposal(leader, now=LAG + 3).isr == (4, 5)


def test_below_the_minimum_acks_all_is_refused_and_nothing_more_is_committed() -> None:
    leader = replica(state(isr=(4,)), min_isr=2)
    assert leader.may_append(acks=-1) is Error.NOT_ENOUGH_REPLICAS
    assert leader.may_append(acks=1) is Error.NONE
    leader.appended(10, now=0.0)
    assert leader.high_watermark == 0


def test_the_minimum_is_never_more_than_there_are_replicas() -> None:
    assert replica(state(isr=(4, 5, 6)), min_isr=5).may_append(acks=-1) is Error.NONE


def test_an_append_is_acknowledged_when_all_have_it() -> None:
    leader = replica(state(), min_isr=2)
    leader.appended(10, now=0.0)
    assert leader.acknowledges(10, led_since=1) is None
    fetched(leader, 5, 10)
    fetched(leader, 6, 10)
    assert leader.acknowledges(10, led_since=1) is Error.NONE


def test_an_append_is_not_acknowledged_after_the_isr_shrank_below_the_minimum() -> None:
    leader = replica(state(), min_isr=2)
    leader.appended(10, now=0.0)
    leader.assign(state(isr=(4,), epoch=2, leader_term=1), log_end_offset=10, min_isr=2, now=1.0)
    assert leader.acknowledges(10, led_since=1) is Error.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def test_an_append_is_not_acknowledged_once_another_replica_has_led() -> None:
    leader = replica(state())
    leader.appended(10, now=0.0)
    leader.assign(state(leader=5, epoch=2), log_end_offset=10, min_isr=1, now=1.0)
    leader.assign(state(isr=(4,), epoch=3), log_end_offset=10, min_isr=1, now=1.0)
    assert leader.high_watermark == 10
    assert leader.acknowledges(10, led_since=1) is Error.NOT_LEADER_OR_FOLLOWER


def test_an_append_waits_on_while_its_leader_goes_on_at_a_newer_epoch() -> None:
    """Each change of the ISR is assigned as another leader term of the same broker."""
    leader = replica(state())
    leader.appended(10, now=0.0)
    fetched(leader, 5, 10)
    assert leader.assign(state(isr=(4, 5), epoch=2), log_end_offset=10, min_isr=1, now=1.0) is RoleTransition.LEADS_ANEW
    assert leader.acknowledges(10, led_since=1) is None
    fetched(leader, 5, 10)
    assert leader.acknowledges(10, led_since=1) is Error.NONE


def test_a_replica_that_is_in_sync_and_not_assigned_is_not_counted_for_the_minimum() -> None:
    leader = replica(state(isr=(4, 9)), min_isr=2)
    assert leader.may_append(acks=-1) is Error.NOT_ENOUGH_REPLICAS
    leader.appended(10, now=0.0)
    assert leader.high_watermark == 0
    assert leader.acknowledges(10, led_since=1) is Error.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def test_a_follower_knows_no_higher_watermark_than_its_log_end_and_none_goes_back() -> None:
    follower = replica(state(leader=5), end=10)
    assert follower.note_high_watermark(15) and follower.high_watermark == 10
    assert not follower.note_high_watermark(5) and follower.high_watermark == 10


def test_a_cut_log_takes_the_high_watermark_with_it() -> None:
    follower = replica(state(leader=5), end=10, high_watermark=10)
    follower.truncated(4)
    assert (follower.log_end_offset, follower.high_watermark) == (4, 4)


def test_a_replica_that_was_stopped_neither_leads_nor_follows_until_it_is_assigned_again() -> None:
    leader = replica(state())
    leader.appended(5, now=0.0)
    leader.stop()
    assert leader.check_leader(-1) is Error.NOT_LEADER_OR_FOLLOWER
    assert leader.acknowledges(5, 1) is Error.NOT_LEADER_OR_FOLLOWER
    assert leader.assign(state(epoch=0), log_end_offset=5, min_isr=1, now=1.0) is RoleTransition.NOTHING
    assert leader.assign(state(), log_end_offset=5, min_isr=1, now=1.0) is RoleTransition.LEADS
    assert (leader.role, leader.leader_term_start) == (ReplicaRole.LEADER, 5)
    assert leader.assign(state(), log_end_offset=5, min_isr=1, now=1.0) is RoleTransition.NOTHING


def test_a_replica_proposed_before_the_leader_was_stopped_counts_after_an_assignment_at_the_same_version() -> None:
    leader = replica(state(isr=(4, 5)))
    fetched(leader, 5, 0)
    fetched(leader, 6, 0)
    asked = proposal(leader, 0.0)
    assert asked.isr == (4, 5, 6)
    leader.stop()
    leader.assign(state(isr=(4, 5)), log_end_offset=0, min_isr=1, now=1.0)
    leader.appended(3, now=0.0)
    fetched(leader, 5, 3)
    assert leader.high_watermark == 0, "6 may be a member by now"
    leader.isr_answered(asked, IsrAccepted(isr=(4, 5, 6), leader_epoch=1, version=2), 1.0)
    assert fetched(leader, 6, 3) and leader.high_watermark == 3


def test_a_replica_whose_storage_failed_says_so_for_good() -> None:
    leader = replica(state())
    leader.appended(5, now=0.0)
    leader.fail()
    storage = Error.KAFKA_STORAGE_ERROR
    assert leader.check_leader(0) is leader.check_leader(99) is leader.acknowledges(5, 1) is storage
    assert leader.next_isr(EPOCHS.get, 1.0) is None


@pytest.mark.requirement("INT-56", "INT-57", "INT-59", "INT-60")
def test_of_two_leaders_the_old_one_commits_nothing_since_its_shrink_finds_another_version() -> None:
    old = replica(state(isr=(4, 5)))
    fetched(old, 5, 0)
    old.appended(3, now=0.0)
    assert old.acknowledges(3, 1) is None, "5 leads by now, and fetches no more"
    asked = proposal(old, LAG + 1)
    assert asked.isr == (4,)
    assert old.high_watermark == 0, "a shrink counts once it is committed"
    old.isr_answered(asked, IsrRefused(Error.INVALID_UPDATE_VERSION), LAG + 1)
    assert old.acknowledges(3, 1) is None and old.next_isr(EPOCHS.get, LAG + 60) is None
    assert old.assign(state(leader=5, isr=(5,), epoch=2), log_end_offset=3, min_isr=1, now=80) is RoleTransition.FOLLOWS
    assert old.acknowledges(3, 1) is Error.NOT_LEADER_OR_FOLLOWER
