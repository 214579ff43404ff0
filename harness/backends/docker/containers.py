"""Containers of one run: each noted down before it is made, known by the kernel's process table, and taken away.

A container is small and harmless: an unprivileged user, no capability, a root file system that cannot be written, no
way to gain a privilege. What it shares with the machine are the folders that it was given, at the same paths.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docker.errors import APIError, DockerException, NotFound

from harness.backends.docker.engine import engine
from harness.cleaning.records import ResourceRecords
from harness.errors import InfrastructureError
from harness.processes import table
from harness.processes.table import Identity

NODE_LABEL = "fencepost.node"
NOBODY = 10001
"""User and group of what is run for root; a file of root's that a container is to change is given to it."""
INTO_LOG = 'exec "$@" >>"$FENCEPOST_LOG" 2>&1'
ENDED_BY_SIGNAL = {137: -9, 139: -11, 134: -6}
"""How Docker writes these ends, and subprocess. A JVM ends with 143 of its own accord when it is asked to."""


@dataclass(frozen=True)
class Wanted:
    """What a container is to be. `name` is that of the run, and unique on the engine."""

    name: str
    node: str
    image: str
    argv: Sequence[str]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    shared: Mapping[Path, str] = field(default_factory=dict)
    """Folders and files of this machine, by where the container sees them."""
    read_only: tuple[Path, ...] = ()
    """The same at the same path, not to be written."""
    within: str | None = None
    """The container whose network it lives in; without one it is its own."""
    network: str | None = None
    address: str | None = None
    hostname: str | None = None
    hosts: Mapping[str, str] = field(default_factory=dict)


class Container:
    """A started container, with a thread that waits for its end."""

    def __init__(self, wanted: Wanted, id: str, pid: int, on_exit: Callable[[int], None]) -> None:
        self.name, self.id, self.pid = wanted.name, id, pid
        self.identity: Identity | None = table.identify(pid) if pid else None
        self.exit_code: int | None = None
        self.out_of_memory = False
        self.asked_to_end = False
        self.paused = False
        self.exited = threading.Event()
        self.told = threading.Event()
        """Whoever has to know of its end knows."""
        self._on_exit = on_exit
        threading.Thread(target=self._wait, name=f"wait-{wanted.name}", daemon=True).start()

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
        self.told.set()


class Containers:
    """Makes and removes the containers of a run. Safe to use from several threads."""

    def __init__(self, run: Path) -> None:
        self._records = ResourceRecords(run)
        self._api = engine().api
        self._there: set[str] = set()
        """The names of all that may be there."""

    def start(self, wanted: Wanted, on_exit: Callable[[int], None]) -> Container:
        """Raises InfrastructureError with the engine's own words if it cannot be started."""
        stamp = self._records.intend("container", wanted.name)
        self._there.add(wanted.name)
        try:
            made = self._api.create_container(
                wanted.image,
                entrypoint=["/bin/sh", "-c", INTO_LOG, "sh"],
                command=list(wanted.argv),
                name=wanted.name,
                user=f"{owner()}:{owner_group()}",
                environment={**wanted.environment, "FENCEPOST_LOG": str(wanted.log)},
                labels={**stamp.labels, NODE_LABEL: wanted.node},
                hostname=wanted.hostname,
                host_config=self._host(wanted),
                networking_config=self._network(wanted),
            )
            self._records.made("container", wanted.name, container=made["Id"])
            self._api.start(made["Id"])
            pid = int(self._api.inspect_container(made["Id"])["State"]["Pid"])
        except APIError as error:
            raise InfrastructureError(f"{wanted.node} could not be started: {error.explanation or error}") from error
        except (DockerException, OSError) as error:
            raise InfrastructureError(f"{wanted.node} could not be started: the engine said {error}") from error
        return Container(wanted, made["Id"], pid, on_exit)

    def remove(self, container: Container) -> None:
        """End it if it lives, and take it away with all that it wrote outside of what it shared."""
        container.asked_to_end = True
        self._remove(container.name)

    def sweep(self) -> None:
        """Remove what is left: of a start that failed or was interrupted nobody has the container."""
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

    def _host(self, wanted: Wanted) -> Any:
        log = {wanted.log: str(wanted.log)}
        binds = [f"{here}:{there}:rw" for here, there in {**wanted.shared, **log}.items()]
        binds += [f"{path}:{path}:ro" for path in wanted.read_only]
        return self._api.create_host_config(
            binds=binds,
            network_mode=f"container:{wanted.within}" if wanted.within else wanted.network,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            read_only=True,
            # Libraries of a JVM unpack what they load natively.
            tmpfs={"/tmp": "size=64m,exec,mode=1777"},
            extra_hosts=dict(wanted.hosts) or None,
            log_config={"type": "none", "config": {}},
        )

    def _network(self, wanted: Wanted) -> Any:
        if wanted.network is None:
            return None
        endpoint = self._api.create_endpoint_config(ipv4_address=wanted.address)
        return self._api.create_networking_config({wanted.network: endpoint})


def owner() -> int:
    """The user that containers run as: the one who runs the harness, but never root."""
    return os.getuid() or NOBODY


def owner_group() -> int:
    return os.getgid() if os.getuid() else NOBODY


def give(path: Path) -> None:
    """Let containers change this file or folder and what is in it; needed only of what root made."""
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
