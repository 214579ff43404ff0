"""Three real nodes of the `leader-driven` design, administered by the tool and by ordinary clients."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # re-exported
    AdminClient,
    NewPartitions,
    NewTopic,
)

from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.leader_driven_processes import LeaderDrivenCluster, running
from tests.cluster_impl.processes import BROKERS, LIMIT, address
from tests.waiting import eventually

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LeaderDrivenCluster]:
    with running(tmp_path_factory.mktemp("admin")) as cluster:
        yield cluster


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    out: str
    err: str


def started(cluster: LeaderDrivenCluster, *arguments: str) -> subprocess.Popen[str]:
    module = "fencepost.cluster_impl.designs.leader_driven.admin"
    command = [sys.executable, "-m", module, "--zookeeper", cluster.server.connect, *arguments]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def tool(cluster: LeaderDrivenCluster, *arguments: str, fails: bool = False) -> Ended:
    process = started(cluster, *arguments)
    out, err = process.communicate(timeout=120)
    ended = Ended(process.returncode, out, err)
    assert (ended.code == 0) is not fails, ended
    return ended


@cache
def client(node: int = 4) -> AdminClient:
    """Kept: a client that goes takes its requests with it."""
    return AdminClient({"bootstrap.servers": f"{address(node)}:9092"})


def produce(topic: str, partition: int, count: int) -> None:
    producer = Producer({"bootstrap.servers": f"{address(4)}:9092", "acks": "all", "linger.ms": 5, "log_level": 0})
    failed: list[object] = []

    def delivered(error: object, _: object) -> None:
        if error:
            failed.append(error)

    for number in range(count):
        producer.produce(topic, str(number), partition=partition, on_delivery=delivered)
    assert producer.flush(LIMIT) == 0
    assert failed == []


def read(topic: str, partition: int, count: int) -> list[str]:
    consumer = Consumer({"bootstrap.servers": f"{address(5)}:9092", "group.id": "none", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, partition, 0)])
    values: list[str] = []

    def all_read() -> bool:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            values.append((message.value() or b"").decode())
        return len(values) >= count

    eventually(all_read, f"{count} records of {topic}-{partition}")
    consumer.close()
    return values


def holders(cluster: LeaderDrivenCluster, partition: str) -> set[int]:
    """Brokers that have a folder of the partition."""
    return {node for node in BROKERS if partition in cluster.folders(node)}


def nothing_is_left(cluster: LeaderDrivenCluster, topic: str) -> None:
    assert topic not in cluster.children("/brokers/topics")
    assert topic not in cluster.children("/brokers/partitions_reassigned")
    assert cluster.children("/brokers/admin") == []
    eventually(
        lambda: not any(re.fullmatch(rf"{topic}-\d+", name) for node in BROKERS for name in cluster.folders(node)),
        f"no broker has a folder of {topic}",
    )
    eventually(
        lambda: all(cluster.children(f"/brokers/state/{node}") == [] for node in BROKERS), "every queue is empty"
    )


@pytest.mark.requirement("LD-58", "LD-64", "LD-66")
def test_a_topic_lives_from_the_tool_to_the_tool(cluster: LeaderDrivenCluster) -> None:
    made = tool(cluster, "create-topic", "orders", "--replicas", "4,5", "5,6", "--config", "min.insync.replicas=2")
    assert made.out == "Topic orders is made, with 2 partitions.\n"
    eventually(lambda: cluster.leader("orders", 1) == 5, "5 leads orders-1")
    produce("orders", 0, 50)

    assert "3 in all" in tool(cluster, "add-partitions", "orders", "--to", "3").out
    assert len(client().list_topics("orders", timeout=LIMIT).topics["orders"].partitions) == 3

    moved = tool(cluster, "reassign", "orders", "0=6,5", "--wait")
    assert moved.out.endswith("Partition 0 of topic orders moved.\n")
    eventually(lambda: cluster.leader("orders") == 6, "6 leads orders-0")
    assert read("orders", 0, 50) == [str(number) for number in range(50)]
    eventually(lambda: holders(cluster, "orders-0") == {5, 6}, "broker 4 gave its replica away")

    shown = tool(cluster, "describe", "orders").out
    assert "live brokers: 4,5,6" in shown and "min.insync.replicas=2" in shown
    assert re.search(r"^0 +6 +\d+ +(5,6|6,5) +6,5 +-$", shown, re.MULTILINE), shown

    queues = tool(cluster, "queues").out
    assert re.search(r"^4 +yes +0 +0 +-$", queues, re.MULTILINE), queues

    tool(cluster, "delete-partition", "orders", "2")
    assert sorted(cluster.children("/brokers/topics/orders")) == ["0", "1"]
    assert tool(cluster, "delete-topic", "orders").out == "Topic orders is deleted.\n"
    nothing_is_left(cluster, "orders")


def test_what_the_tool_refuses_it_says_in_a_message(cluster: LeaderDrivenCluster) -> None:
    tool(cluster, "create-topic", "once")
    again = tool(cluster, "create-topic", "once", fails=True)
    assert (again.code, again.err) == (1, "create-topic failed: Topic once already exists.\n")
    assert "There is no topic none." in tool(cluster, "delete-topic", "none", fails=True).err
    assert "Broker 5 is running" in tool(cluster, "remove-broker", "5", fails=True).err
    assert tool(cluster, "add-broker", "5").out == "Broker 5 had a queue already.\n"
    assert tool(cluster, "add-broker", "8").out == "Broker 8 has a queue now.\n"
    assert tool(cluster, "remove-broker", "8").code == 0
    tool(cluster, "delete-topic", "once")


@pytest.mark.requirement("LD-57", "DLD-18", "DLD-32")
def test_an_ordinary_client_creates_extends_and_deletes_at_any_broker(cluster: LeaderDrivenCluster) -> None:
    created = client(4).create_topics(
        [
            NewTopic("one", 4, 3, config={"min.insync.replicas": "2"}),
            NewTopic("two", 2, replica_assignment=[[4, 5], [6, 4]]),
            NewTopic("bad", 1, 9),
        ],
        request_timeout=LIMIT,
        operation_timeout=LIMIT,
    )
    created["one"].result(LIMIT)
    created["two"].result(LIMIT)
    assert error_of(created["bad"]) == Error.INVALID_REPLICATION_FACTOR
    topics = client(6).list_topics(timeout=LIMIT).topics
    assert [topics["two"].partitions[at].replicas for at in (0, 1)] == [[4, 5], [6, 4]]
    assert all(partition.leader in BROKERS for partition in topics["one"].partitions.values())

    again = client(5).create_topics([NewTopic("one", 4, 3)], operation_timeout=LIMIT)
    assert error_of(again["one"]) == Error.TOPIC_ALREADY_EXISTS
    produce("one", 3, 10)

    more = client(5).create_partitions([NewPartitions("one", 6), NewPartitions("two", 1)], operation_timeout=LIMIT)
    more["one"].result(LIMIT)
    assert error_of(more["two"]) == Error.INVALID_PARTITIONS
    assert len(client(4).list_topics("one", timeout=LIMIT).topics["one"].partitions) == 6
    produce("one", 5, 10)

    only_asked = client(4).create_topics([NewTopic("asked", 1, 1)], validate_only=True)
    only_asked["asked"].result(LIMIT)
    deleted = client(6).delete_topics(["one", "two", "none"], operation_timeout=LIMIT)
    deleted["one"].result(LIMIT)
    deleted["two"].result(LIMIT)
    assert error_of(deleted["none"]) == Error.UNKNOWN_TOPIC_OR_PARTITION
    for topic in ("one", "two", "asked"):
        nothing_is_left(cluster, topic)


def error_of(future: object) -> int:
    with pytest.raises(KafkaException) as caught:
        future.result(LIMIT)  # type: ignore[attr-defined]
    code: int = caught.value.args[0].code()
    return code


@pytest.mark.requirement("LD-56", "LD-63", "DLD-18")
def test_a_tool_that_is_killed_in_the_middle_is_cleaned_up_after(cluster: LeaderDrivenCluster) -> None:
    process = started(cluster, "create-topic", "many", "--partitions", "300", "--replication-factor", "2")
    eventually(lambda: bool(cluster.children("/brokers/partitions_reassigned/many")), "the creation has begun")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=LIMIT)
    ended = tool(cluster, "create-topic", "many", "--partitions", "20", "--replication-factor", "2", fails=False)
    assert "20 partitions" in ended.out
    assert sorted(map(int, cluster.children("/brokers/topics/many"))) == list(range(20))
    tool(cluster, "delete-topic", "many")
    nothing_is_left(cluster, "many")


@pytest.mark.requirement("LD-04", "LD-25", "DLD-12", "LD-08")
def test_a_broker_that_was_away_when_its_topic_was_deleted_closes_its_replica(cluster: LeaderDrivenCluster) -> None:
    tool(cluster, "create-topic", "gone", "--replicas", "4,5,6", "6,5,4")
    produce("gone", 0, 20)
    eventually(lambda: cluster.isr("gone") == [4, 5, 6], "all are in sync")
    cluster.nodes[6].signal(signal.SIGKILL)
    assert cluster.nodes[6].exit_code() == -signal.SIGKILL
    eventually(lambda: "6" not in cluster.children("/brokers/ids"), "broker 6 is gone")
    eventually(lambda: cluster.leader("gone", 1) in (4, 5), "another broker leads gone-1")
    before = time.monotonic()
    tool(cluster, "delete-topic", "gone")
    assert time.monotonic() - before < 20
    waiting = cluster.children("/brokers/state/6")
    queues = tool(cluster, "queues", "6", "--requests").out
    assert re.search(rf"^6 +no +{len(waiting)} +0 ", queues, re.MULTILINE), queues
    # One of each leader and none of the command. A start request may stand before them: a leader that misses the
    # broker's fetches before its session is over takes it for one that did not start its replica.
    closes = re.findall(r"^broker 6, \S+: close-replica (gone-\d) by leader", queues, re.MULTILINE)
    assert sorted(closes) == ["gone-0", "gone-1"], queues
    assert holders(cluster, "gone-0") == {6}
    cluster.nodes[6].start()
    cluster.await_serving(6)
    nothing_is_left(cluster, "gone")
