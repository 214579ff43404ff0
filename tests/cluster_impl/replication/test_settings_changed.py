"""A replica takes other settings at the state that holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import UUID

import pytest

from fencepost.cluster_impl.replication.control_plane import SettingsChanged
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.requests import batch, produce
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, 2) as cluster:
        cluster.create("t", [[1]])
        yield cluster


def change(cluster: StaticCluster, config: Mapping[str, str], topic_id: UUID | None = None) -> None:
    topic_id = topic_id or cluster.state("t").topic_id
    cluster.tell(1, SettingsChanged(topic="t", topic_id=topic_id, partition=0, config=config))


def test_the_next_records_are_judged_by_the_new_settings(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a" * 200))
    change(cluster, {"max.message.bytes": "100"})
    assert produce(cluster, 1, batch("a" * 200)).error_code == Error.MESSAGE_TOO_LARGE
    change(cluster, {})
    assert produce(cluster, 1, batch("a" * 200)).error_code == Error.NONE


def test_the_log_rolls_by_the_new_settings(cluster: StaticCluster) -> None:
    change(cluster, {"segment.bytes": "250"})
    for _ in range(4):
        produce(cluster, 1, batch("a" * 200))
    assert len(list(cluster.replica(1, "t").log.directory.glob("*.log"))) == 4


def test_settings_of_an_earlier_topic_of_the_name_change_nothing(cluster: StaticCluster) -> None:
    change(cluster, {"max.message.bytes": "100"}, topic_id=UUID(int=99))
    assert produce(cluster, 1, batch("a" * 200)).error_code == Error.NONE
