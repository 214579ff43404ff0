"""The random interleavings find a core that is broken: each of these would be a real fault of the design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from cluster_impl.coordination.steps import ANY_VERSION, Done, Exists, SetData, Steps
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.partition import agent, election, isr_change
from cluster_impl.designs.leader_driven.partition.reassignment import Reassignment
from cluster_impl.designs.leader_driven.partition.situation import Situation
from cluster_impl.designs.leader_driven.state_changes import handling, queue
from cluster_impl.designs.leader_driven.state_changes.request import Queued, StateChangeRequest
from cluster_impl.designs.leader_driven.znodes import InSync
from cluster_impl.replication.control_plane import TopicPartition
from tests.cluster_impl.designs.leader_driven.partition.test_random_interleavings import play

Patch = Callable[[pytest.MonkeyPatch], None]


def start_at_any_epoch(patch: pytest.MonkeyPatch) -> None:
    def anything(request: StateChangeRequest) -> Steps[int | None]:
        yield [Exists(znodes.leader(request.partition))]
        return None

    patch.setattr(handling, "_later_epoch", anything)


def close_dropped_by_shrink(patch: pytest.MonkeyPatch) -> None:
    def nothing(requests: Sequence[Queued]) -> list[Queued]:
        return []

    patch.setattr(queue, "_latest_closes", nothing)


def isr_without_compare_and_set(patch: pytest.MonkeyPatch) -> None:
    def write_anyway(partition: TopicPartition, wanted: InSync) -> Steps[InSync | None]:
        [outcome] = yield [SetData(znodes.isr(partition), znodes.write_isr(wanted), ANY_VERSION)]
        return replace(wanted, version=outcome.version) if isinstance(outcome, Done) else None

    patch.setattr(isr_change, "write_once", write_anyway)


def election_outside_the_isr(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Situation, "is_eligible", lambda found, broker_id: broker_id in found.assigned.members)


def epoch_taken_in_memory(patch: pytest.MonkeyPatch) -> None:
    """The epoch of the last leader, plus one, is told without being written to /ISR first."""
    taken = election._take_epoch

    def not_written(me: int, partition: TopicPartition) -> Steps[Situation | election.NotWon]:
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


def close_not_repeated(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Reassignment, "_came_back", lambda *_: set())


def leadership_kept_without_session(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(agent.ReplicaAgent, "session_lost", lambda _: None)


@pytest.mark.parametrize(
    ("broken", "capacity"),
    [
        (start_at_any_epoch, 100),
        (close_dropped_by_shrink, 2),
        (isr_without_compare_and_set, 100),
        (election_outside_the_isr, 100),
        (epoch_taken_in_memory, 100),
        (leadership_kept_without_session, 100),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_it_is_found(broken: Patch, capacity: int, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch)
    for seed in range(60):
        try:
            play(seed, 4000, capacity)
        except AssertionError:
            return
    raise RuntimeError("nobody found it")
