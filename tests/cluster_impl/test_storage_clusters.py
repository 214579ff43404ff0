"""Storage as a client of a real cluster sees it, the same on all three designs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # re-exported

from tests.cluster_impl.any_cluster import DESIGNS, AnyCluster, running
from tests.cluster_impl.processes import LIMIT
from tests.waiting import eventually

pytestmark = pytest.mark.integration

VALUE = b"x" * 10_000
MANY = 300
"""Records of 10 kB: a log of 3 MB, which is worth a file at a clean stop."""


@pytest.fixture(scope="module", params=DESIGNS)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnyCluster]:
    settings = {
        "log.retention.check.interval.ms": "300",
        "log.cleaner.backoff.ms": "300",
        "offsets.topic.segment.bytes": "2000",
    }
    with running(request.param, tmp_path_factory.mktemp("storage"), **settings) as cluster:
        yield cluster


def create(cluster: AnyCluster, name: str, **config: str) -> None:
    settings = {key.replace("_", "."): value for key, value in config.items()}
    topic = NewTopic(name, 1, 3, config={"min.insync.replicas": "2", **settings})
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    admin.create_topics([topic], request_timeout=LIMIT)[name].result(LIMIT)


def produce(cluster: AnyCluster, topic: str, count: int, **fields: Any) -> None:
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap, "acks": "all", "enable.idempotence": True, "log_level": 0}
    )
    failed: list[object] = []
    for _ in range(count):
        producer.produce(topic, VALUE, on_delivery=lambda error, _: failed.append(error) if error else None, **fields)
    assert producer.flush(LIMIT) == 0
    assert failed == []


def watermarks(cluster: AnyCluster, topic: str) -> tuple[int, int] | None:
    """The first offset of a partition and the end that clients see; None while no leader answers."""
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "none", "log_level": 0})
    try:
        found: tuple[int, int] = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=LIMIT)
        return found
    except KafkaException:
        return None
    finally:
        consumer.close()


def read(cluster: AnyCluster, topic: str, begin: int, count: int) -> list[int]:
    """The offsets of this many records from `begin` on."""
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "none", "log_level": 0})
    consumer.assign([TopicPartition(topic, 0, begin)])
    found: list[int] = []
    errors: list[object] = []

    def all_read() -> bool:
        for message in consumer.consume(count, 0.2):
            if message.error() is None:
                found.append(message.offset() or 0)
            else:
                errors.append(message.error())
        return len(found) >= count

    try:
        eventually(all_read, f"{count} records of {topic} from {begin} on")
    except AssertionError as error:
        raise AssertionError(f"{error}; {len(found)} were read, the last errors are {errors[-3:]}") from None
    finally:
        consumer.close()
    return found


def segments(folder: Path) -> list[int]:
    """The first offsets of the segments of a log."""
    return sorted(int(path.stem) for path in folder.glob("*.log"))


@pytest.mark.requirement("DSTO-03", "DSTO-04")
def test_logs_are_adopted_after_a_clean_stop_and_read_after_a_crash(cluster: AnyCluster) -> None:
    create(cluster, "stopped", segment_bytes="1000000", segment_ms="3600000")
    produce(cluster, "stopped", MANY)
    folders = cluster.partition_folders("stopped-0")
    assert len(folders) == 3
    assert all(len(segments(folder)) > 2 for folder in folders)
    cluster.stop_all()
    assert all((folder / "clean-stop").exists() for folder in folders)
    cluster.start_all()
    assert read(cluster, "stopped", 0, MANY) == list(range(MANY))
    assert not any((folder / "clean-stop").exists() for folder in folders)
    produce(cluster, "stopped", 1)
    cluster.kill_all()
    cluster.start_all()
    assert not any((folder / "clean-stop").exists() for folder in folders)
    assert read(cluster, "stopped", 0, MANY + 1) == list(range(MANY + 1))


@pytest.mark.requirement("DSTO-07", "DSTO-09")
def test_deleted_records_are_gone_from_all_replicas_and_stay_so_after_a_crash(cluster: AnyCluster) -> None:
    create(cluster, "deleted")
    produce(cluster, "deleted", 30)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    at = TopicPartition("deleted", 0, 20)
    result = admin.delete_records([at], request_timeout=LIMIT)[at].result(LIMIT)
    assert result.low_watermark == 20
    eventually(lambda: watermarks(cluster, "deleted") == (20, 30), "the log begins later")
    cluster.kill_all()
    cluster.start_all()
    eventually(lambda: watermarks(cluster, "deleted") == (20, 30), "the log begins where it did before the crash")
    assert read(cluster, "deleted", 20, 10) == list(range(20, 30))


@pytest.mark.requirement("DSTO-08")
def test_records_beyond_their_retention_are_deleted_on_all_replicas(cluster: AnyCluster) -> None:
    create(cluster, "kept", segment_bytes="50000", retention_ms="3600000")
    produce(cluster, "kept", 20, timestamp=1_000_000)
    produce(cluster, "kept", 2)
    eventually(lambda: watermarks(cluster, "kept") == (20, 22), "the old records are deleted")
    folders = cluster.partition_folders("kept-0")
    eventually(lambda: all(segments(folder)[0] >= 15 for folder in folders), "no replica keeps their files")
    assert read(cluster, "kept", 20, 2) == [20, 21]


def commit(cluster: AnyCluster, group: str, offsets: range) -> None:
    """Commit each of these offsets of `groups-0`, one after the other."""
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group, "log_level": 0})
    try:
        for offset in offsets:
            consumer.commit(offsets=[TopicPartition("groups", 0, offset)], asynchronous=False)
    finally:
        consumer.close()


def committed(cluster: AnyCluster, group: str) -> int | None:
    """The committed offset; None while no coordinator answers."""
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group, "log_level": 0})
    try:
        [found] = consumer.committed([TopicPartition("groups", 0)], timeout=LIMIT)
        return int(found.offset)
    except KafkaException:
        return None
    finally:
        consumer.close()


@pytest.mark.requirement("DSTO-14")
def test_committed_offsets_survive_the_compaction_of_their_log(cluster: AnyCluster) -> None:
    create(cluster, "groups")
    produce(cluster, "groups", 1)
    commit(cluster, "early", range(7, 8))
    commit(cluster, "late", range(100))
    folders = cluster.partition_folders("__consumer_offsets-0")
    assert folders

    def size(folder: Path) -> int:
        """Return the bytes of its segments, some of which compaction may remove meanwhile."""
        total = 0
        for path in folder.glob("*.log"):
            with suppress(FileNotFoundError):
                total += path.stat().st_size
        return total

    eventually(lambda: all(size(folder) < 6000 for folder in folders), "all replicas have compacted the offsets")
    assert (committed(cluster, "early"), committed(cluster, "late")) == (7, 99)
    cluster.kill_all()
    cluster.start_all()
    eventually(lambda: committed(cluster, "early") is not None, "there is a coordinator again")
    assert (committed(cluster, "early"), committed(cluster, "late")) == (7, 99)


@pytest.mark.requirement("DSTO-11")
def test_a_client_reads_the_last_record_of_each_key(cluster: AnyCluster) -> None:
    create(cluster, "keyed", cleanup_policy="compact", segment_bytes="1000")
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all", "log_level": 0})
    for number in range(40):
        producer.produce("keyed", str(number).encode(), key=str(number % 3).encode())
        assert producer.flush(LIMIT) == 0
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "none", "log_level": 0})

    def values() -> list[bytes]:
        """All records, from the begin to the end."""
        consumer.assign([TopicPartition("keyed", 0, 0)])
        found: dict[int | None, bytes] = {}

        def at_end() -> bool:
            for message in consumer.consume(100, 0.2):
                assert message.error() is None, message.error()
                found[message.offset()] = message.value() or b""
            return 39 in found

        eventually(at_end, "the last record is read")
        return list(found.values())

    try:
        eventually(lambda: len(values()) < 25, "the log is compacted")
        assert {b"37", b"38", b"39"} <= set(values())
    finally:
        consumer.close()
