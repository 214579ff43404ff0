"""Measure the processor time of a suite by kind of process: `python -m tests.bench.processor_time [TARGET] [-k EXPR]`.

The harness is the command itself and the workers of its pytest session; the nodes are what a run starts. The last line
is the ratio that is to stay below 1: what the harness uses beside what the nodes of its clusters use.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.table import Table

from fencepost.harness.terminal import terminal

EVERY = 0.1
"""Seconds between two looks; what a process uses after the last look at it is not counted."""
KINDS = {
    "fencepost.cluster_impl": "nodes",
    "QuorumPeerMain": "zookeeper",
    "kafka.Kafka": "nodes",
    "toxiproxy-server": "toxiproxy",
    "harness.disks": "disks",
    "pytest": "harness",
    "fencepost": "harness",
    "exec(eval(sys.stdin": "harness",  # a worker of pytest-xdist
}
"""A part of a command line, and the kind of process that it shows; the first that fits counts."""


@dataclass(frozen=True)
class Sample:
    """The processor time of one process so far, in seconds."""

    kind: str
    seconds: float


def kind_of(command_line: list[str]) -> str | None:
    """Return the kind of a process, or None where its command line is gone with its memory."""
    text = " ".join(command_line)
    if not text:
        return None
    return next((kind for part, kind in KINDS.items() if part in text), "other")


def measure(command: list[str]) -> tuple[dict[str, list[float]], float]:
    """Run the command to its end. Return processor seconds of each process by kind, and the seconds that it took."""
    began = time.monotonic()
    latest: dict[int, Sample] = {}
    root = psutil.Popen(command)
    while root.poll() is None:
        for process in _family(root):
            try:
                times = process.cpu_times()
                kind = kind_of(process.cmdline())
            except psutil.Error:
                continue
            if kind is None and process.pid in latest:
                kind = latest[process.pid].kind
            latest[process.pid] = Sample(kind or "other", times.user + times.system)
        time.sleep(EVERY)
    by_kind: dict[str, list[float]] = defaultdict(list)
    for sample in latest.values():
        by_kind[sample.kind].append(sample.seconds)
    return by_kind, time.monotonic() - began


def _family(root: psutil.Popen) -> Iterator[psutil.Process]:
    try:
        yield root
        yield from root.children(recursive=True)
    except psutil.Error:
        return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("target", nargs="?", default="quorum", help="what to run the suite against")
    parser.add_argument("-k", dest="only", help="only scenarios that match, as in `fencepost conformance`")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as runs:
        command = [sys.executable, "-m", "fencepost.harness.cli", "conformance", options.target, "--runs", runs]
        by_kind, wall = measure([*command, *(["-k", options.only] if options.only else [])])
        scenarios = sum(1 for _ in Path(runs).glob("*/verdict.json"))
    table = Table("processes", "count", "CPU s", "CPU s a scenario", title=f"{scenarios} scenarios in {wall:.0f} s")
    for kind, seconds in sorted(by_kind.items(), key=lambda each: -sum(each[1])):
        each = f"{sum(seconds) / scenarios:.2f}" if scenarios else "-"
        table.add_row(kind, str(len(seconds)), f"{sum(seconds):.1f}", each)
    terminal().print(table)
    nodes = sum(by_kind.get("nodes", ()))
    if not nodes:
        print("no node ran, so there is nothing to hold the harness beside", file=sys.stderr)
        return 1
    print(f"harness / nodes: {sum(by_kind.get('harness', ())) / nodes:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
