"""Mechanisms of this machine for `fencepost doctor`: which of them work, by trial, and what is lost without the others.

Each mechanism is tried, not guessed: a process is stopped, a file is read through a FUSE mount, a Toxiproxy answers.
A probe returns its evidence, or raises `Unavailable` with the reason. It ends everything that it started.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

import docker
from fencepost.harness.clock.library import library, unavailable_reason
from fencepost.harness.disks import mounts
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.server import NoToxiproxy, await_version, how_to_get, server_command
from fencepost.harness.network.socket_table import sockets_of
from fencepost.harness.network.toxiproxy import Toxiproxy
from fencepost.harness.targets.maven import pyspark_jars
from fencepost.harness.targets.zookeeper import ZooKeeperServers, serves
from fencepost.harness.targets.zookeeper_jars import found_jars
from fencepost.harness.terminal import terminal

PROBE_SECONDS = 20.0
SPARK_SECONDS = 120.0
"""A JVM that loads Spark's jars: seconds of processor time, and many times that on a busy machine."""


class Unavailable(Exception):
    """The mechanism does not work here. The message says what was tried, and the result.

    `remedy` replaces the remedy of the mechanism, where what that would install is there.
    """

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy


@dataclass(frozen=True)
class Mechanism:
    """A mechanism that the harness can use, and the probe that tries it."""

    name: str
    probe: Callable[[], str]
    lost: str
    remedy: str


@dataclass(frozen=True)
class Diagnosis:
    """The result of a probe. `how` is the evidence if the mechanism is available, else the reason.

    Without `answered`, the probe was given up: the mechanism may be there.
    """

    name: str
    available: bool
    how: str
    lost: str
    remedy: str
    answered: bool = True


def diagnose(mechanism: Mechanism) -> Diagnosis:
    """Run one probe. Any exception means that the mechanism cannot be used here."""
    try:
        return Diagnosis(mechanism.name, True, mechanism.probe(), mechanism.lost, mechanism.remedy)
    except Unavailable as reason:
        return Diagnosis(mechanism.name, False, str(reason), mechanism.lost, reason.remedy or mechanism.remedy)
    except subprocess.TimeoutExpired as late:
        how = f"it did not answer within {late.timeout:g} s"
        return Diagnosis(mechanism.name, False, how, mechanism.lost, "ask again when this machine is less busy", False)
    except Exception as error:
        how = f"{type(error).__name__}: {error}"
        return Diagnosis(mechanism.name, False, how, mechanism.lost, mechanism.remedy)


def _output(*command: str, seconds: float = PROBE_SECONDS) -> str:
    """Return the output of a command on both streams, without colours.

    Raises Unavailable if it is absent or fails, subprocess.TimeoutExpired if it hangs.
    """
    program = shutil.which(command[0])
    if program is None:
        raise Unavailable(f"no {command[0]} on the PATH")
    done = subprocess.run(
        [program, *command[1:]], capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise Unavailable(f"{command[0]} ended with exit code {done.returncode}: {(done.stderr or done.stdout)[-120:]}")
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)


def toxiproxy() -> str:
    """Start the server that runs would use, on a free port, and ask its version."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            api = Endpoint(*probe.getsockname())
        command = server_command(api)
        server = subprocess.Popen(
            command.argv,
            env={**os.environ, **command.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            version = await_version(Toxiproxy(api), lambda: server.poll() is None)
        finally:
            server.kill()
            server.wait()
    except NoToxiproxy as error:
        raise Unavailable(error.what) from error
    unknown = " (its version is 'git': it was built without -ldflags, so its release is not known)"
    return f"{version}, {command.argv[0]}, answered on {api}{unknown if version == 'git' else ''}"


def java() -> str:
    """Check that Java reports version 17 or newer."""
    text = _output("java", "-version")
    found = re.search(r'version "(\d+)([^"]*)"', text)
    if found is None or int(found[1]) < 17:
        raise Unavailable(f"{shutil.which('java')} says {text.splitlines()[0]!r}; 17 or newer is needed")
    return f"{found[1]}{found[2]}, {shutil.which('java')}"


def _spark_jars() -> Path:
    jars = pyspark_jars()
    if jars is None:
        raise Unavailable("the package pyspark is not installed")
    return jars


def resolver() -> str:
    """Find a source of Apache Kafka's jars: KAFKA_HOME, Maven, or the Ivy in pyspark."""
    home = os.environ.get("KAFKA_HOME")
    if home and list(Path(home, "libs").glob("kafka_2.13-*.jar")):
        return f"KAFKA_HOME={home} holds the jars"
    try:
        return _output("mvn", "--version").splitlines()[0]
    except Unavailable as no_maven:
        ivy = sorted(_spark_jars().glob("ivy-*.jar"))
        if not ivy:
            raise Unavailable(f"{no_maven}, and pyspark carries no Ivy") from None
        java()
        return f"Ivy inside pyspark, {ivy[0].name}"


