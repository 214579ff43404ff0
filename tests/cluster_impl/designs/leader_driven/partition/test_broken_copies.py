"""Deliberately broken copies of the core are found; each would be a real defect of the design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from fencepost.cluster_impl.coordination.steps import ANY_VERSION, Done, Exists, SetData, Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.partition import agent, election, isr_change
from fencepost.cluster_impl.designs.leader_driven.partition.situation import Situation
from fencepost.cluster_impl.designs.leader_driven.state_changes import handling, queue
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import QueuedRequest, StateChangeRequest
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster, partition
from tests.cluster_impl.designs.leader_driven.partition.test_random_interleavings import play

Patch = Callable[[pytest.MonkeyPatch], None]


def start_at_any_epoch(patch: pytest.MonkeyPatch) -> None:
    def anything(request: StateChangeRequest) -> Steps[int | None]:
        yield [Exists(znodes.leader(request.partition))]
        return None

    patch.setattr(handling, "_later_epoch", anything)


def close_dropped_by_shrink(patch: pytest.MonkeyPatch) -> None:
    def nothing(requests: Sequence[QueuedRequest]) -> list[QueuedRequest]:
        return []

    patch.setattr(queue, "_latest_closes", nothing)


def isr_without_compare_and_set(patch: pytest.MonkeyPatch) -> None:
    def write_anyway(partition: TopicPartition, wanted: IsrState) -> Steps[IsrState | None]:
        [outcome] = yield [SetData(znodes.isr(partition), znodes.write_isr(wanted), ANY_VERSION)]
        return replace(wanted, version=outcome.version) if isinstance(outcome, Done) else None

    patch.setattr(isr_change, "write_once", write_anyway)


def election_outside_the_isr(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Situation, "is_eligible", lambda found, broker_id: broker_id in found.assigned.members)


def epoch_taken_in_memory(patch: pytest.MonkeyPatch) -> None:
    """The epoch of the last leader, plus one, is announced without being written to /ISR first."""
    taken = election._take_epoch

    def not_written(me: int, partition: TopicPartition) -> Steps[Situation | election.ElectionLoss]:
        steps = taken(me, partition)
        batch = next(steps)
        while not any(isinstance(each, SetData) for each in batch):
            try:
                batch = steps.send((yield batch))
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
        [write] = batch
        assert isinstance(write, SetData)
        try:
            steps.send([Done(write.version)])
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        raise AssertionError("more steps behind the epoch than there were")

    patch.setattr(election, "_take_epoch", not_written)


def leadership_kept_without_session(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(agent.ReplicaAgent, "session_lost", lambda _: None)


def three_replicas(**config: Any) -> MemoryCluster:
    cluster = MemoryCluster(4, 5, 6, **config)
    cluster.create_topic("t", [4, 5, 6])
    cluster.pass_time(2.0)
    return cluster


def at_rest_in_the_end(cluster: MemoryCluster) -> None:
    cluster.frozen.clear()
    for broker_id in (4, 5, 6):
        if broker_id not in cluster.brokers:
            cluster.start(broker_id)
    cluster.pass_time(8.0)
    cluster.watcher.at_rest()
    assert all(task.is_over for task in cluster.admin), "an administrator still waits"


def a_request_of_an_old_leader_is_read_late() -> None:
    cluster = three_replicas()
    cluster.frozen = {6}
    cluster.pass_time(3.0)  # 4 asks the silent one to start
    cluster.kill(4)
    cluster.pass_time(3.0)
    assert cluster.tree.names(znodes.state(6))
    at_rest_in_the_end(cluster)


def the_queue_of_a_slow_broker_is_shrunk_behind_a_close() -> None:
    cluster = three_replicas(queue_capacity=2)
    cluster.frozen = {6}
    cluster.delete_topic("t")
    cluster.pass_time(1.0)
    cluster.create_topic("a", [4, 6])
    cluster.create_topic("b", [5, 6])
    cluster.pass_time(1.0)
    assert cluster.tree.data(znodes.state(6)) != znodes.write_queue(znodes.QueueZnode())
    at_rest_in_the_end(cluster)


def an_isr_is_written_late() -> None:
    """The leader requested an ISR, and stepped down before ZooKeeper had written it."""
    cluster = three_replicas()
    leader, name = cluster.brokers[4], partition("t-0")
    cluster.frozen = {6}
    leader.data_plane.append(name)
    cluster.fetch(cluster.brokers[5], name)
    cluster.fetch(cluster.brokers[5], name)
    cluster.now += 2.0
    leader.consider_isr(name)
    [late] = leader.tasks
    leader.tasks.clear()
    cluster.reassign("t-0", 5, 4, 6)
    cluster.pass_time(3.0)
    assert cluster.leader(name) == znodes.Leader(5, 1)
    leader.tasks.append(late)
    at_rest_in_the_end(cluster)


def all_in_sync_replicas_die() -> None:
    cluster = three_replicas()
    cluster.frozen = {6}
    cluster.brokers[4].data_plane.append(partition("t-0"))
    cluster.pass_time(3.0)
    cluster.kill(4)
    cluster.kill(5)
    cluster.frozen.clear()
    cluster.pass_time(5.0)
    at_rest_in_the_end(cluster)


def the_leader_dies() -> None:
    cluster = three_replicas()
    cluster.kill(4)
    cluster.pass_time(3.0)
    at_rest_in_the_end(cluster)


def the_session_of_the_leader_ends() -> None:
    cluster = three_replicas()
    cluster.expire(4)
    cluster.pass_time(3.0)
    at_rest_in_the_end(cluster)


CASES = [
    (start_at_any_epoch, a_request_of_an_old_leader_is_read_late),
    (close_dropped_by_shrink, the_queue_of_a_slow_broker_is_shrunk_behind_a_close),
    (isr_without_compare_and_set, an_isr_is_written_late),
    (election_outside_the_isr, all_in_sync_replicas_die),
    (epoch_taken_in_memory, the_leader_dies),
    (leadership_kept_without_session, the_session_of_the_leader_ends),
]


@pytest.mark.parametrize(("broken", "scenario"), CASES, ids=lambda value: value.__name__)
def test_a_broken_core_is_found_and_a_sound_one_is_not(
    broken: Patch, scenario: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario()
    broken(monkeypatch)
    with pytest.raises(AssertionError):
        scenario()


@pytest.mark.parametrize(
    "broken", [start_at_any_epoch, election_outside_the_isr, epoch_taken_in_memory, close_dropped_by_shrink]
)
def test_chance_finds_a_broken_core(broken: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch)
    with pytest.raises(AssertionError):
        for seed in range(60):
            play(seed, 4000, capacity=2 if broken is close_dropped_by_shrink else 100)
