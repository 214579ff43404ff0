"""Sets of voters: their history along a log, their record, and what a core does with them."""

from __future__ import annotations

from random import Random

import pytest

from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.log_shape import LogShape
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd, FetchRequest
from fencepost.cluster_impl.designs.quorum.raft.roles import VoterSettings
from fencepost.cluster_impl.designs.quorum.raft.snapshot_format import read_snapshot, snapshot_parts, snapshot_voters
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState, VoterRole
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterHistory, VoterSet
from fencepost.cluster_impl.designs.quorum.raft.voters_record import VOTERS_KEY, encode_voters, voters_in
from fencepost.cluster_impl.wire import batches as format_
from fencepost.cluster_impl.wire.batches import Batch

THREE = VoterSet.of({1: ("node-1", 9090), 2: ("node-2", 9090), 3: ("node-3", 65535)})
FOUR = VoterSet.of({**THREE.addresses, 7: ("node-7", 9090)})


def test_a_set_holds_from_its_record_on_and_an_earlier_one_again_when_that_is_truncated() -> None:
    history = VoterHistory(THREE)
    history.append(10, FOUR)
    assert (history.latest, history.last_offset) == (FOUR, 10)
    assert (history.at(10), history.at(11)) == (THREE, FOUR)
    assert not history.truncate(11)
    assert history.truncate(10)
    assert (history.latest, history.last_offset) == (THREE, -1)


def test_a_record_of_voters_reads_as_it_was_written() -> None:
    built = format_.build([(VOTERS_KEY, encode_voters(FOUR), 0)], control=True)
    assert voters_in(Batch(memoryview(built))) == FOUR


def test_only_a_control_batch_is_a_record_of_voters() -> None:
    built = format_.build([(VOTERS_KEY, encode_voters(FOUR), 0)])
    assert voters_in(Batch(memoryview(built))) is None


@pytest.mark.parametrize("voters", [None, FOUR])
def test_a_snapshot_carries_the_voters_beside_its_records(voters: VoterSet | None) -> None:
    content = b"".join(snapshot_parts(EpochEnd(3, 9), [b"x"], voters))
    assert snapshot_voters(content) == voters
    assert read_snapshot(content) == [b"x"]


def test_a_snapshot_without_voters_leaves_the_configured_ones_with_their_addresses() -> None:
    settings = VoterSettings(1, THREE.ids, "cluster")
    core = RaftCore(settings, QuorumState(), LogShape(), Random(1), 0.0, voters=VoterHistory(THREE))
    core.snapshot_installed(EpochEnd(2, 9), 0.0)
    assert core.voters.latest == THREE
    core.snapshot_installed(EpochEnd(2, 12), 0.0, FOUR)
    assert core.voters.latest == FOUR


@pytest.mark.requirement("K631-02")
def test_a_node_without_a_vote_asks_for_the_leader_and_never_stands_for_election() -> None:
    settings = VoterSettings(7, frozenset(), "cluster", contacts=frozenset({1, 2}))
    core = RaftCore(settings, QuorumState(), LogShape(), Random(1), 0.0)
    for tick in range(1, 60):
        sent = [effect for effect in core.tick(tick / 2) if isinstance(effect, fx.Send)]
        assert {type(each.request) for each in sent} <= {FetchRequest}
        for each in sent:
            core.failed(each.peer, each.correlation, tick / 2)
    assert (core.role, core.epoch) == (VoterRole.UNATTACHED, 0)
