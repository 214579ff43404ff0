"""`python -m tests.bench`: measures both targets in turn, A B A B, and prints medians and their ratio."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median

from rich.table import Table

from harness.terminal import terminal
from tests.bench import measures
from tests.bench.clusters import started

REFERENCE, KAFKA = "quorum", "apache-kafka:4.3.1"


def measure(target: str) -> dict[str, float]:
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


def main() -> None:
    arguments = argparse.ArgumentParser(prog="make bench", description=__doc__)
    arguments.add_argument("--repeat", type=int, default=5, help="clusters of each target (default 5)")
    arguments.add_argument("--json", type=Path, help="also write every single figure to this file")
    options = arguments.parse_args()

    console = terminal()
    runs: dict[str, list[dict[str, float]]] = {REFERENCE: [], KAFKA: []}
    for n in range(options.repeat):
        for target, figures in runs.items():
            console.print(f"[dim]{n + 1} of {options.repeat}: {target}[/]")
            figures.append(measure(target))

    table = Table(
        title=f"medians of {options.repeat}, links through Toxiproxy, both targets in turn", title_justify="left"
    )
    for heading in ("", REFERENCE, KAFKA, "ratio"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name in runs[REFERENCE][0]:
        ours, theirs = (median(run[name] for run in runs[target]) for target in (REFERENCE, KAFKA))
        table.add_row(name, f"{ours:.3g}", f"{theirs:.3g}", f"{ours / theirs:.2f}")
    console.print(table)
    if options.json:
        options.json.write_text(json.dumps(runs, indent=2))


if __name__ == "__main__":
    main()
