"""Several folders of logs: what goes where, and what a folder that cannot be used takes with it."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from fencepost.cluster_impl.storage.directory import LogDir, LogDirError, Owner
from fencepost.cluster_impl.storage.log import Log
from fencepost.cluster_impl.storage.log_dirs import LogDirs
from fencepost.cluster_impl.storage.segment import segment_path
from tests.cluster_impl.storage.records import batch

OLD, NEW = UUID(int=1), UUID(int=2)


def two(tmp_path: Path) -> list[Path]:
    return [tmp_path / "a", tmp_path / "b"]


def opened(tmp_path: Path) -> LogDirs:
    return LogDirs.open(two(tmp_path), "cluster", 4)


def hold(directory: Path, topic_id: UUID | None = NEW) -> None:
    """Put a replica of t-0 into a folder of node 4."""
    one = LogDir.open(directory, "cluster", 4)
    one.create("t", 0)
    if topic_id is not None:
        one.set_topic_id("t", 0, topic_id)
    one.close()


def taken_away(path: Path) -> None:
    path.rename(path.with_name(path.name + ".away"))


def replaced_by_a_file(path: Path) -> None:
    taken_away(path)
    path.write_text("")


loss = pytest.mark.parametrize("lose", [taken_away, replaced_by_a_file])
Lose = Callable[[Path], None]


def test_new_replicas_go_where_the_fewest_are(tmp_path: Path) -> None:
    opened(tmp_path).close()
    hold(tmp_path / "a")
    dirs = opened(tmp_path)
    chosen = []
    for partition in range(1, 5):
        directory = dirs.emptiest()
        assert directory is not None
        directory.create("t", partition)
        chosen.append(directory.path.name)
    assert chosen == ["b", "a", "b", "a"]
    assert [directory.path.name for directory in dirs.holding("t", 0)] == ["a"]
    dirs.close()


def test_a_replica_in_two_folders_is_refused(tmp_path: Path) -> None:
    hold(tmp_path / "a")
    hold(tmp_path / "b")
    message = f"t-0 is in {tmp_path / 'a'} and in {tmp_path / 'b'}; move the older folder away"
    with pytest.raises(LogDirError, match=re.escape(message)):
        opened(tmp_path)
    LogDir.open(tmp_path / "a", "cluster", 4).close()


def test_a_folder_without_a_topic_id_may_be_the_same_replica(tmp_path: Path) -> None:
    hold(tmp_path / "a")
    hold(tmp_path / "b", None)
    with pytest.raises(LogDirError, match="move the older folder away"):
        opened(tmp_path)


def test_a_folder_left_of_an_earlier_topic_is_no_second_replica(tmp_path: Path) -> None:
    hold(tmp_path / "a", OLD)
    hold(tmp_path / "b", NEW)
    dirs = opened(tmp_path)
    assert len(dirs.holding("t", 0)) == 2
    dirs.close()


@loss
def test_a_start_with_one_broken_folder_of_two_goes_on_with_the_other(tmp_path: Path, lose: Lose) -> None:
    opened(tmp_path).close()
    lose(tmp_path / "a")
    dirs = opened(tmp_path)
    assert [directory.path for directory in dirs] == [tmp_path / "b"]
    assert set(dirs.offline) == {tmp_path / "a"}
    dirs.close()


@pytest.mark.requirement("DSTO-01")
def test_a_missing_folder_is_never_made_anew_once_the_node_has_run(tmp_path: Path) -> None:
    opened(tmp_path).close()
    taken_away(tmp_path / "a")
    opened(tmp_path).close()
    assert not (tmp_path / "a").exists()
    (tmp_path / "a").mkdir()
    dirs = opened(tmp_path)
    assert not dirs.offline
    dirs.close()


@loss
def test_without_any_folder_there_is_no_start(tmp_path: Path, lose: Lose) -> None:
    opened(tmp_path).close()
    for path in two(tmp_path):
        replaced_by_a_file(path)
    with pytest.raises(LogDirError, match="no log dir can be used"):
        opened(tmp_path)


def test_a_checkpoint_that_cannot_be_read_makes_its_folder_unusable(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (tmp_path / "a" / "replication-offset-checkpoint").write_text("nonsense")
    dirs = opened(tmp_path)
    assert "does not begin with version 0" in dirs.offline[tmp_path / "a"]
    dirs.close()


def test_a_folder_of_another_node_is_refused_and_the_others_are_unlocked(tmp_path: Path) -> None:
    LogDir.open(tmp_path / "b", "cluster", 5).close()
    with pytest.raises(LogDirError, match=r"belongs to node\.id 5"):
        opened(tmp_path)
    LogDir.open(tmp_path / "a", "cluster", 4).close()


def test_a_folder_named_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogDirError, match=r"names .*a twice"):
        LogDirs.open([tmp_path / "a", tmp_path / "b", tmp_path / "a"], "cluster", 4)


def test_meta_properties_of_a_broker_with_zookeeper_are_kafkas(tmp_path: Path) -> None:
    LogDir.open(tmp_path, "cluster", 4, Owner.BROKER_ID).close()
    assert (tmp_path / "meta.properties").read_text() == "version=0\ncluster.id=cluster\nbroker.id=4\n"
    with pytest.raises(LogDirError, match=r"belongs to broker\.id 4, this node has 5"):
        LogDir.open(tmp_path, "cluster", 5, Owner.BROKER_ID)


@loss
def test_a_folder_that_was_taken_away_takes_no_checkpoint_and_no_replica(tmp_path: Path, lose: Lose) -> None:
    dirs = opened(tmp_path)
    directory = dirs.live[0]
    directory.create("t", 0)
    lose(directory.path)
    with pytest.raises(OSError):
        directory.checkpoint({})
    with pytest.raises(OSError):
        directory.create("t", 1)
    with pytest.raises(OSError):
        directory.delete("t", 0)
    with pytest.raises(OSError):
        directory.topic_id("t", 0)
    assert dirs.fail(directory, OSError("gone")) and not dirs.fail(directory, OSError("gone"))
    assert dirs.offline == {directory.path: "gone"} and dirs.emptiest() is dirs.live[0]
    dirs.close()


@loss
def test_a_log_whose_folder_was_taken_away_goes_on_until_its_next_segment(tmp_path: Path, lose: Lose) -> None:
    log = Log.open(tmp_path / "t-0", segment_bytes=300)
    log.append_as_leader(batch(1, size=50), 0)
    lose(tmp_path / "t-0")
    log.append_as_leader(batch(1, size=50), 0)
    with pytest.raises(OSError):
        log.verify()
    with pytest.raises(OSError):
        log.append_as_leader(batch(1, size=200), 0)
    assert log.log_end_offset == 2
    with pytest.raises(OSError):
        log.append_as_leader(batch(1, size=10), 1)
    log.close()
    kept = Log.open(tmp_path / "t-0.away")
    assert kept.log_end_offset == 2 and kept.epochs.latest == 0
    kept.close()


def test_a_full_disk_takes_nothing_that_was_there(tmp_path: Path) -> None:
    log = Log.open(tmp_path / "t-0", segment_bytes=100)
    log.append_as_leader(batch(1, size=50), 0)
    segment_path(tmp_path / "t-0", 1).symlink_to("/dev/full")
    with pytest.raises(OSError) as full:
        log.append_as_leader(batch(1, size=50), 0)
    assert errno.ENOSPC in (full.value.errno, getattr(full.value.__context__, "errno", None))
    assert log.log_end_offset == 1
    log.close()
    segment_path(tmp_path / "t-0", 1).unlink()
    kept = Log.open(tmp_path / "t-0")
    assert kept.log_end_offset == 1
    kept.close()
