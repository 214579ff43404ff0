"""Winning a partition: which replicas may, and with an epoch that no leader had before."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.partition import election, isr_change
from fencepost.cluster_impl.designs.leader_driven.partition.election import ElectionLoss, ElectionWin
from fencepost.cluster_impl.designs.leader_driven.partition.situation import (
    ReplicaAssignment,
    Situation,
    read_situation,
)
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState, Leader
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.cluster_impl.designs.znode_tree import TermOver, ZnodeTree

OF = TopicPartition("t", 0)
NEW = IsrState((), 0)


def tree_of(replicas: Sequence[int], in_sync: IsrState | None = None, rar: Sequence[int] | None = None) -> ZnodeTree:
    tree = ZnodeTree()
    tree.create(znodes.replicas(OF), znodes.write_replicas(replicas))
    if in_sync is not None:
        tree.create(znodes.isr(OF), znodes.write_isr(in_sync))
    if rar is not None:
        tree.create(znodes.reassigned(OF), znodes.write_replicas(rar))
    return tree


def stand(tree: ZnodeTree, broker_id: int) -> ElectionWin | ElectionLoss:
    """Run steps in a session with the broker's number."""
    return tree.run(election.stand(broker_id, OF), broker_id)


def in_sync(tree: ZnodeTree) -> IsrState:
    return znodes.read_isr(OF, tree.data(znodes.isr(OF)), tree.version(znodes.isr(OF)))


@pytest.mark.requirement("LD-50", "LD-12", "LD-13")
def test_the_first_leader_of_a_partition_takes_epoch_0() -> None:
    tree = tree_of([4, 5])
    won = stand(tree, 4)
    assert isinstance(won, ElectionWin) and won.epoch == 0
    assert znodes.read_leader(OF, tree.data(znodes.leader(OF))) == Leader(4, 0)
    assert in_sync(tree) == NEW
    assert tree.owner(znodes.leader(OF)) == 4
    assert tree.owner(znodes.isr(OF)) == 0


@pytest.mark.requirement("LD-03", "DLD-04")
def test_each_election_takes_a_later_epoch_and_leaves_the_isr_as_it_is() -> None:
    tree = tree_of([4, 5], IsrState((4, 5), 7))
    for broker_id, epoch in [(4, 8), (5, 9), (4, 10)]:
        won = stand(tree, broker_id)
        assert isinstance(won, ElectionWin) and won.epoch == epoch
        assert (in_sync(tree).isr, in_sync(tree).epoch) == ((4, 5), epoch)
        tree.end_session(broker_id)


@pytest.mark.requirement("LD-03", "DLD-04")
@pytest.mark.parametrize("writes", range(4))
def test_a_winner_that_dies_between_its_writes_leaves_no_epoch_to_be_used_twice(writes: int) -> None:
    tree = tree_of([4, 5], IsrState((4, 5), 7))
    tree.writes_left = writes
    try:
        stand(tree, 4)
    except TermOver:
        assert writes < 3
    announced = tree.exists(znodes.leader(OF)) and znodes.read_leader(OF, tree.data(znodes.leader(OF))).epoch
    tree.writes_left = None
    tree.end_session(4)
    won = stand(tree, 5)
    assert isinstance(won, ElectionWin)
    assert won.epoch > max(7, announced)


@pytest.mark.requirement("LD-30")
def test_a_slower_replica_does_not_win() -> None:
    tree = tree_of([4, 5], IsrState((4, 5), 7))
    stand(tree, 4)
    assert stand(tree, 5) is ElectionLoss.OTHER_LEADS
    assert in_sync(tree).epoch == 8


@pytest.mark.requirement("LD-28", "DLD-04")
def test_a_replica_outside_the_isr_does_not_win_and_gives_the_leadership_back() -> None:
    tree = tree_of([4, 5, 6], IsrState((4, 5), 7))
    assert stand(tree, 6) is ElectionLoss.NOT_ELIGIBLE
    assert not tree.exists(znodes.leader(OF))
    assert in_sync(tree) == IsrState((4, 5), 7)


