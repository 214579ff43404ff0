"""Files that are made once for each version of Apache Kafka, because each costs seconds of a JVM.

- the log directories that StorageTool formats for a controller and for a broker; each node gets copies of those of its
  role, with its own ids in `meta.properties`;
- an archive of the classes that a node loads (see `archives`).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.cache_folder import cache_folder
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.archives import free_port, record
from fencepost.harness.targets.identity import META_PROPERTIES
from fencepost.harness.targets.jars import COMPLETE, locked
from fencepost.harness.targets.target import new_uuid, write_properties

FORMAT_TIMEOUT = 120.0
STARTED = "Kafka Server started"
LOG_DIRS = ("first", "other")
"""The log directories that are kept of each role. The first holds the metadata log, and may be formatted otherwise."""
CONTROLLER_ID, BROKER_ID = 1, 2

Java = Callable[..., list[str]]
"""Returns the command line of a JVM with the jars of this version, for flags, main class and arguments."""


@dataclass(frozen=True)
class PreparedFiles:
    """The folder of a version in the cache."""

    folder: Path

    def log_dir(self, number: int, *, controller: bool) -> Path:
        """Return what StorageTool makes of log directory `number`, from 0, of a node with or without a controller."""
        return self.folder / ("controller" if controller else "broker") / LOG_DIRS[min(number, 1)]

    @property
    def classes(self) -> Path:
        """The archive of classes. Without it nodes start, but slower."""
        return self.folder / "classes.jsa"


def prepare(version: str, java: Java) -> PreparedFiles:
    """Return the files of a version; one process makes them if needed. InfrastructureError if formatting fails."""
    made = PreparedFiles(cache_folder() / f"prepared-by-role-{version}")
    with locked(made.folder):
        if not (made.folder / COMPLETE).exists():
            print(f"preparing Apache Kafka {version} for quick starts", file=sys.stderr, flush=True)
            shutil.rmtree(made.folder, ignore_errors=True)
            made.folder.mkdir()
            with tempfile.TemporaryDirectory() as scratch:
                for controller in (True, False):
                    _format(version, java, Path(scratch), made, controller=controller)
                _record_classes(version, java, Path(scratch), made)
                if not made.classes.exists():
                    print("no class archive could be recorded: nodes start slower", file=sys.stderr, flush=True)
            (made.folder / COMPLETE).touch()
    return made


def _format(version: str, java: Java, scratch: Path, made: PreparedFiles, *, controller: bool) -> None:
    log_dirs = [made.log_dir(number, controller=controller) for number in range(len(LOG_DIRS))]
    log_dirs[0].parent.mkdir()
    properties = _single_node(scratch, {"controller"} if controller else {"broker"}, *log_dirs)
    storage_tool(version, java, log_dirs, "-t", new_uuid(), "-c", str(properties))


def storage_tool(version: str, java: Java, log_dirs: Collection[Path], *arguments: str) -> None:
    """Format the log directories of a node. InfrastructureError if that fails."""
    command = java("kafka.tools.StorageTool", "format", *arguments)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FORMAT_TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise InfrastructureError(f"{command[0]} did not format a directory within {FORMAT_TIMEOUT:g} s") from error
    if done.returncode != 0 or not all((each / META_PROPERTIES).is_file() for each in log_dirs):
        raise InfrastructureError(
            f"the StorageTool of Apache Kafka {version} could not format a directory: "
            f"{(done.stderr or done.stdout).strip()[-2000:]}"
        )


def _record_classes(version: str, java: Java, scratch: Path, made: PreparedFiles) -> None:
    """Start and end one node, controller and broker, so that the JVM writes the classes that it loaded."""
    used = scratch / "used"
    shutil.copytree(made.log_dir(0, controller=True), used)
    properties, log = _single_node(scratch, {"broker", "controller"}, used), scratch / "node.log"
    record(made.classes, version, lambda *flags: java(*flags, "kafka.Kafka", str(properties)), log, STARTED)


def _single_node(scratch: Path, roles: Collection[str], *log_dirs: Path) -> Path:
    """Write the configuration of a node of these roles, alone in its cluster; return its path."""
    port = free_port()
    listeners = {"controller": f"CONTROLLER://127.0.0.1:{port}", "broker": f"INTERNAL://127.0.0.1:{free_port()}"}
    properties = {
        "process.roles": ",".join(sorted(roles)),
        "node.id": str(CONTROLLER_ID if "controller" in roles else BROKER_ID),
        "controller.quorum.voters": f"{CONTROLLER_ID}@localhost:{port}",
        "listeners": ",".join(listeners[role] for role in sorted(roles)),
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT",
        "log.dirs": ",".join(map(str, log_dirs)),
    }
    if "broker" in roles:
        properties["inter.broker.listener.name"] = "INTERNAL"
    path = scratch / "node.properties"
    write_properties(path, properties)
    return path
