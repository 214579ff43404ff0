"""Containers of one run: recorded before they are created, identified by the process table, and removed.

A container runs as an unprivileged user, without capabilities, with a read-only root file system. It shares only the
folders of its specification with the machine, at the same paths.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docker.errors import APIError, DockerException, NotFound

from fencepost.harness.backends.docker.engine import engine
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.processes import table
from fencepost.harness.processes.resources import ResourceRecords
from fencepost.harness.processes.table import Identity

NODE_LABEL = "fencepost.node"
UNPRIVILEGED_ID = 10001
"""User and group of containers when root runs the harness; files that they change are given to this user."""
INTO_LOG = 'exec "$@" >>"$FENCEPOST_LOG" 2>&1'
ENDED_BY_SIGNAL = {137: -9, 139: -11, 134: -6}
"""Docker's exit codes for signals, and those of subprocess. 143 is left out: a JVM itself exits so on SIGTERM."""


@dataclass(frozen=True)
class ContainerSpec:
    """The specification of a container. `name` is unique on the engine."""

    name: str
    node: str
    image: str
    argv: Sequence[str]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    shared: Mapping[Path, str] = field(default_factory=dict)
    """Folders and files of this machine, with their paths in the container."""
    read_only: tuple[Path, ...] = ()
    """Files and folders that are mounted read-only at the same path."""
    within: str | None = None
    """The container whose network is shared; None for a network of its own."""
    network: str | None = None
    address: str | None = None
    hostname: str | None = None
    hosts: Mapping[str, str] = field(default_factory=dict)


class Container:
    """A started container, with a thread that waits for its end."""

    def __init__(self, spec: ContainerSpec, id: str, pid: int, on_exit: Callable[[int], None]) -> None:
        self.name, self.id, self.pid = spec.name, id, pid
        self.identity: Identity | None = table.identify(pid) if pid else None
        self.exit_code: int | None = None
        self.out_of_memory = False
        self.asked_to_end = False
        self.paused = False
        self.exited = threading.Event()
        self.reported = threading.Event()
        """Set once `on_exit` has returned."""
        self._on_exit = on_exit
        threading.Thread(target=self._wait, name=f"wait-{spec.name}", daemon=True).start()

    def _wait(self) -> None:
        try:
            code = int(engine().api.wait(self.id, timeout=None)["StatusCode"])
            self.out_of_memory = bool(engine().api.inspect_container(self.id)["State"]["OOMKilled"])
            self.exit_code = ENDED_BY_SIGNAL.get(code, code)
        except (DockerException, OSError):  # it was removed, or the engine ended
            pass
        self.exited.set()
        if not self.asked_to_end:
            self._on_exit(-1 if self.exit_code is None else self.exit_code)
        self.reported.set()


class Containers:
    """Makes and removes the containers of a run. Safe to use from several threads."""

    def __init__(self, run: Path) -> None:
        self._records = ResourceRecords(run)
        self._api = engine().api
        self._there: set[str] = set()
        """The names of all containers that may exist."""

    def start(self, spec: ContainerSpec, on_exit: Callable[[int], None]) -> Container:
        """Create and start a container. Raises InfrastructureError with the message of the engine."""
        stamp = self._records.intend("container", spec.name)
        self._there.add(spec.name)
        try:
            made = self._api.create_container(
                spec.image,
                entrypoint=["/bin/sh", "-c", INTO_LOG, "sh"],
                command=list(spec.argv),
                name=spec.name,
                user=f"{owner()}:{owner_group()}",
                environment={**spec.environment, "FENCEPOST_LOG": str(spec.log)},
                labels={**stamp.labels, NODE_LABEL: spec.node},
                hostname=spec.hostname,
                host_config=self._host(spec),
                networking_config=self._network(spec),
            )
            self._records.made("container", spec.name, container=made["Id"])
            self._api.start(made["Id"])
            pid = int(self._api.inspect_container(made["Id"])["State"]["Pid"])
        except APIError as error:
            raise InfrastructureError(f"{spec.node} could not be started: {error.explanation or error}") from error
        except (DockerException, OSError) as error:
            raise InfrastructureError(f"{spec.node} could not be started: the engine said {error}") from error
        return Container(spec, made["Id"], pid, on_exit)

    def remove(self, container: Container) -> None:
        """Kill a container if it runs, and remove it with its own files."""
        container.asked_to_end = True
        self._remove(container.name)

    def sweep(self) -> None:
        """Remove the remaining containers, such as those of starts that failed or were interrupted."""
        for name in sorted(self._there):
            self._remove(name)

    def _remove(self, name: str) -> None:
        try:
            self._api.remove_container(name, force=True, v=True)
        except NotFound:
            pass
        except (DockerException, OSError) as error:
            raise InfrastructureError(f"the container {name} could not be removed: {error}") from error
        self._records.gone("container", name)
        self._there.discard(name)

    def _host(self, spec: ContainerSpec) -> Any:
        log = {spec.log: str(spec.log)}
        binds = [f"{here}:{inside}:rw" for here, inside in {**spec.shared, **log}.items()]
        binds += [f"{path}:{path}:ro" for path in spec.read_only]
        return self._api.create_host_config(
            binds=binds,
            network_mode=f"container:{spec.within}" if spec.within else spec.network,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            read_only=True,
            # Libraries of a JVM unpack what they load natively.
            tmpfs={"/tmp": "size=64m,exec,mode=1777"},
            extra_hosts=dict(spec.hosts) or None,
            log_config={"type": "none", "config": {}},
        )

    def _network(self, spec: ContainerSpec) -> Any:
        if spec.network is None:
            return None
        endpoint = self._api.create_endpoint_config(ipv4_address=spec.address)
        return self._api.create_networking_config({spec.network: endpoint})


def owner() -> int:
    """Return the user id that containers run as: that of the harness, but never root."""
    return os.getuid() or UNPRIVILEGED_ID


def owner_group() -> int:
    return os.getgid() if os.getuid() else UNPRIVILEGED_ID


def give(path: Path) -> None:
    """Let containers change a file, or a folder with its content; does nothing unless root runs the harness."""
    if os.getuid() != 0:
        return
    _give(path)
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            _give(Path(folder, name))


def _give(path: Path) -> None:
    try:
        if path.lstat().st_uid != owner():
            os.lchown(path, owner(), owner_group())
    except FileNotFoundError:  # a file that was renamed or deleted by a node meanwhile
        pass
