"""Random histories of a quorum: the core keeps every guarantee, and each core that is broken on purpose is caught.

More histories than a test run has time for: `python -m tests.cluster_impl.designs.quorum.raft.test_simulation FROM TO`.
"""

import sys

import pytest

from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.replicated_log import CommittedRecordsAtRisk
from fencepost.cluster_impl.designs.quorum.raft.state import VoterRole
from tests.cluster_impl.designs.quorum.raft import mutants
from tests.cluster_impl.designs.quorum.raft.oracle import GuaranteeBroken
from tests.cluster_impl.designs.quorum.raft.simulation import FETCH_TIMEOUT, SimulatedQuorum, random_history


def test_every_guarantee_holds_in_random_histories_and_healed_quorums_make_progress() -> None:
    committed = elections = confirmations = installed = damaged = 0
    for seed in range(80):
        quorum = random_history(seed)
        committed += len(quorum.oracle.committed)
        elections += quorum.oracle.elections
        confirmations += quorum.confirmations
        installed += quorum.installed
        damaged += quorum.damaged
    # Histories in which nothing happens would prove nothing.
    assert committed > 1000
    assert elections > 200
    assert confirmations > 300
    assert installed > 10
    assert damaged > 20


@pytest.mark.parametrize("core", mutants.SEEN_IN_STORMS, ids=lambda core: core.__name__)
def test_a_core_that_is_broken_on_purpose_is_caught(core: type[RaftCore]) -> None:
    first = mutants.RARE.get(core, 0)
    with pytest.raises((GuaranteeBroken, ValueError, AssertionError, CommittedRecordsAtRisk)):
        for seed in range(first, first + 300):
            random_history(seed, core)


@pytest.mark.requirement("K631-06")
def test_every_guarantee_holds_while_voters_are_added_and_removed() -> None:
    changes = elections = installed = 0
    for seed in range(40):
        quorum = random_history(seed, changes=True)
        changes += quorum.oracle.changes
        elections += quorum.oracle.elections
        installed += quorum.installed
    assert changes > 30
    assert elections > 150
    assert installed > 5


@pytest.mark.requirement("K631-06")
@pytest.mark.parametrize("core", mutants.SEEN_WHILE_VOTERS_CHANGE, ids=lambda core: core.__name__)
def test_a_core_that_changes_voters_wrongly_on_purpose_is_caught(core: type[RaftCore]) -> None:
    with pytest.raises((GuaranteeBroken, ValueError, AssertionError)):
        for seed in range(300):
            random_history(seed, core, changes=True)


def isolated_leader_stops(core: type[RaftCore]) -> bool:
    quorum = SimulatedQuorum(seed=1, core=core)
    quorum.run_until(5, lambda: quorum.leader() is not None)
    old = quorum.leader()
    assert old is not None
    quorum.cut = {pair for other in quorum.nodes for pair in ((old.node, other), (other, old.node))}
    quorum.run_until(quorum.now + FETCH_TIMEOUT + 0.1)
    return old.core.role is not VoterRole.LEADER


def test_a_leader_that_no_majority_hears_resigns_within_the_fetch_timeout() -> None:
    assert isolated_leader_stops(RaftCore)
    assert not isolated_leader_stops(mutants.NeverResigns)


def test_a_voter_that_was_cut_off_deposes_no_leader_when_it_returns() -> None:
    quorum = SimulatedQuorum(seed=2)
    quorum.run_until(5, lambda: quorum.leader() is not None)
    leader = quorum.leader()
    assert leader is not None
    epoch = leader.core.epoch
    other = next(node for node in quorum.nodes if node != leader.node)
    quorum.cut = {pair for node in quorum.nodes for pair in ((node, other), (other, node))}
    quorum.run_until(quorum.now + 10)
    assert quorum.lives[other].core.epoch == epoch
    quorum.heal()
    assert quorum.recovers()
    assert leader.core.role is VoterRole.LEADER
    assert leader.core.epoch == epoch


if __name__ == "__main__":
    first, last = int(sys.argv[1]), int(sys.argv[2])
    for number in range(first, last):
        random_history(number)
        random_history(number, changes=True)
    print(f"{2 * (last - first)} histories, every guarantee held")
