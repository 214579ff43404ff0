"""The rules of replication design V2, one by one; those of KIP-101 are in `test_partition`."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.replication.control_plane import IsrAccepted, PartitionAssignment
from fencepost.cluster_impl.replication.follower import FollowerFetch
from fencepost.cluster_impl.replication.partition import Partition, RoleTransition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.replication.rules import KIP_101, REPLICATION_V2, LagSince, Rules
from fencepost.cluster_impl.storage.epochs import UNDEFINED_EPOCH
from fencepost.cluster_impl.wire.batches import build
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.replication.parts import NAME, TOPIC_ID, Node

LAG = 10.0
EPOCHS = {4: 104, 5: 105, 6: 106}


def state(
    leader: int = 4,
    isr: tuple[int, ...] = (4, 5, 6),
    epoch: int = 1,
    version: int = 1,
    *,
    replicas: tuple[int, ...] = (4, 5, 6),
    serves_clients: bool = True,
    leaving: frozenset[int] = frozenset(),
) -> PartitionAssignment:
    """A change of ISR has another version, and the epoch of the leader."""
    return PartitionAssignment(
        topic="t", topic_id=TOPIC_ID, partition=0, replicas=replicas, isr=isr, leader=leader,
        leader_epoch=epoch, leader_term_epoch=epoch, version=version, serves_clients=serves_clients, leaving=leaving,
    )  # fmt: skip


def replica(
    to: PartitionAssignment, *, end: int = 0, high_watermark: int = 0, rules: Rules = REPLICATION_V2
) -> Partition:
    partition = Partition(4, NAME, TOPIC_ID, high_watermark=high_watermark, lag_limit=LAG, rules=rules)
    partition.assign(to, log_end_offset=end, min_isr=1, now=0.0)
    return partition


def fetched(leader: Partition, replica_id: int, offset: int, now: float) -> bool:
    request = FollowerFetch(replica_id, EPOCHS[replica_id], leader.leader_epoch, offset)
    assert leader.check_follower(request, EPOCHS[replica_id]) is Error.NONE
    return leader.credit(request, now)


def wished(leader: Partition, now: float) -> tuple[int, ...] | None:
    proposal = leader.next_isr(EPOCHS.get, now)
    return None if proposal is None else proposal.isr


def node(node_id: int, values: list[bytes], high_watermark: int, rules: Rules = REPLICATION_V2) -> Node:
    """A process that was started on a disk with these records, all written in leader epoch 0."""
    found = Node(node_id, EPOCHS[node_id], [], high_watermark, rules)
    for value in values:
        found.memory.append_as_leader(build([(None, value, 1)]), 0)
    found.core.high_watermark = min(high_watermark, len(values))
    return found


# What a new leader takes for committed


@pytest.mark.requirement("LD-51", "DLD-28")
def test_a_new_leader_takes_its_whole_log_for_committed() -> None:
    leader = replica(state(epoch=3), end=20, high_watermark=12)
    assert (leader.high_watermark, leader.leader_term_start) == (20, 20)


def test_a_leader_whose_isr_changes_goes_on_with_the_high_watermark_it_has() -> None:
    leader = replica(state(), end=20)
    leader.appended(30, now=1.0)
    assert leader.assign(state(version=2), log_end_offset=30, min_isr=1, now=2.0) is RoleTransition.LEADS_ON
    assert leader.high_watermark == 20


@pytest.mark.requirement("LD-69", "LD-72")
def test_what_is_written_after_that_waits_for_every_in_sync_replica() -> None:
    leader = replica(state(), end=20)
    leader.appended(30, now=1.0)
    assert leader.acknowledges(30, led_since=1) is None
    assert not fetched(leader, 5, 30, now=1.0)
    assert fetched(leader, 6, 30, now=1.0)
    assert leader.acknowledges(30, led_since=1) is Error.NONE


# A leader that only its followers may use


@pytest.mark.requirement("DLD-06")
def test_a_leader_that_waits_for_its_followers_serves_them_and_no_client() -> None:
    leader = replica(state(serves_clients=False), end=20)
    assert (leader.check_leader(1), leader.check_client(1)) == (Error.NONE, Error.NOT_LEADER_OR_FOLLOWER)
    fetched(leader, 5, 15, now=1.0)
    progress = leader.progress(now=3.0)
    assert progress.ends == {5: 15, 6: -1}
    assert progress.silent_for == {5: 2.0, 6: 3.0}


def test_a_leader_that_waits_for_its_followers_asks_for_no_isr() -> None:
    leader = replica(state(serves_clients=False), end=20)
    assert wished(leader, now=LAG * 9) is None


def test_it_serves_clients_from_the_assignment_on_also_at_the_same_version() -> None:
    leader = replica(state(serves_clients=False), end=20)
    fetched(leader, 5, 20, now=1.0)
    assert leader.assign(state(), log_end_offset=20, min_isr=1, now=2.0) is RoleTransition.LEADS_ON
    assert leader.check_client(1) is Error.NONE
    assert leader.progress(now=2.0).ends == {5: 20, 6: -1}
    assert leader.assign(state(), log_end_offset=20, min_isr=1, now=2.0) is RoleTransition.NOTHING


@pytest.mark.requirement("DLD-21")
def test_a_leader_that_is_about_to_go_refuses_clients_and_completes_what_it_began() -> None:
    leader = replica(state(isr=(4, 5)))
    leader.appended(5, now=1.0)
    leader.assign(state(isr=(4, 5), serves_clients=False), log_end_offset=5, min_isr=1, now=1.0)
    assert leader.check_client(-1) is Error.NOT_LEADER_OR_FOLLOWER
    assert leader.acknowledges(5, led_since=1) is None
    fetched(leader, 5, 5, now=1.0)
    assert leader.acknowledges(5, led_since=1) is Error.NONE


def test_replicas_and_settings_change_at_the_same_version() -> None:
    leader = replica(state(replicas=(4, 5)))
    fetched(leader, 5, 0, now=1.0)
    change = leader.assign(state(replicas=(4, 5, 6)), log_end_offset=0, min_isr=2, now=2.0)
    assert change is RoleTransition.LEADS_ON
    assert leader.progress(now=2.0).ends == {5: 0, 6: -1} and leader.min_isr == 2


# Lag


@pytest.mark.requirement("DLD-08")
def test_an_idle_follower_is_never_dropped() -> None:
    leader = replica(state())
    for follower in (5, 6):
        fetched(leader, follower, 0, now=0.0)
    assert wished(leader, now=LAG * 100) is None


@pytest.mark.requirement("LD-70", "DLD-08")
@pytest.mark.parametrize(("rules", "late_from"), [(REPLICATION_V2, LAG * 2), (KIP_101, LAG)])
def test_the_clock_runs_from_the_record_that_a_follower_lacks_not_from_its_last_fetch(
    rules: Rules, late_from: float
) -> None:
    leader = replica(state(), rules=rules)
    for follower in (5, 6):
        fetched(leader, follower, 0, now=0.0)
    leader.appended(5, now=LAG)
    fetched(leader, 5, 5, now=LAG)
    assert wished(leader, now=late_from) is None
    assert wished(leader, now=late_from + 0.1) == (4, 5)


def test_each_record_has_its_own_time_so_a_follower_that_copies_steadily_behind_the_end_stays() -> None:
    leader = replica(state(isr=(4, 5), replicas=(4, 5)))
    for second in range(60):
        leader.appended((second + 1) * 10, now=float(second))
        fetched(leader, 5, max(second - 5, 0) * 10, now=second + 0.5)
        assert wished(leader, now=second + 0.5) is None
    assert wished(leader, now=63.9) is None
    assert wished(leader, now=65.0) == (4,)


def test_a_follower_that_has_never_fetched_is_late_after_the_limit() -> None:
    leader = replica(state())
    fetched(leader, 5, 0, now=0.0)
    assert wished(leader, now=LAG) is None
    assert wished(leader, now=LAG + 0.1) == (4, 5)


def test_a_follower_that_came_back_with_less_than_it_had_gets_the_time_anew() -> None:
    leader = replica(state(isr=(4, 5), replicas=(4, 5)))
    leader.appended(10, now=0.0)
    fetched(leader, 5, 10, now=0.0)
    fetched(leader, 5, 4, now=LAG * 3)
    assert wished(leader, now=LAG * 4) is None
    assert wished(leader, now=LAG * 4 + 0.1) == (4,)


@pytest.mark.requirement("LD-71")
def test_a_replica_that_left_joins_again_once_it_has_all_that_is_committed() -> None:
    leader = replica(state(isr=(4, 5)))
    leader.appended(10, now=0.0)
    fetched(leader, 5, 10, now=1.0)
    fetched(leader, 6, 9, now=1.0)
    assert wished(leader, now=1.0) is None
    fetched(leader, 6, 10, now=2.0)
    assert wished(leader, now=2.0) == (4, 5, 6)


# Replicas that were asked to close


@pytest.mark.requirement("DLD-09")
def test_a_replica_that_was_asked_to_close_leaves_once_it_is_silent_though_it_lacks_nothing() -> None:
    leader = replica(state())
    for follower in (5, 6):
        fetched(leader, follower, 0, now=0.0)
    leader.assign(state(leaving=frozenset({6})), log_end_offset=0, min_isr=1, now=1.0)
    fetched(leader, 6, 0, now=5.0)
    assert wished(leader, now=LAG + 5) is None, "it still fetches"
    assert wished(leader, now=LAG + 5.1) == (4, 5)


def test_a_replica_that_was_asked_to_close_does_not_join() -> None:
    leader = replica(state(isr=(4, 5), leaving=frozenset({6})))
    fetched(leader, 6, 0, now=0.0)
    assert wished(leader, now=0.0) is None
    leader.assign(state(isr=(4, 5)), log_end_offset=0, min_isr=1, now=1.0)
    assert wished(leader, now=1.0) == (4, 5, 6)


def test_a_change_of_isr_does_not_make_a_leaving_replica_heard_of_anew() -> None:
    leader = replica(state(leaving=frozenset({6})))
    for follower in (5, 6):
        fetched(leader, follower, 0, now=0.0)
    leader.assign(state(version=2, leaving=frozenset({6})), log_end_offset=0, min_isr=1, now=LAG)
    assert wished(leader, now=LAG + 0.1) == (4, 5)


# A replica that begins with nothing


@pytest.mark.requirement("DLD-13")
def test_a_replica_that_was_made_anew_says_so_until_it_has_what_its_leader_has_committed() -> None:
    follower = Partition(4, NAME, TOPIC_ID, high_watermark=0, lag_limit=LAG, rules=REPLICATION_V2, began_empty=True)
    follower.assign(state(leader=5), log_end_offset=0, min_isr=1, now=0.0)
    follower.copied(7)
    follower.note_high_watermark(9)
    assert follower.progress(now=0.0).began_empty
    follower.copied(9)
    follower.note_high_watermark(9)
    assert not follower.progress(now=0.0).began_empty
    follower.truncated(0)
    assert not follower.progress(now=0.0).began_empty


def test_a_leader_lacks_nothing() -> None:
    leader = Partition(4, NAME, TOPIC_ID, high_watermark=0, lag_limit=LAG, rules=REPLICATION_V2, began_empty=True)
    leader.assign(state(), log_end_offset=0, min_isr=1, now=0.0)
    assert not leader.progress(now=0.0).began_empty


def test_a_replica_can_be_looked_at_before_it_has_a_leader() -> None:
    waiting = replica(state(leader=-1, isr=(), epoch=-1, version=-1), end=8, high_watermark=5)
    progress = waiting.progress(now=1.0)
    assert (progress.role, progress.leader_epoch, progress.version) == (ReplicaRole.OFFLINE, -1, -1)
    assert (progress.log_end_offset, progress.high_watermark, progress.ends) == (8, 5, {})


# Where a follower cuts its log


@pytest.mark.requirement("LD-48", "DLD-27")
def test_a_follower_cuts_its_log_to_its_own_high_watermark_and_asks_no_leader() -> None:
    follower = node(4, [b"a", b"b", b"c"], high_watermark=2)
    follower.replica.assign(state(leader=5), now=0.0)
    assert follower.memory.log_end_offset == follower.core.log_end_offset == 2
    assert follower.replica.latest_epoch() == UNDEFINED_EPOCH, "it names no epoch of its log to the leader"


@pytest.mark.requirement("DINT-03", "D631-34")
def test_by_leader_epochs_nothing_is_cut_before_the_leader_was_asked() -> None:
    follower = node(4, [b"a", b"b", b"c"], high_watermark=2, rules=KIP_101)
    follower.replica.assign(state(leader=5), now=0.0)
    assert follower.memory.log_end_offset == 3 and follower.replica.latest_epoch() == 0


def test_a_change_of_isr_cuts_nothing() -> None:
    follower = node(4, [b"a"], high_watermark=1)
    follower.replica.assign(state(leader=5), now=0.0)
    follower.replica.append_as_follower(follower.memory.entries[0].replace(bytes(8), bytes(7) + b"\x01", 1), 1)
    change = follower.replica.assign(state(leader=5, isr=(5,), version=2), now=1.0)
    assert change is RoleTransition.FOLLOWS_ON and follower.memory.log_end_offset == 2


def test_a_leader_that_is_deposed_cuts_what_was_not_committed() -> None:
    former = node(4, [b"a", b"b"], high_watermark=0)
    former.replica.assign(state(isr=(4, 5)), now=0.0)
    former.replica.append_as_leader(build([(None, b"c", 1)]), -1, 1.0)
    former.replica.assign(state(leader=5, isr=(5,), epoch=2), now=2.0)
    assert former.memory.log_end_offset == 2


def test_a_log_that_ends_beyond_its_leaders_is_cut_to_what_the_leader_has_committed() -> None:
    follower = node(4, [b"a", b"b", b"c"], high_watermark=3)
    follower.replica.assign(state(leader=5), now=0.0)
    follower.replica.cut_to_high_watermark(of_leader=1)
    assert (follower.memory.log_end_offset, follower.core.high_watermark) == (1, 1)


# The rules go one by one


def test_the_clock_is_chosen_apart_from_where_a_leader_starts() -> None:
    leader = replica(state(), end=20, high_watermark=12, rules=Rules(lag_since=LagSince.FIRST_MISSING))
    assert leader.high_watermark == 12
    shrink = leader.next_isr(EPOCHS.get, LAG + 1)
    assert shrink is not None
    assert leader.isr_answered(shrink, IsrAccepted(isr=(4,), leader_epoch=1, version=2), LAG + 1)
    assert leader.high_watermark == 20
