"""What the data plane gets to know of this broker, and which folders are nobody's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from cluster_impl.designs.leader_driven.broker.control_plane import LeaderDrivenControlPlane
from cluster_impl.designs.leader_driven.broker.strays import Strays
from cluster_impl.replication.control_plane import NO_EPOCH, Change, DataPlane, PartitionRemoved, TopicPartition
from cluster_impl.storage.directory import Owner
from cluster_impl.storage.log_dirs import LogDirs
from cluster_impl.wire.errors import Error


class Live:
    epochs: Mapping[int, int] = {4: 40, 5: 50}


def control(epoch: int = 40, serves: Callable[[], bool] = lambda: True) -> LeaderDrivenControlPlane:
    nothing = cast("Any", None)
    return LeaderDrivenControlPlane(4, lambda: epoch, serves, cast("Any", Live()), nothing, nothing, nothing, nothing)


@pytest.mark.requirement("DLD-02")
def test_the_epoch_of_this_broker_is_its_own_word_and_that_of_others_is_their_registration() -> None:
    assert control().registered_epoch(4) == control().broker_epoch() == 40
    assert control().registered_epoch(5) == 50
    assert control().registered_epoch(6) is None
    assert control(NO_EPOCH).registered_epoch(4) is None


@pytest.mark.requirement("DLD-15")
def test_nothing_that_was_begun_is_completed_by_a_broker_that_serves_no_more() -> None:
    serves = True
    plane = control(serves=lambda: serves)
    assert plane.serving()
    serves = False
    assert not plane.serving()
    assert not plane.completes_begun()


class Removing:
    def __init__(self) -> None:
        self.removed: list[str] = []

    def apply(self, changes: Sequence[Change]) -> Mapping[TopicPartition, Error]:
        for change in changes:
            assert isinstance(change, PartitionRemoved) and change.topic_id is None
            self.removed.append(str(change.topic_partition))
        return {}


@pytest.mark.requirement("DLD-25")
def test_every_folder_that_is_not_kept_is_removed(tmp_path: Path) -> None:
    dirs = LogDirs.open([tmp_path / "one", tmp_path / "two"], "cluster", 4, Owner.BROKER_ID)
    for directory, index in zip(dirs, (0, 1), strict=True):
        directory.create("t", index)
        directory.create("u", index)
    plane = Removing()
    Strays(dirs, cast("DataPlane", plane)).remove({TopicPartition("t", 0), TopicPartition("u", 1)})
    assert sorted(plane.removed) == ["t-1", "u-0"]
    dirs.close()
