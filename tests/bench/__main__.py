"""Measure every design and the Apache Kafka of its kind in turn, and print one table: `python -m tests.bench`.

Cells are medians; in brackets stands the ratio to the Kafka of the same kind: today's for the design that keeps its
metadata itself, the last one with ZooKeeper for the designs around it. More tables are about many partitions, and
`--only controllers` about controllers of quorum under simulated brokers. `--only faults` measures the faults, the way
through the links, the start on each backend, and with `--suite RUNS` what a suite took beside its protocol waits;
`--write` puts that into `faults/README.md`. `--only report` opens the report pages of a short and of a long run in
headless Chromium, `--only comparison` times the probes of `fencepost compare`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from fencepost.harness.targets import jvm
from fencepost.harness.terminal import terminal
from tests.bench import comparison, controllers, many_partitions, measures, report_page
from tests.bench.clusters import started
from tests.bench.faults_page import measure_page
from tests.bench.kept import Kept
from tests.bench.many_partitions import Scale
from tests.harness.report.chromium import BINARY

Figures = dict[str, float]
Runs = dict[str, list[Figures]]

KAFKA, KAFKA_ZK = "apache-kafka:4.3.1", "apache-kafka-zk:3.9.1"
BESIDE = {"leader-driven": KAFKA_ZK, "zk-controller": KAFKA_ZK, "quorum": KAFKA}
"""Which Kafka each design is held beside."""
FAULTS = "faults"
REPORT = "report"
COMPARISON = "comparison"
CONTROLLERS = "controllers"
WITH_ZOOKEEPER = ("leader-driven", "zk-controller", KAFKA_ZK)
WITHOUT_ZOOKEEPER = ("quorum", KAFKA)
SCALES = (Scale(1000, 3, 3),)
HEAP = "-Xmx1g"
"""The heap of a node of Apache Kafka with many partitions."""


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
        small = measures.produced(cluster, measures.RECORD, measures.BULK_RECORDS)
        large = measures.produced(cluster, measures.LARGE_RECORD, measures.LARGE_RECORDS)
        figures["produce 1 KB, acks=all, 3 replicas, MB/s"] = small.rate
        figures["produce 10 KB, acks=all, 3 replicas, MB/s"] = large.rate
        figures["CPU of all nodes for a GB of 1 KB records, s"] = 1000 * small.cpu / small.megabytes
        figures["CPU of all nodes for a GB of 10 KB records, s"] = 1000 * large.cpu / large.megabytes
        figures["CPU of Toxiproxy and the client for a GB of 1 KB records, s"] = 1000 * small.around / small.megabytes
        figures["memory that a node grew by meanwhile, MB"] = small.grown + large.grown
        figures["consume, MB/s"] = measures.consumed(cluster, small.megabytes + large.megabytes)
        figures["kill -9 of a leader to next acknowledgement, session timeouts"] = measures.failover(cluster)
    return figures


def measure_many(scales: Sequence[Scale], target: str) -> Figures:
    """A fresh cluster for each scale."""
    figures: Figures = {}
    # The heap of the suites would be full: Kafka's nodes then do little but collect garbage.
    jvm.BROKER_HEAP = HEAP
    with_zookeeper = target in WITH_ZOOKEEPER
    timing = many_partitions.TIMING if with_zookeeper else many_partitions.LEASES
    measured = many_partitions.measure_with_zookeeper if with_zookeeper else many_partitions.measure
    for scale in scales:
        with started(target, timing) as cluster:
            figures |= measured(cluster, scale)
    return figures


def targets_of(designs: Sequence[str]) -> list[str]:
    """The designs, then the Kafkas that they are held beside."""
    return [*designs, *dict.fromkeys(BESIDE[design] for design in designs)]


def in_turn(
    console: Console, targets: Sequence[str], measured: Callable[[str], Figures], times: int, what: str
) -> Runs:
    runs: Runs = {target: [] for target in targets}
    for n in range(times):
        for target, figures in runs.items():
            console.print(f"[dim]{what}, {n + 1} of {times}: {target}[/]")
            figures.append(measured(target))
    return runs


def table(runs: Runs, title: str) -> Table:
    """Return a table with a column for each target. Each cell is the median of the runs."""
    shown = Table(title=title, title_justify="left")
    for heading in ("", *runs):
        shown.add_column(heading, justify="right" if heading else "left")
    for name in next(iter(runs.values()))[0]:
        shown.add_row(name, *(_cell(runs, target, name) for target in runs))
    return shown


def _cell(runs: Runs, target: str, name: str) -> str:
    ours = median(run[name] for run in runs[target])
    beside = runs.get(BESIDE.get(target, ""))
    theirs = median(run[name] for run in beside) if beside else 0
    shown = f"{ours:,.0f}" if ours >= 100 else f"{ours:.3g}"
    return f"{shown} ({ours / theirs:.2f})" if theirs else shown


def options() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(prog="make bench", description=__doc__)
    arguments.add_argument("--repeat", type=int, default=5, help="clusters of each target (default 5)")
    arguments.add_argument(
        "--many", type=int, default=1, help="clusters with many partitions, of each target (default 1)"
    )
    arguments.add_argument(
        "--only",
        choices=[*BESIDE, CONTROLLERS, FAULTS, REPORT, COMPARISON],
        action="append",
        help="this design and its Kafka, controllers under simulated brokers, the faults, the report page, or the "
        "probes of `fencepost compare`; may be repeated",
    )
    arguments.add_argument("--times", type=int, default=50, help="how often each fault is tried (default 50)")
    arguments.add_argument(
        "--seconds",
        type=float,
        default=120.0,
        help="of one fault on one backend, at most; twice in any case (default 120)",
    )
    arguments.add_argument("--fault", action="append", default=[], help="this fault alone; may be repeated")
    arguments.add_argument("--backend", action="append", default=[], help="try them on this backend alone")
    arguments.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="keep what was measured of each fault there, and measure only what is not there yet",
    )
    arguments.add_argument("--suite", type=Path, metavar="RUNS", help="the folder with the runs of one suite")
    arguments.add_argument("--write", action="store_true", help="the figures of faults also go into faults/README.md")
    arguments.add_argument("--without-kafka", action="store_true", help="measure the designs alone")
    arguments.add_argument(
        "--scale",
        type=Scale.read,
        action="append",
        metavar="TOPICSxPARTITIONSxREPLICAS",
        help=f"how many partitions are many; may be repeated (default {SCALES[0].topics}x{SCALES[0].partitions}x3)",
    )
    arguments.add_argument("--json", type=Path, help="also write every single figure to this file")
    chosen = arguments.parse_args()
    if chosen.write and (chosen.fault or chosen.backend):
        arguments.error("--write replaces all figures of faults: it goes without --fault and --backend")
    return chosen


def main() -> None:
    chosen = options()
    console = terminal()
    only = chosen.only or [*BESIDE, CONTROLLERS, FAULTS, *([REPORT] if BINARY else [])]
    targets = targets_of([name for name in only if name in BESIDE])
    if chosen.without_kafka:
        targets = [target for target in targets if target in BESIDE]
    scales = chosen.scale or SCALES
    found: dict[str, Runs] = {}
    for what, times, measured, among in (
        ("each cluster", chosen.repeat, measure, targets),
        ("many partitions, with ZooKeeper", chosen.many, lambda target: measure_many(scales, target), WITH_ZOOKEEPER),
        ("many partitions", chosen.many, lambda target: measure_many(scales, target), WITHOUT_ZOOKEEPER),
    ):
        asked = [target for target in targets if target in among]
        if times and asked:
            found[what] = in_turn(console, asked, measured, times, what)
            console.print(table(found[what], f"{what}: medians of {times}, links through Toxiproxy, in turn"))
            if chosen.json:
                chosen.json.write_text(json.dumps(found, indent=2))
    if CONTROLLERS in only:
        console.print("[dim]controllers under simulated brokers[/]")
        found[CONTROLLERS] = {"quorum": [{**controllers.heartbeats(), **controllers.metadata()}]}
        console.print(table(found[CONTROLLERS], "controllers of quorum under simulated brokers: one run"))
        if chosen.json:
            chosen.json.write_text(json.dumps(found, indent=2))
    if FAULTS in only:
        page = measure_page(
            console,
            chosen.times,
            chosen.seconds,
            (chosen.fault, chosen.backend),
            chosen.repeat,
            chosen.suite,
            Kept(chosen.keep),
        )
        page.show(console)
        if chosen.write:
            page.write()
        if chosen.json:
            chosen.json.write_text(json.dumps({**found, FAULTS: page.figures()}, indent=2))
    if REPORT in only:
        console.print(report_page.table(report_page.measure_pages(chosen.repeat)))
    if COMPARISON in only:
        console.print(comparison.measure("quorum", KAFKA))


if __name__ == "__main__":
    main()
