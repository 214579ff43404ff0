"""`python -m tests.bench.disks [TARGET]`: the cost of a disk that can be broken, while it is whole.

The same cluster twice, with plain log directories and with mounted ones, and as many times as `--repeat` says; and one
file that is written to by a process alone. Cells are medians, in brackets stands the ratio to the plain disk.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Literal

from rich.table import Table

from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.disks.servers import DiskServers
from fencepost.harness.targets.registry import load
from fencepost.harness.terminal import terminal
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter
from tests.bench.clusters import TIMING, Started, create_topic, plan
from tests.bench.measures import bulk_throughput, single_latencies

Disk = Literal["plain", "breakable"]
DISKS: tuple[Disk, ...] = ("plain", "breakable")
WRITES = 2000
SIZES = (100, 4096, 65_536)
"""Bytes of a write."""
FSYNCS = 200

Figures = dict[str, float]


def of_a_cluster(target: str, disk: Disk) -> Figures:
    with TemporaryDirectory(prefix="fencepost-bench-") as scratch:
        what = plan(target, TIMING)
        nodes = tuple(
            node.model_copy(update={"disk": disk}) if "broker" in node.roles else node for node in what.topology.nodes
        )
        what = what.model_copy(update={"topology": what.topology.model_copy(update={"nodes": nodes})})
        folder = RunFolder.create_at(Path(scratch, "run"))
        with JournalWriter(folder.journal) as journal, Cluster(what, folder, journal, load(target)) as cluster:
            cluster.start([node.name for node in nodes])
            bootstrap = cluster.bootstrap()
            create_topic(bootstrap)
            started = Started(cluster, bootstrap, 0.0)
            p50, p99 = single_latencies(started)
            return {
                "one record acknowledged, p50, ms": p50,
                "one record acknowledged, p99, ms": p99,
                "produce 1 KB, acks=all, 3 replicas, MB/s": bulk_throughput(started),
            }


def of_a_file(disk: Disk) -> Figures:
    with _folder(disk) as folder, (folder / "file").open("wb", buffering=0) as file:
        figures = {}
        for size in SIZES:
            figures[f"write of {size} bytes, us"] = 1e6 * _each(WRITES, partial(file.write, bytes(size)))
        figures["fsync after 100 bytes, us"] = 1e6 * _each(FSYNCS, lambda: _fsynced(file.fileno()))
    return figures


def _fsynced(fd: int) -> None:
    os.write(fd, bytes(100))
    os.fsync(fd)


def _each(times: int, act: Callable[[], object]) -> float:
    """Seconds."""
    begun = time.perf_counter()
    for _ in range(times):
        act()
    return (time.perf_counter() - begun) / times


@contextmanager
def _folder(disk: Disk) -> Iterator[Path]:
    with TemporaryDirectory(prefix="fencepost-bench-") as scratch:
        run = RunFolder.create_at(Path(scratch, "run"))
        data = run.nodes / "data"
        data.mkdir(parents=True)
        with DiskServers(run) as servers:
            if disk == "breakable":
                servers.mount(data, "disk-bench")
            yield data


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m tests.bench.disks", description=__doc__)
    arguments.add_argument("target", nargs="?", default="quorum")
    arguments.add_argument("--repeat", type=int, default=3)
    arguments.add_argument("--files-only", action="store_true", help="start no cluster")
    chosen = arguments.parse_args()
    found: dict[Disk, list[Figures]] = {disk: [] for disk in DISKS}
    for _ in range(chosen.repeat):
        for disk in DISKS:
            figures = of_a_file(disk)
            found[disk].append(figures if chosen.files_only else figures | of_a_cluster(chosen.target, disk))
    terminal().print(_table(found, f"{chosen.target}, at a load of {os.getloadavg()[1]:.1f}"))


def _table(found: dict[Disk, list[Figures]], title: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in ("", *DISKS):
        table.add_column(heading, justify="right" if heading else "left")
    for name in found["plain"][0]:
        plain, mounted = (median(figures[name] for figures in found[disk]) for disk in DISKS)
        table.add_row(name, f"{plain:.3g}", f"{mounted:.3g} ({mounted / plain:.2f})")
    return table


if __name__ == "__main__":
    main()
