"""Files that are made once for each version of Apache Kafka, because each costs seconds of a JVM.

- the log directories that StorageTool formats for a controller and for a broker; each node gets copies of those of its
  role, with its own ids in `meta.properties`;
- an archive of the classes that a node loads (see `archives`);
- the log directory of a controller whose metadata begins with users of SCRAM.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.cache_folder import cached
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.archives import CLASSES, free_port, prepared, record
from fencepost.harness.targets.identity import META_PROPERTIES
from fencepost.harness.targets.target import new_uuid, write_properties

FORMAT_TIMEOUT = 120.0
STARTED = "Kafka Server started"
LOG_DIRS = ("first", "other")
"""The log directories that are kept of each role. The first holds the metadata log, and may be formatted otherwise."""
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
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
        return self.folder / CLASSES


def prepare(version: str, java: Java) -> PreparedFiles:
    """Return the files of a version; one process makes them if needed. InfrastructureError if formatting fails."""

    def fill(folder: Path) -> None:
        for controller in (True, False):
            _format(version, java, PreparedFiles(folder), controller=controller)
        _record_classes(version, java, PreparedFiles(folder))

    return PreparedFiles(prepared(f"prepared-by-role-{version}", f"Apache Kafka {version}", fill))


def with_scram_users(version: str, java: Java, passwords: Mapping[str, str]) -> Path:
    """Return the first log directory of a controller whose metadata begins with users of SCRAM."""

    def fill(folder: Path) -> None:
        log_dir = folder / "controller"
        properties = _single_node(folder, {"controller"}, log_dir)
        storage_tool(version, java, [log_dir], "-t", new_uuid(), "-c", str(properties), *scram_arguments(passwords))

    digest = hashlib.sha256(repr(sorted(passwords.items())).encode()).hexdigest()[:12]
    made = cached(f"scram-users-{version}-{digest}", f"preparing users of Apache Kafka {version}", fill)
    return made / "controller"


def scram_arguments(passwords: Mapping[str, str]) -> list[str]:
    """Return the arguments by which StorageTool gives these users each mechanism of SCRAM."""
    users = [f"{mechanism}=[name={user},password={passwords[user]}]" for mechanism in SCRAM for user in passwords]
    return [argument for user in users for argument in ("--add-scram", user)]


def _format(version: str, java: Java, made: PreparedFiles, *, controller: bool) -> None:
    log_dirs = [made.log_dir(number, controller=controller) for number in range(len(LOG_DIRS))]
    log_dirs[0].parent.mkdir()
    properties = _single_node(made.folder.parent, {"controller"} if controller else {"broker"}, *log_dirs)
    storage_tool(version, java, log_dirs, "-t", new_uuid(), "-c", str(properties))


def storage_tool(version: str, java: Java, log_dirs: Collection[Path], *arguments: str) -> None:
    """Format the log directories of a node. InfrastructureError if that fails."""
    command = java("kafka.tools.StorageTool", "format", *arguments)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FORMAT_TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise InfrastructureError(f"{command[0]} did not format a directory within {FORMAT_TIMEOUT:g} s") from error
    if done.returncode != 0 or not all((log_dir / META_PROPERTIES).is_file() for log_dir in log_dirs):
        raise InfrastructureError(
            f"the StorageTool of Apache Kafka {version} could not format a directory: "
            f"{(done.stderr or done.stdout).strip()[-2000:]}"
        )


def _record_classes(version: str, java: Java, made: PreparedFiles) -> None:
    """Start and end one node, controller and broker, so that the JVM writes the classes that it loaded."""
    used = made.folder.with_name("used")
    shutil.copytree(made.log_dir(0, controller=True), used)
    properties = _single_node(used.parent, {"broker", "controller"}, used)
    record(made.folder, version, lambda *flags: java(*flags, "kafka.Kafka", str(properties)), STARTED)


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
