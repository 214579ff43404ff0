"""Archives of the classes that a JVM loads (JDK: application class data sharing).

An archive is recorded from one process that is started and stopped alone. With it later processes need half the
processor time until they serve. A JVM ignores an archive that does not fit it.
"""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from fencepost.harness.errors import InfrastructureError

RECORDING_TIMEOUT = 120.0
POLL = 0.05
_ERROR = re.compile(r" (ERROR|FATAL) |Error:|Exception")
_PLACE = re.compile(r"^[-0-9]+ [0-9:,]+ (ERROR|FATAL) \[.*?\] ")


class DoesNotRun(InfrastructureError):
    """A release that does not start on this machine, by whatever reason: no other plan for it starts, either."""


def recording(archive: Path) -> str:
    """Return the flag that makes a JVM write the archive when it ends."""
    return f"-XX:ArchiveClassesAtExit={archive}"


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


def says(log: Path, *texts: str) -> Callable[[], bool]:
    """Return a function that returns whether the log contains one of the texts."""

    def said() -> bool:
        content = log.read_text(errors="replace")
        return any(text in content for text in texts)

    return said


def record(archive: Path, version: str, command: Callable[..., Sequence[str]], log: Path, *started: str) -> None:
    """Start and end one node of Apache Kafka alone, so that the JVM writes the classes that it loaded.

    `command` returns the command line of the node with further flags; `started` are the lines of which one says that it
    has started. A JVM that cannot record is asked to start the node without. Raise DoesNotRun if the node does not.
    """
    for flags in ([recording(archive)], []):
        with running(command(*flags), log, says(log, *started)) as up:
            pass
        if up:
            return
    raise DoesNotRun(f"Apache Kafka {version} does not run on this machine ({_java()}): {_reason(log)}")


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
