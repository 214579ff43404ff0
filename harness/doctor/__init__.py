"""Mechanisms of this machine for `fencepost doctor`: which of them work, by trial, and what is lost without the others.

Each mechanism is tried, not guessed: a process is stopped, a file is read through a FUSE mount, a Toxiproxy answers.
A probe returns its evidence, or raises `Unavailable` with the reason. It ends everything that it started.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fencepost.harness.doctor import machine, programs
from fencepost.harness.doctor.mechanism import Diagnosis, Mechanism, diagnose
from fencepost.harness.network.server import MESSAGES_REMEDY, how_to_get
from fencepost.harness.terminal import terminal

MECHANISMS = (
    Mechanism(
        "toxiproxy",
        programs.toxiproxy,
        "every link fault; no cluster starts without it",
        how_to_get(),
    ),
    Mechanism(
        "messages",
        programs.messages,
        "the faults of messages: lost-request, lost-answer, late-request, repeated-request",
        MESSAGES_REMEDY,
    ),
    Mechanism(
        "java", programs.java, "ZooKeeper, Apache Kafka as a target, trends", "apt-get install openjdk-17-jre-headless"
    ),
    Mechanism(
        "kafka jars",
        programs.resolver,
        "Apache Kafka as a target, where its jars are not in the cache yet",
        "apt-get install maven, or pip install 'fencepost[mining]', or set KAFKA_HOME",
    ),
    Mechanism(
        "zookeeper",
        programs.zookeeper,
        "the targets zk-controller and leader-driven",
        "apt-get install maven, or pip install 'fencepost[mining]', or set ZOOKEEPER_HOME",
    ),
    Mechanism(
        "docker",
        programs.docker_engine,
        "--backend docker, and the faults disconnect, memory and cpu",
        "apt-get install docker.io, then start dockerd",
    ),
    Mechanism(
        "fuse",
        machine.fuse,
        "the faults of disks: disk-error, disk-slow, disk-full, disk-read-only, torn-write, power-loss, bit-flip, "
        "stale-blocks",
        "apt-get install fuse3; a container needs --device /dev/fuse --cap-add SYS_ADMIN",
    ),
    Mechanism(
        "compiler",
        machine.wall_clock,
        "the faults of clocks: clock-jump, clock-skew",
        "apt-get install gcc libc6-dev, or name a compiler in CC",
    ),
    Mechanism(
        "namespaces",
        machine.namespaces,
        "nodes of target files with `names: mount`",
        "allow user namespaces, or give a container --cap-add SYS_ADMIN",
    ),
    Mechanism("sigstop", machine.pause, "the fault pause", "run where processes may be signalled"),
    Mechanism(
        "loopback",
        machine.loopback,
        "the process backend",
        "run on Linux; elsewhere add addresses of 127.0.0.0/8 to the loopback",
    ),
    Mechanism(
        "socket tables",
        machine.socket_tables,
        "the proof that no connection bypasses its link: every verdict would be infrastructure",
        "run where /proc can be read",
    ),
    Mechanism("spark", programs.spark, "fencepost trends", "pip install 'fencepost[mining]', and Java 17"),
)
NEEDED = ("toxiproxy", "sigstop", "loopback", "socket tables")
"""The mechanisms without which no run on the process backend starts."""


def examine(names: Collection[str] | None = None) -> list[Diagnosis]:
    """Try mechanisms side by side: those of these names, or all."""
    tried = [each for each in MECHANISMS if names is None or each.name in names]
    with ThreadPoolExecutor(len(tried)) as pool:
        return list(pool.map(diagnose, tried))


def main(as_json: bool = False) -> int:
    """Print the table. Return exit code 0 if runs on the process backend can start, else 2."""
    rows = examine()
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        _print_table(rows)
    return 0 if all(row.available for row in rows if row.name in NEEDED) else 2


def _print_table(rows: list[Diagnosis]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 3, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        if row.available:
            version = re.match(r"(\d[\d.]*), ", row.how)
            how = row.how[version.end() :] if version else row.how
            table.add_row(row.name, Text(version[1] if version else "yes", "green"), Text(how))
        else:
            text = Text(row.how)
            text.append("\nlost     ", "dim").append(row.lost)
            text.append("\nget it   " if row.answered else "\ndo       ", "dim").append(row.remedy)
            table.add_row(row.name, Text("no", "red") if row.answered else Text("?", "yellow"), text)
    terminal().print(Padding(table, (0, 2)))
