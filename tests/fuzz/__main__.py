"""Send malformed frames to every listener of every design, and say what they cost: `python -m tests.fuzz`.

`--frames 1000000` is the number for each listener. Two more parts follow on the listener of clients: 5,000 connections
that say nothing, and a client that reads no answer. It ends with 1 if a node ended, a connection beside was not served,
or memory or files did not come back.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.fuzz.bounds import FILES, IDLE_BYTES, MEMORY, SLOW_BYTES, files_come_back
from tests.fuzz.clusters import BROKERS, listeners
from tests.fuzz.load import idle, served, slow_reader
from tests.fuzz.storm import Cost, Listener, storm

IDLE = 5000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--design", choices=BROKERS, action="append", help="only this one (can be repeated)")
    parser.add_argument("--frames", type=int, default=1_000_000, help="for each listener; default: 1000000")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    # The nodes end with the cluster, which is left in order.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    failures = [failure for design in asked.design or BROKERS for failure in run(design, asked.frames, asked.seed)]
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


def run(design: str, frames: int, seed: int) -> list[str]:
    """Ask all listeners of one cluster; return what went wrong."""
    with tempfile.TemporaryDirectory(prefix="fencepost-fuzz-") as folder, listeners(design, Path(folder)) as found:
        wrong = [each for at in found for each in of_frames(design, at, frames, seed)]
        clients = next(at for at in found if at.name == "CLIENT")
        wrong += of_idle_connections(design, clients)
        wrong += of_a_slow_reader(design, clients)
        return wrong


def of_frames(design: str, at: Listener, frames: int, seed: int) -> list[str]:
    # What a node allocates once, such as groups and caches, is there after a tenth of the frames.
    asyncio.run(storm(at, frames // 10, seed + 1))
    before, began = Cost.of(at.pid), time.monotonic()
    client = asyncio.run(storm(at, frames, seed))
    took = time.monotonic() - began
    returned = files_come_back(at.pid, before.files)
    after = Cost.of(at.pid)
    grown = after.memory - before.memory
    print(
        f"{design} {at.name}: {frames} frames in {took:.0f} s, memory {grown / 1e6:+.1f} MB, files "
        f"{after.files - before.files:+d}; a client beside: {len(client.latencies)} answers, median "
        f"{median(client.latencies) * 1000:.1f} ms, longest {max(client.latencies) * 1000:.0f} ms",
        flush=True,
    )
    wrong = []
    if grown > MEMORY:
        wrong.append(f"{design} {at.name}: {grown / 1e6:.1f} MB were not given back, {MEMORY / 1e6:.0f} are allowed")
    if not returned:
        wrong.append(f"{design} {at.name}: {after.files - before.files} files stay open, {FILES} may")
    return wrong


def of_idle_connections(design: str, at: Listener) -> list[str]:
    before = Cost.of(at.pid)
    with idle(at, IDLE):
        longest = asyncio.run(served(at))
        during = Cost.of(at.pid)
    returned = files_come_back(at.pid, before.files)
    each = (during.memory - before.memory) / IDLE
    print(f"{design} {at.name}: {IDLE} idle connections, {each / 1e3:.0f} KB each, an answer in {longest * 1e3:.0f} ms")
    wrong = [] if returned else [f"{design} {at.name}: files of idle connections stay open"]
    return wrong if each <= IDLE_BYTES else [*wrong, f"{design} {at.name}: an idle connection costs {each:.0f} bytes"]


def of_a_slow_reader(design: str, at: Listener) -> list[str]:
    before = Cost.of(at.pid)
    with slow_reader(at) as taken:
        longest = asyncio.run(served(at))
        grown = Cost.of(at.pid).memory - before.memory
    print(
        f"{design} {at.name}: a slow reader sent {taken / 1e3:.0f} KB of requests and cost {grown / 1e6:.1f} MB; "
        f"an answer beside it in {longest * 1e3:.0f} ms"
    )
    return [] if grown <= SLOW_BYTES else [f"{design} {at.name}: a slow reader costs {grown / 1e6:.1f} MB"]


if __name__ == "__main__":
    sys.exit(main())
