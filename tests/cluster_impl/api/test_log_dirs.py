"""DescribeLogDirs: the replicas of each log dir with their sizes, and log dirs that have failed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.requests import batch, produce
from tests.cluster_impl.static_cluster import DISKS, StaticCluster, static_cluster


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, 1) as cluster:
        cluster.create("t", [[1], [1], [1]])
        produce(cluster, 1, batch("a" * 100))
        yield cluster


def sizes(cluster: StaticCluster, topics: dict[str, list[int]] | None = None) -> dict[str, dict[tuple[str, int], int]]:
    """Return the sizes by log dir and partition."""
    wanted = None
    if topics is not None:
        topic = m.DescribeLogDirsRequest.DescribableLogDirTopic
        wanted = [topic(topic=name, partitions=partitions) for name, partitions in topics.items()]
    answer = cluster.ask(1, m.DescribeLogDirsRequest(topics=wanted), 4)
    assert all(result.total_bytes > result.usable_bytes > 0 for result in answer.results)
    return {
        Path(result.log_dir).name: {
            (topic.name, each.partition_index): each.partition_size
            for topic in result.topics
            for each in topic.partitions
        }
        for result in answer.results
    }


def test_all_replicas_are_in_the_log_dirs_that_hold_them(cluster: StaticCluster) -> None:
    found = sizes(cluster)
    assert set(found) == set(DISKS)
    everything = {name: size for each in found.values() for name, size in each.items()}
    assert set(everything) == {("t", 0), ("t", 1), ("t", 2)}
    assert everything["t", 0] == cluster.replica(1, "t").log.size > 100
    assert everything["t", 1] == 0


def test_only_the_named_replicas_are_described(cluster: StaticCluster) -> None:
    found = sizes(cluster, {"t": [1, 9], "unknown": [0]})
    assert [name for each in found.values() for name in each] == [("t", 1)]


def test_a_failed_log_dir_is_shown_with_its_error(cluster: StaticCluster) -> None:
    replica = cluster.replica(1, "t")

    async def fail() -> None:
        replica.storage_failed(OSError("the disk is broken"))

    cluster.run(fail())
    answer = cluster.ask(1, m.DescribeLogDirsRequest(topics=None), 3)
    errors = sorted(result.error_code for result in answer.results)
    assert errors == [Error.NONE, Error.KAFKA_STORAGE_ERROR]
