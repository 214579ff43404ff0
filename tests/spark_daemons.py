"""Masters and workers of Spark as processes on loopback."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from fencepost.harness.processes.interrupts import end_on_interrupt

HOME = Path(pyspark.__file__).parent
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
STARTED = 120.0
"""Seconds for the start of a daemon, on a machine with other work."""


@contextmanager
def daemon(log: Path, name: str, *arguments: str, ready: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start a daemon of Spark; yield what the pattern found in its log, and its process, which is ended in the end."""
    command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
    environment = {**os.environ, "SPARK_DAEMON_JAVA_OPTS": QUICK, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": ""}
    environment |= {"SPARK_DAEMON_MEMORY": "256m"}
    with (
        log.open("wb") as output,
        # Also when these tests are killed, which runs nothing of what is below. `spark-class` becomes the JVM.
        subprocess.Popen(
            command, stdout=output, stderr=output, env=environment, preexec_fn=end_on_interrupt
        ) as process,
    ):
        try:
            until = time.monotonic() + STARTED
            while (found := re.search(ready, log.read_text())) is None:
                assert process.poll() is None and time.monotonic() < until, log.read_text()[-2000:]
                time.sleep(0.1)
            yield found[0], process
        finally:
            process.terminate()
