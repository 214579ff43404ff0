"""The data plane's view of this broker, and the removal of stray folders."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any, cast

import pytest

from fencepost.cluster_impl.config.leader_driven import LeaderDrivenConfig
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.broker.broker_session import BrokerSession
from fencepost.cluster_impl.designs.leader_driven.broker.control_plane import LeaderDrivenControlPlane
from fencepost.cluster_impl.designs.leader_driven.partition.replica_context import ReplicaContext
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.shared.strays import Strays
from fencepost.cluster_impl.replication.control_plane import (
    NO_EPOCH,
    Change,
    DataPlane,
    PartitionRemoved,
    TopicPartition,
)
from fencepost.cluster_impl.storage.directory import Owner
from fencepost.cluster_impl.storage.log_dirs import LogDirs
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.leader_driven.broker.test_listeners import TreeExecution
from tests.cluster_impl.designs.znode_tree import ZnodeTree


class Live:
    epochs: Mapping[int, int] = {4: 40, 5: 50}


def control(epoch: int = 40, serves: Callable[[], bool] = lambda: True) -> LeaderDrivenControlPlane:
    nothing = cast("Any", None)
    live = cast("Any", Live())
    return LeaderDrivenControlPlane(4, lambda: epoch, serves, live, *[nothing] * 5)


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
        self.gone = asyncio.Event()

    def apply(self, changes: Sequence[Change]) -> Mapping[TopicPartition, Error]:
        for change in changes:
            assert isinstance(change, PartitionRemoved) and change.topic_id is None
            self.removed.append(str(change.topic_partition))
            self.gone.set()
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


@pytest.mark.requirement("DLD-20", "DLD-25")
def test_a_log_dir_that_was_taken_away_is_noticed_at_the_next_removal_and_ends_no_broker(tmp_path: Path) -> None:
    dirs = LogDirs.open([tmp_path / "one", tmp_path / "two"], "cluster", 4, Owner.BROKER_ID)
    for directory, index in zip(dirs, (0, 1), strict=True):
        directory.create("t", index)
    rmtree(tmp_path / "one")
    plane = Removing()
    Strays(dirs, cast("DataPlane", plane)).remove(set())
    assert sorted(plane.removed) == ["t-0", "t-1"]
    dirs.close()


@pytest.mark.requirement("DLD-25", "DLD-44")
async def test_a_replica_that_is_assigned_elsewhere_is_kept_until_it_is_in_sync_no_more(tmp_path: Path) -> None:
    tree = ZnodeTree()
    dirs = LogDirs.open([tmp_path], "cluster", 4, Owner.BROKER_ID)
    [directory] = dirs
    isrs = {0: b'{"isr":[4],"epoch":1}', 1: b'{"isr":[5],"epoch":1}', 2: b'{"isr', 3: b""}
    for index, data in isrs.items():
        directory.create("t", index)
        tree.create(znodes.partition(at(index)))
        if data:
            tree.create(znodes.isr(at(index)), data)
    plane = Removing()
    membership = BrokerSession(cast("Any", Following()), replica_context(), Strays(dirs, cast("DataPlane", plane)))
    membership.execution = cast("Any", TreeExecution(tree))

    await membership.start_assigned()
    assert sorted(plane.removed) == ["t-1", "t-3"]
    plane.removed.clear()
    plane.gone.clear()
    tree.overwrite(znodes.isr(at(0)), b'{"isr":[5],"epoch":2}')
    again = asyncio.create_task(membership._remove_kept_strays())
    await plane.gone.wait()
    again.cancel()
    assert "t-2" not in plane.removed  # whether it is in sync here cannot be read
    assert "t-0" in plane.removed
    dirs.close()


class Following:
    """A ZooKeeper with an open session that gets no requests."""

    session_id = 7


def at(index: int) -> TopicPartition:
    return TopicPartition("t", index)


def replica_context() -> ReplicaContext:
    return ReplicaContext(4, LeaderDrivenConfig(keep_in_sync=0.0), cast("Any", None), list, StateChangeMonitor(4))