@pytest.mark.requirement("LD-28", "DLD-10", "DLD-03")
@pytest.mark.parametrize(
    ("ar", "rar", "isr", "eligible"),
    [
        ((4, 5), None, (), {4, 5}),
        ((4, 5), None, (5,), {5}),
        ((4, 5), None, (6,), set()),
        ((4, 5), (6, 7), (4, 6), {4, 6}),
        ((4, 5), (6, 7), (), {4, 5, 6, 7}),
        (None, (6, 7), (), {6, 7}),
        (None, None, (), set()),
        ((4, 5), (), (4,), {4}),
    ],
)
def test_eligible_is_a_replica_that_is_assigned_or_being_assigned_and_in_an_isr_that_is_not_empty(
    ar: tuple[int, ...] | None, rar: tuple[int, ...] | None, isr: tuple[int, ...], eligible: set[int]
) -> None:
    found = Situation(ReplicaAssignment(ar, rar), IsrState(isr, 3))
    assert {each for each in range(10) if found.is_eligible(each)} == eligible


@pytest.mark.requirement("DLD-04")
def test_an_isr_that_changes_between_read_and_write_is_read_again() -> None:
    """The last leader's change of the ISR was still on its way when its session ended."""
    tree = tree_of([4, 5], IsrState((4, 5), 7))
    steps = election.stand(5, OF)
    batch = next(steps)
    while not (batch[0].path == znodes.isr(OF) and len(batch) == 1):
        batch = steps.send(tree.execute(batch, 5))
    tree.overwrite(znodes.isr(OF), znodes.write_isr(IsrState((5,), 7)))
    outcomes = tree.execute(batch, 5)
    while True:
        try:
            outcomes = tree.execute(steps.send(outcomes), 5)
        except StopIteration as end:
            assert isinstance(end.value, ElectionWin)
            break
    assert (in_sync(tree).isr, in_sync(tree).epoch) == ((5,), 8)


def test_a_partition_that_is_gone_is_not_led() -> None:
    assert stand(ZnodeTree(), 4) is ElectionLoss.GONE


def test_an_isr_that_cannot_be_read_lets_no_replica_lead() -> None:
    tree = tree_of([4, 5])
    tree.create(znodes.isr(OF), b"?")
    with pytest.raises(MalformedZnode):
        stand(tree, 4)
    assert not tree.exists(znodes.leader(OF))


def test_a_leadership_of_another_session_is_not_given_up() -> None:
    tree = tree_of([4, 5], IsrState((4, 5), 7))
    stand(tree, 4)
    tree.run(election.give_up(OF), 5)
    assert tree.exists(znodes.leader(OF))
    tree.run(election.give_up(OF), 4)
    assert not tree.exists(znodes.leader(OF))


@pytest.mark.requirement("LD-20")
def test_the_leader_is_watched_where_there_is_none_yet() -> None:
    tree = tree_of([4, 5])
    tree.run(read_situation(OF), 5)
    stand(tree, 4)
    assert tree.fired_in[5] == [znodes.leader(OF)]


@pytest.mark.requirement("LD-13", "DLD-04")
def test_an_isr_is_written_on_top_of_the_version_that_is_known_and_of_no_other() -> None:
    tree = tree_of([4, 5], IsrState((4, 5), 7))
    assert tree.run(isr_change.write_once(OF, IsrState((4,), 7, version=0))) == IsrState((4,), 7, version=1)
    for version in (0, 2):
        assert tree.run(isr_change.write_once(OF, IsrState((5,), 7, version))) == IsrState((4,), 7, version=1)
    assert in_sync(tree) == IsrState((4,), 7, version=1)


def test_a_change_of_the_isr_is_made_to_what_is_there_as_long_as_the_epoch_lasts() -> None:
    tree = tree_of([4, 5, 6], IsrState((4, 5), 7))
    known = IsrState((4, 5), 7, version=0)
    tree.run(isr_change.write_once(OF, IsrState((4,), 7, version=0)))
    assert tree.run(isr_change.write(OF, known, lambda isr: (6, *isr))) == IsrState((6, 4), 7, version=2)
    stand(tree, 4)
    assert tree.run(isr_change.write(OF, known, lambda isr: (6, *isr))) is None
    assert in_sync(tree).isr == (6, 4)
