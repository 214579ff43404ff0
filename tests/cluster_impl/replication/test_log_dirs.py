"""A log dir fails for real while brokers run: what was in it is offline, and everything else goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import PartitionRemoved, ReplicaStopped, TopicPartition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.storage.directory import PARTITION_METADATA, LogDirError
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.requests import batch, fetch, fetch_request, produce, produce_request
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster
from tests.waiting import eventually

QUICK = DataPlaneConfig(lag_limit=60.0, fetch_wait=0.1, checkpoint_interval=0.1)
RARELY = DataPlaneConfig(lag_limit=60.0, fetch_wait=0.1, checkpoint_interval=3600.0, segment_bytes=400)
T, U = TopicPartition("t", 0), TopicPartition("u", 0)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    """Topics t and u on both brokers; the folder of t is in disk-0, that of u in disk-1."""
    with static_cluster(tmp_path, 2, QUICK) as cluster:
        cluster.create("t", [[1, 2]])
        cluster.create("u", [[1, 2]])
        produce(cluster, 1, batch("before"))
        yield cluster


@pytest.fixture
def unwatched(tmp_path: Path) -> Iterator[StaticCluster]:
    """As `cluster`, but the disks are not checked: only appends meet their errors, at the end of a small segment."""
    with static_cluster(tmp_path, 2, RARELY) as cluster:
        cluster.create("t", [[1, 2]])
        cluster.create("u", [[1, 2]])
        yield cluster


def disk(tmp_path: Path, broker: int, number: int = 0) -> Path:
    return tmp_path / str(broker) / f"disk-{number}"


def take_away(path: Path) -> Path:
    return path.rename(path.with_name(path.name + ".away"))


def put_a_file(path: Path) -> Path:
    away = take_away(path)
    path.write_text("")
    return away


def take_the_partition(path: Path) -> Path:
    return take_away(path / "t-0")


def put_a_file_for_the_partition(path: Path) -> Path:
    return put_a_file(path / "t-0")


losses = pytest.mark.parametrize(
    "lose", [take_away, put_a_file, take_the_partition, put_a_file_for_the_partition], ids=lambda one: one.__name__
)
Lose = Callable[[Path], Path]


def values(cluster: StaticCluster, broker: int, topic: str = "t") -> list[str]:
    return [(value or b"").decode() for value in cluster.log(broker, topic)]


def reported(cluster: StaticCluster, broker: int) -> list[tuple[str, list[str]]]:
    control = cluster.world.brokers[broker].control
    return [(path.name, sorted(map(str, lost))) for path, lost in control.failed_dirs]


def hosts(cluster: StaticCluster, broker: int, name: TopicPartition) -> bool:
    return cluster.world.brokers[broker].replicas.get(name.topic, name.partition) is not None


def test_replicas_are_spread_over_the_disks(cluster: StaticCluster, tmp_path: Path) -> None:
    assert (disk(tmp_path, 1, 0) / "t-0").is_dir() and (disk(tmp_path, 1, 1) / "u-0").is_dir()


@pytest.mark.requirement("DRSE-06", "DRSE-07")
@losses
def test_an_idle_broker_notices_and_tells_once(cluster: StaticCluster, tmp_path: Path, lose: Lose) -> None:
    lose(disk(tmp_path, 1))
    eventually(lambda: bool(reported(cluster, 1)), "the loss is reported")
    eventually(lambda: cluster.state("t").leader == 2, "the other replica leads")
    produce(cluster, 2, batch("after"))
    assert reported(cluster, 1) == [("disk-0", ["t-0"])]
    assert cluster.world.brokers[1].refused == {T: Error.KAFKA_STORAGE_ERROR}
    assert values(cluster, 2) == ["before", "after"]


@pytest.mark.requirement("DRSE-10")
def test_every_request_to_an_offline_replica_gets_the_storage_error(cluster: StaticCluster, tmp_path: Path) -> None:
    take_away(disk(tmp_path, 1))
    eventually(lambda: not hosts(cluster, 1, T), "the replica is given up")
    state, storage = cluster.state("t"), Error.KAFKA_STORAGE_ERROR
    assert produce(cluster, 1, batch("x"), acks=1).error_code == storage
    assert fetch(cluster, 1, fetch_request(state)).error_code == storage
    epochs = cluster.world.epochs
    assert fetch(cluster, 1, fetch_request(state, replica=(2, epochs[2]), leader_epoch=0)).error_code == storage
    listed = m.ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=-1)
    offsets = m.ListOffsetsRequest(topics=[m.ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=[listed])])
    assert cluster.ask(1, offsets, 7).topics[0].partitions[0].error_code == storage


@pytest.mark.requirement("DRSE-06")
def test_the_other_disk_serves_on(cluster: StaticCluster, tmp_path: Path) -> None:
    put_a_file(disk(tmp_path, 1))
    eventually(lambda: bool(reported(cluster, 1)), "the loss is reported")
    assert produce(cluster, 1, batch("still here"), "u").error_code == Error.NONE
    assert cluster.state("u").leader == 1 and values(cluster, 2, "u") == ["still here"]


@pytest.mark.requirement("DRSE-07", "DRSE-10")
@losses
def test_an_append_that_meets_the_error_is_refused_and_nothing_acknowledged_is_lost(
    unwatched: StaticCluster, tmp_path: Path, lose: Lose
) -> None:
    produce(unwatched, 1, batch("0"))
    lose(disk(tmp_path, 1))
    acknowledged, error = ["0"], 0
    while not error:
        value = str(len(acknowledged))
        error = produce(unwatched, 1, batch(value)).error_code
        acknowledged += [] if error else [value]
    assert error == Error.KAFKA_STORAGE_ERROR and len(acknowledged) > 2
    assert reported(unwatched, 1) == [("disk-0", ["t-0"])]
    assert unwatched.state("t").leader == 2
    assert values(unwatched, 2) == acknowledged


def test_records_that_wait_for_their_followers_are_not_acknowledged(unwatched: StaticCluster, tmp_path: Path) -> None:
    unwatched.kill(2)
    waiting = unwatched.begin(1, produce_request(batch("waits"), timeout_ms=20_000), 9)
    eventually(lambda: unwatched.replica(1, "t").core.log_end_offset == 1, "it is appended")
    take_away(disk(tmp_path, 1))
    big = batch("x" * 1000)
    assert produce(unwatched, 1, big, acks=1).error_code == Error.KAFKA_STORAGE_ERROR
    answer = waiting.result(10).responses[0].partition_responses[0]
    assert (answer.error_code, answer.base_offset) == (Error.KAFKA_STORAGE_ERROR, -1)


def test_a_fetch_that_waits_gets_the_storage_error(cluster: StaticCluster, tmp_path: Path) -> None:
    request = fetch_request(cluster.state("t"), 1, max_wait_ms=20_000)
    waiting = cluster.begin(1, request, 16)
    take_away(disk(tmp_path, 1))
    assert waiting.result(10).responses[0].partitions[0].error_code == Error.KAFKA_STORAGE_ERROR


@losses
def test_a_follower_loses_its_disk_and_its_leader_goes_on(cluster: StaticCluster, tmp_path: Path, lose: Lose) -> None:
    lose(disk(tmp_path, 2))
    eventually(lambda: cluster.state("t").isr == (1,), "the follower leaves the ISR")
    assert reported(cluster, 2) == [("disk-0", ["t-0"])]
    assert produce(cluster, 1, batch("alone")).error_code == Error.NONE
    assert produce(cluster, 1, batch("together"), "u").error_code == Error.NONE
    assert values(cluster, 2, "u") == ["together"]


def test_a_disk_that_fails_a_follower_when_it_begins_to_lead_leaves_what_else_it_follows(
    unwatched: StaticCluster, tmp_path: Path
) -> None:
    take_away(disk(tmp_path, 2))
    unwatched.elect("t", 0, 2)
    eventually(lambda: reported(unwatched, 2) == [("disk-0", ["t-0"])], "the error was met")
    produce(unwatched, 1, batch("together"), "u")
    eventually(lambda: values(unwatched, 2, "u") == ["together"], "the other replica follows on")


def test_a_disk_that_fails_a_leader_when_it_begins_to_follow_is_given_up_as_a_whole(
    unwatched: StaticCluster, tmp_path: Path
) -> None:
    unwatched.create("v", [[1, 2]])
    unwatched.elect("t", 0, 2)
    unwatched.elect("t", 0, 1)
    take_away(disk(tmp_path, 1))
    unwatched.elect("t", 0, 2)
    eventually(
        lambda: reported(unwatched, 1) == [("disk-0", ["t-0", "v-0"])], "the error was met, and all are reported"
    )


@pytest.mark.requirement("RSE-30", "RSE-32")
def test_a_follower_whose_loss_is_not_reported_is_put_out_of_the_isr_by_its_leader(tmp_path: Path) -> None:
    with static_cluster(tmp_path, 2, replace(QUICK, lag_limit=0.3)) as hasty:
        hasty.create("t", [[1, 2]])
        hasty.world.brokers[2].control.unheard = True
        take_away(disk(tmp_path, 2))
        eventually(lambda: bool(reported(hasty, 2)), "the follower has noticed")
        assert produce(hasty, 1, batch("waits for the shrink")).error_code == Error.NONE
        assert hasty.state("t").isr == (1,)


@pytest.mark.requirement("RSE-30", "RSE-33")
def test_a_leader_whose_loss_is_not_reported_stays_leader_until_it_answers_an_assignment(
    cluster: StaticCluster, tmp_path: Path
) -> None:
    broker = cluster.world.brokers[1]
    broker.control.unheard = True
    take_away(disk(tmp_path, 1))
    eventually(lambda: bool(reported(cluster, 1)), "the leader has noticed")
    assert cluster.state("t").leader == 1
    assert produce(cluster, 1, batch("x")).error_code == Error.KAFKA_STORAGE_ERROR
    cluster.tell(1, cluster.state("t"))
    assert broker.refused == {T: Error.KAFKA_STORAGE_ERROR}


@pytest.mark.requirement("DRSE-09")
def test_a_disk_that_is_mended_is_back_after_a_restart(cluster: StaticCluster, tmp_path: Path) -> None:
    away = take_away(disk(tmp_path, 1))
    eventually(lambda: cluster.state("t").leader == 2, "the other replica leads")
    produce(cluster, 2, batch("meanwhile"))
    cluster.stop(1)
    assert not disk(tmp_path, 1).exists()
    away.rename(disk(tmp_path, 1))
    cluster.start(1)
    eventually(lambda: cluster.state("t").isr == (1, 2), "the replica is in sync again")
    assert values(cluster, 1) == ["before", "meanwhile"]


@pytest.mark.requirement("RSE-04", "DRSE-06")
def test_a_restart_without_the_disk_creates_no_empty_replica(cluster: StaticCluster, tmp_path: Path) -> None:
    cluster.kill(1)
    put_a_file(disk(tmp_path, 1))
    cluster.start(1)
    broker = cluster.world.brokers[1]
    assert broker.refused == {T: Error.KAFKA_STORAGE_ERROR} and hosts(cluster, 1, U)
    assert produce(cluster, 1, batch("x"), acks=1).error_code == Error.KAFKA_STORAGE_ERROR
    assert not (disk(tmp_path, 1, 1) / "t-0").exists()
    assert not reported(cluster, 1), "what it lost it cannot name"


def test_beside_a_failed_disk_only_a_new_replica_is_created(cluster: StaticCluster, tmp_path: Path) -> None:
    take_away(disk(tmp_path, 1))
    eventually(lambda: bool(reported(cluster, 1)), "the loss is reported")
    cluster.create("v", [[1, 2]])
    assert (disk(tmp_path, 1, 1) / "v-0").is_dir()
    unknown = replace(cluster.state("v"), topic="w", topic_id=cluster.state("u").topic_id)
    cluster.tell(1, unknown)
    assert cluster.world.brokers[1].refused[TopicPartition("w", 0)] == Error.KAFKA_STORAGE_ERROR
    assert not (disk(tmp_path, 1, 1) / "w-0").exists()


def test_a_lost_replica_stays_lost_even_if_it_is_called_new(cluster: StaticCluster, tmp_path: Path) -> None:
    take_away(disk(tmp_path, 1))
    eventually(lambda: bool(reported(cluster, 1)), "the loss is reported")
    cluster.tell(1, replace(cluster.state("t"), is_new=True))
    assert cluster.world.brokers[1].refused == {T: Error.KAFKA_STORAGE_ERROR}
    assert not (disk(tmp_path, 1, 1) / "t-0").exists()


def test_an_offline_replica_cannot_be_deleted(cluster: StaticCluster, tmp_path: Path) -> None:
    away = put_a_file(disk(tmp_path, 1))
    eventually(lambda: bool(reported(cluster, 1)), "the loss is reported")
    cluster.tell(1, PartitionRemoved(topic="t", topic_id=cluster.state("t").topic_id, partition=0))
    assert cluster.world.brokers[1].refused == {T: Error.KAFKA_STORAGE_ERROR}
    assert (away / "t-0").is_dir()


def test_a_deletion_that_fails_is_reported(unwatched: StaticCluster, tmp_path: Path) -> None:
    take_away(disk(tmp_path, 1))
    unwatched.tell(1, PartitionRemoved(topic="t", topic_id=None, partition=0))
    assert unwatched.world.brokers[1].refused == {T: Error.KAFKA_STORAGE_ERROR}
    eventually(lambda: reported(unwatched, 1) == [("disk-0", [])], "the loss is reported")


def test_a_replica_that_was_never_opened_is_deleted_from_its_disk(cluster: StaticCluster, tmp_path: Path) -> None:
    cluster.stop(1)
    topic_id = cluster.state("t").topic_id
    del cluster.world.partitions[T]
    cluster.start(1)
    assert (disk(tmp_path, 1) / "t-0").is_dir() and not hosts(cluster, 1, T)
    cluster.tell(1, PartitionRemoved(topic="t", topic_id=topic_id, partition=0))
    assert not (disk(tmp_path, 1) / "t-0").exists()


def test_a_folder_whose_making_was_interrupted_is_deleted_by_its_name(cluster: StaticCluster, tmp_path: Path) -> None:
    cluster.stop(1)
    del cluster.world.partitions[T]
    folder = disk(tmp_path, 1) / "t-0"
    (folder / PARTITION_METADATA).unlink()
    cluster.start(1)
    cluster.tell(1, PartitionRemoved(topic="t", topic_id=uuid4(), partition=0))
    assert folder.is_dir(), "it may be of another topic"
    cluster.tell(1, PartitionRemoved(topic="t", topic_id=None, partition=0))
    assert not folder.exists()


@pytest.mark.requirement("DRSE-08")
def test_without_any_disk_the_node_has_failed(cluster: StaticCluster, tmp_path: Path) -> None:
    for number in (0, 1):
        take_away(disk(tmp_path, 1, number))
    ending = asyncio.wait_for(cluster.world.brokers[1].replicas.failed(), 10)
    with pytest.raises(LogDirError, match="all log dirs have failed"):
        cluster.run(ending)
    eventually(lambda: sorted(reported(cluster, 1)) == [("disk-0", ["t-0"]), ("disk-1", ["u-0"])], "both are reported")


def test_a_stopped_replica_keeps_its_records_and_goes_on_when_it_is_assigned_again(cluster: StaticCluster) -> None:
    state = cluster.state("t")
    cluster.tell(1, ReplicaStopped(topic="t", topic_id=None, partition=0))
    assert cluster.replica(1, "t").core.role is ReplicaRole.OFFLINE
    assert produce(cluster, 1, batch("x")).error_code == Error.NOT_LEADER_OR_FOLLOWER
    cluster.tell(1, state)
    assert produce(cluster, 1, batch("after")).error_code == Error.NONE
    cluster.tell(2, ReplicaStopped(topic="t", topic_id=state.topic_id, partition=0))
    waiting = cluster.begin(1, produce_request(batch("waits"), timeout_ms=20_000), 9)
    eventually(lambda: cluster.replica(1, "t").core.log_end_offset == 3, "it is appended")
    assert cluster.replica(1, "t").core.high_watermark == 2
    cluster.tell(2, state)
    assert waiting.result(10).responses[0].partition_responses[0].error_code == Error.NONE
    assert values(cluster, 2) == ["before", "after", "waits"]


def test_a_topic_may_have_its_own_segment_size(cluster: StaticCluster, tmp_path: Path) -> None:
    cluster.create("small", [[1, 2]], segment_bytes="200")
    for _ in range(3):
        produce(cluster, 1, batch("x" * 100), "small")
    folder = next(tmp_path.glob("1/disk-*/small-0"))
    assert len(list(folder.glob("*.log"))) == 3
