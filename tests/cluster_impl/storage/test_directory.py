"""The folder of a node and its small files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest

from fencepost.cluster_impl.storage.checkpoints import CorruptCheckpoint, OffsetCheckpoint
from fencepost.cluster_impl.storage.directory import LogDir, LogDirError

TOPIC_ID = UUID("12345678-1234-5678-1234-567812345678")


def test_a_second_opener_is_refused_until_the_first_has_closed(tmp_path: Path) -> None:
    first = LogDir.open(tmp_path / "data", "cluster", 4)
    message = "data is in use by another process; stop it, or set another log.dirs"
    with pytest.raises(LogDirError, match=message):
        LogDir.open(tmp_path / "data", "cluster", 4)
    first.close()
    LogDir.open(tmp_path / "data", "cluster", 4).close()


@pytest.mark.integration
def test_the_lock_goes_with_its_process(tmp_path: Path) -> None:
    program = "import sys, os; from pathlib import Path; from fencepost.cluster_impl.storage.directory import LogDir\n"
    program += "LogDir.open(Path(sys.argv[1]), 'cluster', 4); print('locked', flush=True); sys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == b"locked\n"
        with pytest.raises(LogDirError):
            LogDir.open(tmp_path, "cluster", 4)
    finally:
        other.kill()
        other.communicate()
    LogDir.open(tmp_path, "cluster", 4).close()


@pytest.mark.parametrize(
    ("cluster_id", "node_id", "message"),
    [
        ("other", 4, "belongs to cluster.id cluster, this node has other; set another log.dirs"),
        ("cluster", 5, "belongs to node.id 4, this node has 5"),
    ],
)
def test_a_folder_of_another_node_or_cluster_is_refused_and_not_kept_locked(
    tmp_path: Path, cluster_id: str, node_id: int, message: str
) -> None:
    LogDir.open(tmp_path, "cluster", 4).close()
    with pytest.raises(LogDirError, match=message):
        LogDir.open(tmp_path, cluster_id, node_id)
    LogDir.open(tmp_path, "cluster", 4).close()


def test_meta_properties_are_kafkas(tmp_path: Path) -> None:
    LogDir.open(tmp_path, "cluster", 4).close()
    assert (tmp_path / "meta.properties").read_text() == "version=1\ncluster.id=cluster\nnode.id=4\n"


def test_partitions_are_folders_named_topic_and_number(tmp_path: Path) -> None:
    directory = LogDir.open(tmp_path, "cluster", 4)
    for topic, partition in (("t", 0), ("with-dashes-1", 12), ("__consumer_offsets", 3)):
        directory.create(topic, partition)
    (tmp_path / "not a partition").mkdir()
    assert set(directory.partitions()) == {("t", 0), ("with-dashes-1", 12), ("__consumer_offsets", 3)}
    assert directory.partitions()["t", 0] == directory.partition_path("t", 0) == tmp_path / "t-0"
    directory.close()


def test_a_partition_remembers_the_id_of_its_topic(tmp_path: Path) -> None:
    directory = LogDir.open(tmp_path, "cluster", 4)
    directory.create("t", 0)
    assert directory.topic_id("t", 0) is None
    directory.set_topic_id("t", 0, TOPIC_ID)
    assert directory.topic_id("t", 0) == TOPIC_ID
    text = (tmp_path / "t-0" / "partition.metadata").read_text()
    assert text == "version: 0\ntopic_id: EjRWeBI0VngSNFZ4EjRWeA\n"
    (tmp_path / "t-0" / "partition.metadata").write_text("version: 0\n")
    with pytest.raises(LogDirError, match="has no valid topic_id"):
        directory.topic_id("t", 0)
    directory.close()


def test_files_that_are_overwritten_with_garbage_are_named(tmp_path: Path) -> None:
    directory = LogDir.open(tmp_path, "cluster", 4)
    directory.create("t", 0)
    (tmp_path / "t-0" / "partition.metadata").write_bytes(b"\xff" * 40)
    with pytest.raises(LogDirError, match=r"partition\.metadata has no valid topic_id"):
        directory.topic_id("t", 0)
    directory.close()
    (tmp_path / "meta.properties").write_bytes(b"\xff" * 40)
    with pytest.raises(LogDirError, match=f"{tmp_path} belongs to cluster.id None, this node has cluster"):
        LogDir.open(tmp_path, "cluster", 4)


@pytest.mark.requirement("DSTO-07")
def test_where_a_log_begins_is_written_at_once(tmp_path: Path) -> None:
    directory = LogDir.open(tmp_path, "cluster", 4)
    directory.note_start("t", 0, 7)
    directory.note_start("u", 0, 9)
    directory.note_start("u", 0, None)
    directory.close()
    again = LogDir.open(tmp_path, "cluster", 4)
    assert again.checkpointed_starts == {("t", 0): 7}
    again.close()


def test_a_deleted_partition_is_gone_also_if_the_deletion_was_interrupted(tmp_path: Path) -> None:
    directory = LogDir.open(tmp_path, "cluster", 4)
    directory.create("t", 0)
    directory.delete("t", 0)
    directory.delete("t", 0)
    assert directory.partitions() == {}
    directory.close()
    (tmp_path / "t-1.abc-delete").mkdir()
    LogDir.open(tmp_path, "cluster", 4).close()
    assert not list(tmp_path.glob("*-delete"))


def test_a_topic_of_the_longest_name_can_be_deleted(tmp_path: Path) -> None:
    directory = LogDir.open(tmp_path, "cluster", 4)
    directory.create("t" * 249, 0)
    directory.delete("t" * 249, 0)
    assert directory.partitions() == {}
    directory.close()
    assert not list(tmp_path.glob("t*"))


def test_offset_checkpoints_round_trip_in_kafkas_format(tmp_path: Path) -> None:
    checkpoint = OffsetCheckpoint(tmp_path / "replication-offset-checkpoint")
    assert checkpoint.read() == {}
    offsets = {("t", 0): 5, ("with-dash", 12): 0}
    checkpoint.write(offsets)
    assert checkpoint.path.read_text() == "0\n2\nt 0 5\nwith-dash 12 0\n"
    assert checkpoint.read() == offsets
    assert [path.name for path in tmp_path.iterdir()] == ["replication-offset-checkpoint"]


def test_files_that_a_failed_machine_left_empty_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "replication-offset-checkpoint").write_bytes(b"")
    assert OffsetCheckpoint(tmp_path / "replication-offset-checkpoint").read() == {}
    directory = LogDir.open(tmp_path, "cluster", 4)
    directory.create("t", 0)
    (tmp_path / "t-0" / "partition.metadata").write_bytes(b"")
    assert directory.topic_id("t", 0) is None
    directory.close()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"1\n0\n", "does not begin with version 0"),
        (b"0\n2\nt 0 5\n", "claims 2 entries and has 1"),
        (b"0\nx\n", "has 'x' where a number belongs"),
        (b"0\n1\nt 0\n", "which does not have 3 columns"),
        (b"0\n1\nt 0 x\n", "has 'x' where a number belongs"),
        (b"\xff\n", "is not text"),
    ],
)
def test_a_damaged_checkpoint_is_reported(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "replication-offset-checkpoint"
    path.write_bytes(content)
    with pytest.raises(CorruptCheckpoint, match=f"replication-offset-checkpoint.*{reason}"):
        OffsetCheckpoint(path).read()
