"""What is made once for each version of Apache Kafka, since it costs seconds of a JVM each time.

- a data directory that StorageTool formatted; a node gets a copy with its own ids in `meta.properties`;
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

from harness.errors import InfrastructureError
from harness.targets.archives import free_port, recording, running, says
from harness.targets.jars import COMPLETE, cache_folder, locked
from harness.targets.target import new_uuid, write_properties

FORMAT_TIMEOUT = 120.0
STARTED = "Kafka Server started"

Java = Callable[..., list[str]]
"""The command line of a JVM with this version's jars, given what follows them: flags, main class, arguments."""


@dataclass(frozen=True)
class Prepared:
    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def classes(self) -> Path:
        """May be missing: nodes only start slower then."""
        return self.folder / "classes.jsa"


def prepare(version: str, java: Java) -> Prepared:
    """Make it, unless it is there; once, whoever else wants it now. InfrastructureError if formatting fails."""
    made = Prepared(cache_folder() / f"prepared-{version}")
    with locked(made.folder):
        if not (made.folder / COMPLETE).exists():
            print(f"preparing Apache Kafka {version} for quick starts", file=sys.stderr, flush=True)
            shutil.rmtree(made.folder, ignore_errors=True)
            made.folder.mkdir()
            with tempfile.TemporaryDirectory() as scratch:
                _format(version, java, Path(scratch), made.data)
                if not _record_classes(java, Path(scratch), made):
                    print("no class archive could be recorded: nodes start slower", file=sys.stderr, flush=True)
            (made.folder / COMPLETE).touch()
    return made


def _format(version: str, java: Java, scratch: Path, data: Path) -> None:
    properties = _lonely_node(scratch, data)
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


def _record_classes(java: Java, scratch: Path, made: Prepared) -> bool:
    """Start one node that is controller and broker, end it, and let the JVM write down what it had loaded."""
    used = scratch / "used"
    shutil.copytree(made.data, used)
    properties, log = _lonely_node(scratch, used), scratch / "node.log"
    with running(java(recording(made.classes), "kafka.Kafka", str(properties)), log, says(log, STARTED)):
        pass
    return made.classes.exists()


def _lonely_node(scratch: Path, data: Path) -> Path:
    """The configuration of a cluster of one node."""
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