def zookeeper() -> str:
    """Start a server from the jars that runs use, and check that it accepts sessions."""
    jars = found_jars()
    if jars is None:
        raise Unavailable("no jars of it: no ZOOKEEPER_HOME, no pyspark, no Debian package; Maven would fetch them")
    java()
    with tempfile.TemporaryDirectory() as folder, ZooKeeperServers(jars).standalone(Path(folder)) as endpoint:
        if not serves(endpoint):
            raise Unavailable(f"a server from {jars.origin} was started and did not serve")
    return f"a server from {jars.origin} served"


def docker_engine() -> str:
    """Check that a Docker engine answers; an installed client alone does not count."""
    try:
        client = docker.from_env(timeout=5)
    except docker.errors.DockerException as error:
        where = os.environ.get("DOCKER_HOST", "/var/run/docker.sock")
        forbidden = "Permission denied" in str(error)
        remedy = f"allow this user to use {where}: add it to the group docker, and log in again" if forbidden else None
        raise Unavailable(f"no engine answered at {where}: {error}", remedy) from None
    try:
        return f"engine {client.version()['Version']} answered"
    finally:
        client.close()


_FUSE_CHILD = """
import errno, os, signal, stat, subprocess, sys, threading
from mfusepy import FUSE, FuseOSError, Operations
folder, unmount = sys.argv[1:]
def end_with_the_parent():
    sys.stdin.read()
    subprocess.run([unmount, "-u", "-z", "-q", folder], stderr=subprocess.DEVNULL)
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=end_with_the_parent, daemon=True).start()
class OneFile(Operations):
    def getattr(self, path, fh=None):
        if path == "/": return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        if path == "/file": return {"st_mode": stat.S_IFREG | 0o444, "st_nlink": 1, "st_size": 5}
        raise FuseOSError(errno.ENOENT)
    def readdir(self, path, fh): return [".", "..", "file"]
    def read(self, path, size, offset, fh): return b"fence"[offset:offset + size]
FUSE(OneFile(), folder, foreground=True)
"""


def fuse() -> str:
    """Mount a file system of one file and read that file. The mount ends with this process, however it ends."""
    if refused := mounts.unavailable_reason():
        what, _, remedy = refused.rpartition(": ")
        raise Unavailable(what, remedy)
    unmount = mounts.FUSERMOUNT
    with tempfile.TemporaryDirectory(prefix="fencepost-doctor-") as folder:
        child = subprocess.Popen(
            [sys.executable, "-c", _FUSE_CHILD, folder, unmount],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            deadline = time.monotonic() + 5
            while not os.path.ismount(folder):
                if child.poll() is not None or time.monotonic() > deadline:
                    child.kill()
                    reason = child.communicate()[1].decode().strip().splitlines()
                    raise Unavailable(f"could not mount: {reason[-1] if reason else 'no answer in 5 s'}")
                time.sleep(0.01)
            content = Path(folder, "file").read_bytes()
        finally:
            subprocess.run([unmount, "-u", "-q", folder], check=False, stderr=subprocess.DEVNULL)
            child.kill()
            child.communicate()
    if content != b"fence":
        raise Unavailable(f"read {content!r} through the mount")
    return "mounted and read a file through it"


def wall_clock() -> str:
    """Compile the library that replaces the wall clock, unless the cache has it, and read a clock through it."""
    if reason := unavailable_reason():
        raise Unavailable(reason)
    built = library()
    done = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        env={**os.environ, "LD_PRELOAD": str(built)},
        capture_output=True,
        text=True,
        timeout=PROBE_SECONDS,
    )
    if done.returncode != 0 or abs(float(done.stdout) - time.time()) > PROBE_SECONDS:
        raise Unavailable(f"a clock read through {built} was wrong: {(done.stderr or done.stdout).strip()[-120:]}")
    return f"read a clock through {built.name}"


