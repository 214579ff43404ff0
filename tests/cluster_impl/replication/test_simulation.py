"""Whatever is late, lost, killed or fenced: what was committed is on every replica that may be elected."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.replication import follower, partition, replica
from fencepost.cluster_impl.replication.in_sync import InSyncReplicas
from fencepost.cluster_impl.storage.epochs import TruncationPoint
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.replication.simulation import Broken, World

STEPS = 400


def outcome(seed: int) -> tuple[World, str]:
    """Run one world; return "", or the guarantee that does not hold."""
    world = World(seed, min_isr=1 + seed % 2, disks_fail=seed % 4 == 2, replicas_stop=seed % 4 == 3)
    try:
        world.run(STEPS)
        world.clear_faults()
    except (Broken, AssertionError) as broken:
        return world, str(broken)
    return world, "" if world.has_healed() else "it does not heal"


def some_world_breaks(seeds: int = 300) -> bool:
    return any(why for _, why in map(outcome, range(seeds)))


def test_nothing_committed_is_lost_and_everything_heals() -> None:
    acknowledged = restarts = 0
    for seed in range(300):
        world, broken = outcome(seed)
        assert not broken, f"world {seed}: {broken}"
        acknowledged += world.acknowledged
        restarts += max(world.state.registered.values())
    assert acknowledged > 1000 and restarts > 1000, "too little happens in these worlds"


def test_crediting_any_incarnation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "credits", lambda fetch, registered: Error.NONE)
    assert some_world_breaks()


def test_joining_below_the_start_of_a_leader_term_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "may_join", lambda *known: follower.may_join(known[0], known[1], known[2], 0))
    assert some_world_breaks()


def test_counting_only_the_committed_isr_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InSyncReplicas, "maximal", property(lambda isr: isr.committed))
    assert some_world_breaks()


def test_not_truncating_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "truncation_point", lambda *known: TruncationPoint(known[3], complete=True))
    assert some_world_breaks()
