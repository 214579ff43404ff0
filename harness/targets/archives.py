"""Archives of the classes that a JVM loads (JDK: application class data sharing).

Recorded from one process that is started and stopped alone: with it the next ones need half the CPU until they serve.
A JVM that an archive does not fit ignores it.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

RECORDING_TIMEOUT = 120.0
POLL = 0.05


def recording(archive: Path) -> str:
    """The flag that makes a JVM write the archive when it ends."""
    return f"-XX:ArchiveClassesAtExit={archive}"


@contextmanager
def running(command: Sequence[str], log: Path, started: Callable[[], bool]) -> Iterator[bool]:
    """A process from its start to its end by SIGTERM; gives whether it started, by its own word, in time."""
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


def says(log: Path, text: str) -> Callable[[], bool]:
    """Whether the process has written this into its log."""
    return lambda: text in log.read_text(errors="replace")


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        return int(probe.getsockname()[1])
