"""The clients that people use, each producing, consuming, and as a group of one member."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import aiokafka
import confluent_kafka
import kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # it is exported
from kafka.protocol.admin import DescribeQuorumRequest

from tests.cluster_impl.processes import running

pytestmark = pytest.mark.integration

VALUES = [f"value {number}".encode() for number in range(200)]
PARTITIONS = 3
WITHIN = 20.0


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Three controllers and three brokers, each a process."""
    settings = {"offsets.topic.replication.factor": "3", "min.insync.replicas": "2"}
    with running(tmp_path_factory.mktemp("clients"), **settings) as cluster:
        yield cluster.bootstrap


@pytest.fixture
def topic(bootstrap: str, request: pytest.FixtureRequest) -> str:
    """A topic of its own for each test, three partitions with three replicas."""
    name = str(request.node.name).replace("[", "-").replace("]", "")
    admin = AdminClient({"bootstrap.servers": bootstrap})
    created = admin.create_topics([NewTopic(name, num_partitions=PARTITIONS, replication_factor=3)])
    created[name].result(WITHIN)
    return name


def confluent_produce(bootstrap: str, topic: str, compression: str = "none") -> None:
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "enable.idempotence": True,
            "compression.type": compression,
            "log_level": 0,
        }
    )
    failures: list[object] = []
    for value in VALUES:
        producer.produce(topic, value, on_delivery=lambda error, _: failures.append(error) if error else None)
    assert producer.flush(WITHIN) == 0
    assert failures == []


def confluent_consume(bootstrap: str, topic: str, group: str, count: int) -> list[bytes]:
    """As the only member of a group that commits what it has read when it leaves."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    found: list[bytes] = []
    deadline = time.monotonic() + WITHIN
    try:
        while len(found) < count and time.monotonic() < deadline:
            for message in consumer.consume(count, 0.5):
                assert message.error() is None, message.error()
                found.append(message.value() or b"")
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()
    return found


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_confluent_kafka(bootstrap: str, topic: str, compression: str) -> None:
    confluent_produce(bootstrap, topic, compression)
    assert sorted(confluent_consume(bootstrap, topic, topic, len(VALUES))) == sorted(VALUES)


def test_a_group_goes_on_where_it_had_committed(bootstrap: str, topic: str) -> None:
    confluent_produce(bootstrap, topic)
    confluent_consume(bootstrap, topic, topic, len(VALUES))
    confluent_produce(bootstrap, topic)
    again = confluent_consume(bootstrap, topic, topic, len(VALUES))
    assert len(again) == len(VALUES)


def test_confluent_kafka_without_a_group_reads_what_it_assigns_itself(bootstrap: str, topic: str) -> None:
    confluent_produce(bootstrap, topic)
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": "unused"})
    consumer.assign([confluent_kafka.TopicPartition(topic, index, 0) for index in range(PARTITIONS)])
    ends = [
        consumer.get_watermark_offsets(confluent_kafka.TopicPartition(topic, index), timeout=WITHIN)
        for index in range(PARTITIONS)
    ]
    assert sum(high for _, high in ends) == len(VALUES)
    found: list[bytes] = []
    deadline = time.monotonic() + WITHIN
    while len(found) < len(VALUES) and time.monotonic() < deadline:
        found += [message.value() or b"" for message in consumer.consume(len(VALUES), 0.5)]
    consumer.close()
    assert sorted(found) == sorted(VALUES)


def test_kafka_python(bootstrap: str, topic: str) -> None:
    producer = kafka.KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    sent = [producer.send(topic, value) for value in VALUES]
    producer.flush(WITHIN)
    assert all(future.get(timeout=WITHIN).offset >= 0 for future in sent)
    producer.close()
    consumer = kafka.KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=topic,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    found: list[bytes] = []
    deadline = time.monotonic() + WITHIN
    while len(found) < len(VALUES) and time.monotonic() < deadline:
        for records in consumer.poll(timeout_ms=500).values():
            found += [record.value for record in records]
    consumer.commit()
    committed = [consumer.committed(kafka.TopicPartition(topic, index)) or 0 for index in range(PARTITIONS)]
    consumer.close()
    assert sorted(found) == sorted(VALUES)
    assert sum(committed) == len(VALUES)


async def test_aiokafka(bootstrap: str, topic: str) -> None:
    async def produce_and_consume() -> list[bytes]:
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=True)
        await producer.start()
        try:
            await asyncio.gather(*[await producer.send(topic, value) for value in VALUES])
        finally:
            await producer.stop()
        consumer = aiokafka.AIOKafkaConsumer(
            topic,
            bootstrap_servers=bootstrap,
            group_id=topic,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        await consumer.start()
        found: list[bytes] = []
        try:
            async with asyncio.timeout(WITHIN):
                while len(found) < len(VALUES):
                    for records in (await consumer.getmany(timeout_ms=500)).values():
                        found += [record.value for record in records]
            await consumer.commit()
        finally:
            await consumer.stop()
        return found

    assert sorted(await produce_and_consume()) == sorted(VALUES)


@pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed")
def test_kcat(bootstrap: str, topic: str, tmp_path: Path) -> None:
    lines = b"\n".join(VALUES) + b"\n"
    broker = ["kcat", "-q", "-b", bootstrap, "-t", topic]
    subprocess.run([*broker, "-P", "-X", "acks=all"], input=lines, check=True, timeout=WITHIN)
    read = subprocess.run([*broker, "-C", "-e", "-o", "beginning"], capture_output=True, check=True, timeout=WITHIN)
    assert sorted(read.stdout.splitlines()) == sorted(VALUES)


def test_a_transactional_producer_learns_at_once_that_there_are_no_transactions(bootstrap: str) -> None:
    """It took its whole timeout when the answer was an error that clients ask again after."""
    producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap, "transactional.id": "t", "log_level": 0})
    with pytest.raises(confluent_kafka.KafkaException) as raised:
        producer.init_transactions(WITHIN)
    assert raised.value.args[0].code() == confluent_kafka.KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_the_quorum_of_controllers_is_described_through_brokers(bootstrap: str) -> None:
    """The method of this client reads fields that only version 2 of the response has: the request goes by itself."""
    partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    topic = DescribeQuorumRequest.TopicData(topic_name="__cluster_metadata", partitions=[partition])
    admin = kafka.KafkaAdminClient(bootstrap_servers=bootstrap)
    described = admin._manager.run(admin._manager.send, DescribeQuorumRequest(topics=[topic]))
    admin.close()
    [found] = described.topics[0].partitions
    assert (described.topics[0].topic_name, found.error_code) == ("__cluster_metadata", 0)
    assert {voter.replica_id for voter in found.current_voters} == {1, 2, 3}
    assert found.leader_id in (1, 2, 3)