def pause() -> str:
    """Stop a child process and check for state T in the process table."""
    child = subprocess.Popen(["sleep", "60"])
    try:
        child.send_signal(signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        state = Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    finally:
        child.kill()
        child.wait()
    if state != "T":
        raise Unavailable(f"after SIGSTOP the process was in state {state}, not T")
    return "stopped a process and saw state T"


def loopback() -> str:
    """Bind addresses far apart in 127.0.0.0/8, as every running cluster does."""
    for address in ("127.20.0.1", "127.20.199.9", "127.250.201.6"):
        try:
            socket.create_server((address, 0)).close()
        except OSError as error:
            raise Unavailable(f"cannot listen on {address}: {error.strerror}") from None
    return "listened on 127.20.0.1, 127.20.199.9 and 127.250.201.6"


def socket_tables() -> str:
    """Find a connection of this process in the kernel's table, as the audit of links does."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        mine = client.getsockname()
        if not any(each.local == mine for each in sockets_of(os.getpid())):
            raise Unavailable("an open connection was not found in the socket table")
    return "found a connection of its own by process id"


def spark() -> str:
    """Let Spark print its version, on the Java that jobs use."""
    jars = _spark_jars()
    text = _output(
        "java", "-cp", f"{jars}/*", "org.apache.spark.deploy.SparkSubmit", "--version", seconds=SPARK_SECONDS
    )
    found = re.search(r"version (\d[\d.]*)", text)
    if found is None:
        raise Unavailable(f"Spark started and printed no version: {text[-120:]}")
    return f"{found[1]}, {jars.parent}"


MECHANISMS = (
    Mechanism(
        "toxiproxy",
        toxiproxy,
        "every link fault; no cluster starts without it",
        how_to_get(),
    ),
    Mechanism("java", java, "ZooKeeper, Apache Kafka as a target, trends", "apt-get install openjdk-17-jre-headless"),
    Mechanism(
        "kafka jars",
        resolver,
        "Apache Kafka as a target, where its jars are not in the cache yet",
        "apt-get install maven, or pip install 'fencepost[mining]', or set KAFKA_HOME",
    ),
    Mechanism(
        "zookeeper",
        zookeeper,
        "the targets zk-controller and leader-driven",
        "apt-get install maven, or pip install 'fencepost[mining]', or set ZOOKEEPER_HOME",
    ),
    Mechanism(
        "docker",
        docker_engine,
        "--backend docker, and the faults disconnect, memory and cpu",
        "apt-get install docker.io, then start dockerd",
    ),
    Mechanism(
        "fuse",
        fuse,
        "the faults of disks: disk-error, disk-slow, disk-full, disk-read-only, torn-write, power-loss, bit-flip",
        "apt-get install fuse3; a container needs --device /dev/fuse --cap-add SYS_ADMIN",
    ),
    Mechanism(
        "compiler",
        wall_clock,
        "the faults of clocks: clock-jump, clock-skew",
        "apt-get install gcc libc6-dev, or name a compiler in CC",
    ),
    Mechanism("sigstop", pause, "the fault pause", "run where processes may be signalled"),
    Mechanism(
        "loopback",
        loopback,
        "the process backend",
        "run on Linux; elsewhere add addresses of 127.0.0.0/8 to the loopback",
    ),
    Mechanism(
        "socket tables",
        socket_tables,
        "the proof that no connection bypasses its link: every verdict would be infrastructure",
        "run where /proc can be read",
    ),
    Mechanism("spark", spark, "fencepost trends", "pip install 'fencepost[mining]', and Java 17"),
)


def examine() -> list[Diagnosis]:
    """Try all mechanisms side by side."""
    with ThreadPoolExecutor(len(MECHANISMS)) as pool:
        return list(pool.map(diagnose, MECHANISMS))


def main(as_json: bool = False) -> int:
    """Print the table. Return exit code 0 if runs on the process backend can start, else 2."""
    rows = examine()
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        _print_table(rows)
    needed = {"toxiproxy", "sigstop", "loopback", "socket tables"}
    return 0 if all(row.available for row in rows if row.name in needed) else 2


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
