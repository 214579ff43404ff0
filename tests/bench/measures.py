"""The measurements: each is a function from a started cluster to a figure."""

from __future__ import annotations

import time
from statistics import median, quantiles
from typing import Any

import psutil
from confluent_kafka import KafkaError, Message, Producer

from tests.bench.clusters import TOPIC, Started

RECORD = b"x" * 1024
BULK_RECORDS = 100_000
SINGLE_RECORDS = 500
REST_SECONDS = 3.0


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


def bulk_throughput(started: Started) -> float:
    """MB/s of 1 KB records over three partitions, from the first send to the last acknowledgement."""
    client = producer(
        started,
        **{"linger.ms": 5, "batch.size": 1_000_000, "queue.buffering.max.messages": BULK_RECORDS + 1},
    )
    failed: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failed.append(error)

    begun = time.perf_counter()
    for n in range(BULK_RECORDS):
        client.produce(TOPIC, RECORD, partition=n % 3, on_delivery=delivered)
        if n % 1000 == 0:
            client.poll(0)
    client.flush()
    elapsed = time.perf_counter() - begun
    if failed:
        raise RuntimeError(f"{len(failed)} of {BULK_RECORDS} records were not acknowledged: {failed[0]}")
    return BULK_RECORDS * len(RECORD) / 1e6 / elapsed


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
    client.flush()
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
