"""Files that are made once for each version of Apache Kafka, because each costs seconds of a JVM.

- a data directory that StorageTool formatted; each node gets a copy with its own ids in `meta.properties`;
- an archive of the classes that a node loads (see `archives`).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.cache_folder import cache_folder
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.archives import free_port, record
from fencepost.harness.targets.jars import COMPLETE, locked
from fencepost.harness.targets.target import new_uuid, write_properties

FORMAT_TIMEOUT = 120.0
STARTED = "Kafka Server started"

Java = Callable[..., list[str]]
"""Returns the command line of a JVM with the jars of this version, for flags, main class and arguments."""


@dataclass(frozen=True)
class PreparedFiles:
    """The folder of a version in the cache."""

    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def classes(self) -> Path:
        """The archive of classes. Without it nodes start, but slower."""
        return self.folder / "classes.jsa"


def prepare(version: str, java: Java) -> PreparedFiles:
    """Return the files of a version; one process makes them if needed. InfrastructureError if formatting fails."""
    made = PreparedFiles(cache_folder() / f"prepared-{version}")
    with locked(made.folder):
        if not (made.folder / COMPLETE).exists():
            print(f"preparing Apache Kafka {version} for quick starts", file=sys.stderr, flush=True)
            shutil.rmtree(made.folder, ignore_errors=True)
            made.folder.mkdir()
            with tempfile.TemporaryDirectory() as scratch:
                _format(version, java, Path(scratch), made.data)
                _record_classes(version, java, Path(scratch), made)
                if not made.classes.exists():
                    print("no class archive could be recorded: nodes start slower", file=sys.stderr, flush=True)
            (made.folder / COMPLETE).touch()
    return made


def _format(version: str, java: Java, scratch: Path, data: Path) -> None:
    properties = _single_node(scratch, data)
    command = java("kafka.tools.StorageTool", "format", "-t", new_uuid(), "-c", str(properties))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FORMAT_TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise InfrastructureError(f"{command[0]} did not format a directory within {FORMAT_TIMEOUT:g} s") from error
    if done.returncode != 0 or not (data / "meta.properties").is_file():
        raise InfrastructureError(
            f"the StorageTool of Apache Kafka {version} could not format a directory: "
            f"{(done.stderr or done.stdout).strip()[-2000:]}"
        )


def _record_classes(version: str, java: Java, scratch: Path, made: PreparedFiles) -> None:
    """Start and end one node, controller and broker, so that the JVM writes the classes that it loaded."""
    used = scratch / "used"
    shutil.copytree(made.data, used)
    properties, log = _single_node(scratch, used), scratch / "node.log"
    record(made.classes, version, lambda *flags: java(*flags, "kafka.Kafka", str(properties)), log, STARTED)


def _single_node(scratch: Path, data: Path) -> Path:
    """Write the configuration of a cluster of one node; return its path."""
    controller, broker = free_port(), free_port()
    path = scratch / "node.properties"
    write_properties(
        path,
        {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@localhost:{controller}",
            "listeners": f"CONTROLLER://127.0.0.1:{controller},INTERNAL://127.0.0.1:{broker}",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "INTERNAL",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT",
            "log.dirs": str(data),
        },
    )
    return path
