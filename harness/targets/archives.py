"""Archives of the classes that a JVM loads (JDK: application class data sharing).

An archive is recorded from one process that is started and stopped alone. With it later processes need half the
processor time until they serve. A JVM ignores an archive that does not fit it.
"""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from fencepost.harness.cache_folder import cached
from fencepost.harness.errors import InfrastructureError

CLASSES = "classes.jsa"
"""The archive in a folder of the cache. Without it nodes start, but slower."""
RECORDING_TIMEOUT = 120.0
POLL = 0.05
_ERROR = re.compile(r" (ERROR|FATAL) |Error:|Exception")
_PLACE = re.compile(r"^[-0-9]+ [0-9:,]+ (ERROR|FATAL) \[.*?\] ")


def prepared(name: str, title: str, record: Callable[[Path], None]) -> Path:
    """Return the folder `name` of the cache, into which `record` once put CLASSES, if this JVM can."""

    def fill(folder: Path) -> None:
        record(folder)
        if not (folder / CLASSES).exists():
            print("no class archive could be recorded: nodes start slower", file=sys.stderr, flush=True)

    return cached(name, f"preparing {title} for quick starts", fill)


def recording(folder: Path) -> str:
    """Return the flag that makes a JVM write the archive of a folder when it ends."""
    return f"-XX:ArchiveClassesAtExit={folder / CLASSES}"


@contextmanager
def running(command: Sequence[str], log: Path, started: Callable[[], bool]) -> Iterator[bool]:
    """Run a process for the block, and end it by SIGTERM. Yields whether `started` came true in time."""
    deadline = time.monotonic() + RECORDING_TIMEOUT
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process:
        try:
            while not (up := started()) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(POLL)
            yield up
            process.send_signal(signal.SIGTERM)
            process.wait(RECORDING_TIMEOUT)
        except subprocess.TimeoutExpired:
            pass
        finally:
            process.kill()


def record(folder: Path, version: str, command: Callable[..., Sequence[str]], *started: str) -> None:
    """Start and end one node of Apache Kafka alone, so that the JVM writes the classes that it loaded.

    `command` returns the command line of the node with further flags; `started` are the lines of which one says that it
    has started. A JVM that cannot record is asked to start the node without. InfrastructureError if the node does not
    start on this machine: no other plan for this release starts, either.
    """
    log = folder.with_name("node.log")

    def is_started() -> bool:
        content = log.read_text(errors="replace")
        return any(line in content for line in started)

    for flags in ([recording(folder)], []):
        with running(command(*flags), log, is_started) as up:
            pass
        if up:
            return
    raise InfrastructureError(f"Apache Kafka {version} does not run on this machine ({_java()}): {_reason(log)}")


def _java() -> str:
    done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    return next(iter((done.stderr or done.stdout).splitlines()), "no java").replace('"', "")


def _reason(log: Path) -> str:
    """Return the line of a log that tells best why a node ended, without its time and place."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    errors = [line for line in lines if _ERROR.search(line)]
    chosen = (causes[-1:] or errors[:1] or lines[-1:] or ["a single broker did not start, and its log is empty"])[0]
    return _PLACE.sub("", chosen).removeprefix("Caused by: ")


def free_port() -> int:
    """Return a port of 127.0.0.1 that is free now."""
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        return int(probe.getsockname()[1])
