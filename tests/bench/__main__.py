"""`python -m tests.bench`: measures two targets in turn, A B A B, and prints medians and their ratio.

One table for the design that keeps its metadata itself beside Kafka of today, one for the design with ZooKeeper beside
the last Kafka that has it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from harness.terminal import terminal
from tests.bench import many_partitions, measures
from tests.bench.clusters import started

Figures = dict[str, float]
Runs = dict[str, list[Figures]]


@dataclass(frozen=True)
class Pair:
    """A target of the reference cluster, and the Apache Kafka that it is held beside."""

    reference: str
    kafka: str
    has_zookeeper: bool = False


PAIRS = {
    "quorum": Pair("quorum", "apache-kafka:4.3.1"),
    "zookeeper": Pair("zk-controller", "apache-kafka-zk:3.9.1", has_zookeeper=True),
}


def measure(target: str) -> Figures:
    """One fresh cluster, every figure once."""
    with started(target) as cluster:
        figures = {"start until a topic is created, s": cluster.seconds}
        memory, cpu = measures.at_rest(cluster)
        figures["memory of a node at rest, MB"] = memory
        figures["CPU of a node at rest, % of a core"] = cpu
        p50, p99 = measures.single_latencies(cluster)
        figures["one record acknowledged, p50, ms"] = p50
        figures["one record acknowledged, p99, ms"] = p99
        figures["produce 1 KB, acks=all, 3 replicas, MB/s"] = measures.bulk_throughput(cluster)
        figures["kill -9 of a leader to next acknowledgement, session timeouts"] = measures.failover(cluster)
    return figures


def measure_controller(target: str) -> Figures:
    """One fresh cluster with many partitions."""
    factor, count = many_partitions.replication_factor(), many_partitions.TOPICS * many_partitions.PARTITIONS
    of_all = f"{count:,} partitions with {factor} replicas"
    with started(target, many_partitions.TIMING) as cluster:
        figures = {"3 partitions with 3 replicas: ZooKeeper watches of all nodes": many_partitions.watches(cluster)}
        figures[f"{of_all}: created until all are in sync, s"] = many_partitions.create(cluster)
        figures[f"{of_all}: ZooKeeper watches of all nodes"] = many_partitions.watches(cluster)
        figures[f"{of_all}: end of one broker's session to all led, s"] = many_partitions.take_over(cluster)
    return figures


def in_turn(console: Console, pair: Pair, measured: Callable[[str], Figures], times: int, what: str) -> Runs:
    runs: Runs = {pair.reference: [], pair.kafka: []}
    for n in range(times):
        for target, figures in runs.items():
            console.print(f"[dim]{what}, {n + 1} of {times}: {target}[/]")
            figures.append(measured(target))
    return runs


def show(console: Console, pair: Pair, runs: Runs, title: str) -> None:
    table = Table(title=title, title_justify="left")
    for heading in ("", pair.reference, pair.kafka, "ratio"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name in runs[pair.reference][0]:
        ours, theirs = (median(run[name] for run in runs[target]) for target in (pair.reference, pair.kafka))
        table.add_row(name, f"{ours:.3g}", f"{theirs:.3g}", f"{ours / theirs:.2f}" if theirs else "-")
    console.print(table)


def main() -> None:
    arguments = argparse.ArgumentParser(prog="make bench", description=__doc__)
    arguments.add_argument("--repeat", type=int, default=5, help="clusters of each target (default 5)")
    arguments.add_argument(
        "--many", type=int, default=1, help="clusters with many partitions, of each target with ZooKeeper (default 1)"
    )
    arguments.add_argument("--only", choices=PAIRS, help="one of the two tables")
    arguments.add_argument("--json", type=Path, help="also write every single figure to this file")
    options = arguments.parse_args()

    console = terminal()
    found: dict[str, Runs] = {}
    for name, pair in PAIRS.items():
        if options.only not in (None, name):
            continue
        measured = [(measure, options.repeat, name)]
        if pair.has_zookeeper:
            measured.append((measure_controller, options.many, f"{name}, many partitions"))
        for measurement, times, what in measured:
            if times:
                found[what] = in_turn(console, pair, measurement, times, what)
                show(console, pair, found[what], f"{what}: medians of {times}, links through Toxiproxy, in turn")
                if options.json:
                    options.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
