"""The measurements: each is a function from a started cluster to a figure."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

import psutil
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from tests.bench.clusters import TOPIC, Started

RECORD = b"x" * 1024
LARGE_RECORD = b"x" * 10_240
BULK_RECORDS, LARGE_RECORDS = 100_000, 30_000
SINGLE_RECORDS = 500
REST_SECONDS = 3.0
FAILOVER_WITHIN = 60.0


def producer(started: Started, **settings: Any) -> Producer:
    """acks=all, idempotent off for both targets; reconnects quickly, so that failover measures the cluster."""
    return Producer(
        {
            "bootstrap.servers": started.bootstrap,
            "acks": "all",
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 100,
            "retry.backoff.ms": 20,
            "retry.backoff.max.ms": 100,
            "topic.metadata.refresh.fast.interval.ms": 50,
            "message.timeout.ms": 60_000,
            "log_level": 0,
            **settings,
        }
    )


def single_latencies(started: Started) -> tuple[float, float]:
    """p50 and p99, in milliseconds, of one record sent and acknowledged before the next one is sent."""
    client = producer(started, **{"linger.ms": 0})
    seconds = []
    for n in range(SINGLE_RECORDS + 50):
        begun = time.perf_counter()
        client.produce(TOPIC, RECORD, partition=0)
        client.flush()
        if n >= 50:
            seconds.append(time.perf_counter() - begun)
    return 1000 * median(seconds), 1000 * quantiles(seconds, n=100)[98]


@dataclass(frozen=True)
class Produced:
    """A bulk of records, from the first send to the last acknowledgement. `cpu`: of all nodes and their ZooKeeper.

    `around`: of Toxiproxy, which carries each byte to the leader and to both followers, and of the client.
    """

    megabytes: float
    seconds: float
    cpu: float
    around: float
    grown: float
    """MB by which the resident set of the broker that grew most is larger than before."""

    @property
    def rate(self) -> float:
        return self.megabytes / self.seconds


def produced(started: Started, record: bytes, records: int) -> Produced:
    """Produce to three partitions with acks=all."""
    client = producer(
        started,
        **{
            "linger.ms": 5,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": records + 1,
            "queue.buffering.max.kbytes": 2_000_000,
        },
    )
    failed: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failed.append(error)

    nodes = processes(started)
    others = _around(nodes)
    used, around, memory = _cpu(nodes), _cpu(others), [node.memory_info().rss for node in nodes]
    begun = time.perf_counter()
    for n in range(records):
        client.produce(TOPIC, record, partition=n % 3, on_delivery=delivered)
        if n % 1000 == 0:
            client.poll(0)
    client.flush()
    elapsed = time.perf_counter() - begun
    if failed:
        raise RuntimeError(f"{len(failed)} of {records} records were not acknowledged: {failed[0]}")
    grown = max(node.memory_info().rss - before for node, before in zip(nodes, memory, strict=True))
    return Produced(records * len(record) / 1e6, elapsed, _cpu(nodes) - used, _cpu(others) - around, grown / 1e6)


def bulk_throughput(started: Started) -> float:
    """Return MB/s of records of 1 KB."""
    return produced(started, RECORD, BULK_RECORDS).rate


def consumed(started: Started, megabytes: float) -> float:
    """MB/s of a consumer that reads so much from the begin of the three partitions, from its first record on."""
    client = Consumer(
        {
            "bootstrap.servers": started.bootstrap,
            "group.id": "bench",
            "enable.auto.commit": False,
            "fetch.message.max.bytes": 4_000_000,
            "queued.max.messages.kbytes": 200_000,
            "log_level": 0,
        }
    )
    client.assign([TopicPartition(TOPIC, partition, OFFSET_BEGINNING) for partition in range(3)])
    read, begun, deadline = 0, 0.0, time.perf_counter() + 300
    while read < megabytes * 1e6:
        for message in client.consume(10_000, 1.0):
            begun = begun or time.perf_counter()
            read += len(message.value() or b"")
        if time.perf_counter() > deadline:
            raise TimeoutError(f"read {read / 1e6:.0f} of {megabytes:.0f} MB within 300 s")
    elapsed = time.perf_counter() - begun
    client.close()
    return read / 1e6 / elapsed


def processes(started: Started) -> list[psutil.Process]:
    """Return the processes of all nodes."""
    status = started.cluster.processes.status
    return [psutil.Process(status(node.name).pid) for node in started.cluster.layout.nodes]


def _around(nodes: list[psutil.Process]) -> list[psutil.Process]:
    """Return this process and those of its children that are no nodes."""
    here = psutil.Process()
    return [here, *({*here.children(recursive=True)} - {*nodes})]


def _cpu(nodes: list[psutil.Process]) -> float:
    return float(sum(sum(node.cpu_times()[:2]) for node in nodes))


def failover(started: Started) -> float:
    """From kill -9 of the leader of partition 0 to the next acknowledgement there, in session timeouts."""
    client = producer(started, **{"linger.ms": 0})
    client.produce(TOPIC, RECORD, partition=0)
    client.flush()
    acknowledged: list[float] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is None:
            acknowledged.append(time.perf_counter())

    leader = client.list_topics(TOPIC, timeout=10).topics[TOPIC].partitions[0].leader
    name = next(node.name for node in started.cluster.layout.nodes if node.id == leader and not node.is_zookeeper)
    killed = time.perf_counter()
    started.cluster.processes.kill(name)
    client.produce(TOPIC, RECORD, partition=0, on_delivery=delivered)
    # The library asks for a new leader ever more rarely, at last once in 0.8 s, so the figure would be its own.
    while not acknowledged and time.perf_counter() < killed + FAILOVER_WITHIN:
        with suppress(KafkaException):
            client.list_topics(TOPIC, timeout=0.2)
        client.poll(0.01)
    timing = started.timing
    given_up = timing.session_ms if started.cluster.layout.zookeepers else timing.lease_ms
    return (acknowledged[0] - killed) / (given_up / 1000)


def at_rest(started: Started) -> tuple[float, float]:
    """Memory in MB (the largest node's resident set) and CPU in percent of a core (the mean node), with no load.
    ZooKeeper's servers, which are the same beside every target, are left out."""
    nodes = [node.name for node in started.cluster.layout.nodes if not node.is_zookeeper]
    processes = [psutil.Process(started.cluster.processes.status(name).pid) for name in nodes]
    before = [sum(p.cpu_times()[:2]) for p in processes]
    time.sleep(REST_SECONDS)  # the quantity itself is a rate over time
    used = [sum(p.cpu_times()[:2]) - b for p, b in zip(processes, before, strict=True)]
    return max(p.memory_info().rss for p in processes) / 1e6, 100 * sum(used) / len(used) / REST_SECONDS
