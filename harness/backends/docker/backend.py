"""Nodes in containers, each in the network of its own pod."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from docker.errors import DockerException

from fencepost.faults.capabilities import ProcessStatus, Running
from fencepost.harness.backends.backend import SETTLE, OnExit
from fencepost.harness.backends.docker import cgroups
from fencepost.harness.backends.docker.build import ready
from fencepost.harness.backends.docker.commands import contained
from fencepost.harness.backends.docker.containers import Container, Containers, ContainerSpec, give
from fencepost.harness.backends.docker.engine import engine
from fencepost.harness.backends.exit_summary import exit_summary
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.processes import table
from fencepost.harness.processes.command import Command
from fencepost.harness.processes.family import ProcessSnapshot
from fencepost.harness.processes.table import Identity
from fencepost.harness.processes.waiting import within
from fencepost.results.records.folder import RunFolder

GONE_WITHIN = 20.0
"""Seconds in which the engine must end a container."""
AT_ONCE = 4
"""Containers that are started or removed concurrently."""


class DockerBackend:
    """Implements `Backend`. A container lives as long as its node's process: every start makes a new one."""

    def __init__(
        self, folder: RunFolder, containers: Containers, tag: str, pod_of: Callable[[str], str], on_exit: OnExit
    ) -> None:
        """`tag` begins the names of this cluster's containers; `pod_of` gives the id of a node's pod."""
        self._folder = folder
        self._containers = containers
        self._tag = tag
        self._pod_of = pod_of
        self._on_exit = on_exit
        self._running: dict[str, Container] = {}
        self._starts = 0

    def start(self, name: str, command: Command) -> Identity:
        earlier = self._running.get(name)
        if self.status(name).running in (Running.RUNNING, Running.PAUSED):
            raise InfrastructureError(f"{name} is already running: end it before starting it again")
        inside = contained(command)
        self.log(name).touch()
        give(self.log(name))
        give(self._folder.nodes / name)
        self._starts += 1
        spec = ContainerSpec(
            name=f"{self._tag}-{name}.{self._starts}",
            node=name,
            image=ready(inside.image),
            argv=inside.argv,
            log=self.log(name),
            environment={**_own_variables(), **command.environment},
            shared={self._folder.nodes: str(self._folder.nodes)},
            read_only=tuple(_named(command, outside=self._folder.nodes)),
            within=self._pod_of(name),
        )
        if earlier is not None:
            earlier.reported.wait(SETTLE)
            self._containers.remove(earlier)
        container = self._containers.start(spec, lambda code: self._on_exit(name, code))
        self._running[name] = container
        if container.identity is None and not container.exited.wait(SETTLE):
            raise InfrastructureError(f"the engine does not say which process {name} is")
        return container.identity or Identity(container.pid, 0)

    def kill(self, name: str) -> None:
        container = self._living(name)
        container.asked_to_end = True
        with suppress(InfrastructureError):  # it ended meanwhile, or it did not: the next lines find out
            self._call(f"kill {name}", lambda: engine().api.kill(container.id, "SIGKILL"))
        gone = within(SETTLE, lambda: container.identity is None or not table.is_alive(container.identity))
        if not gone or not container.exited.wait(GONE_WITHIN):
            raise InfrastructureError(
                f"{name} (container {container.name}) is still alive after SIGKILL: see the engine's log"
            )

    def terminate(self, name: str) -> None:
        container = self._living(name)
        with suppress(InfrastructureError):
            self._call(f"end {name}", lambda: engine().api.kill(container.id, "SIGTERM"))

    def await_end(self, name: str, timeout: float) -> bool:
        container = self._running.get(name)
        return container is not None and container.exited.wait(timeout)

    def pause(self, name: str) -> None:
        """Freeze the container by its control group, which no process can detect; wait until the kernel confirms."""
        container = self._living(name)
        if not container.paused:
            self._with_retries(f"pause {name}", lambda: engine().api.pause(container.id))
            container.paused = True
        if not within(SETTLE, lambda: self.status(name).running is Running.PAUSED):
            raise InfrastructureError(f"{name} (container {container.name}) is not frozen {SETTLE:g} s after a pause")

    def resume(self, name: str) -> None:
        container = self._living(name)
        if container.paused:
            self._with_retries(f"continue {name}", lambda: engine().api.unpause(container.id))
            container.paused = False
        if not within(SETTLE, lambda: cgroups.is_frozen(container.pid) is not True):
            raise InfrastructureError(f"{name} (container {container.name}) is still frozen {SETTLE:g} s later")

    def status(self, name: str) -> ProcessStatus:
        container = self._running.get(name)
        if container is None:
            return ProcessStatus(Running.NEVER_STARTED)
        started = table.started(container.identity) if container.identity else None
        if container.exited.is_set() or container.identity is None or not table.is_alive(container.identity):
            return ProcessStatus(Running.EXITED, container.pid, started, container.exit_code)
        # The kernel has the last word; where it cannot be read, the engine has, which was asked for the pause.
        frozen = cgroups.is_frozen(container.pid)
        paused = container.paused if frozen is None else frozen
        return ProcessStatus(Running.PAUSED if paused else Running.RUNNING, container.pid, started)

    def pids(self) -> dict[str, list[int]]:
        """Return them by descent: what loses its parent in a container becomes a child of its first process."""
        now = ProcessSnapshot()
        running = dict(self._running)  # nodes start meanwhile, in another thread
        living = {name: container.identity for name, container in running.items() if container.identity is not None}
        return {
            name: [process.pid for process in now.family(identity.pid)]
            for name, identity in living.items()
            if table.is_alive(identity)
        }

    def log(self, name: str) -> Path:
        return self._folder.logs / f"{name}.log"

    def exit_summary(self, name: str) -> str:
        container = self._running[name]
        container.exited.wait(SETTLE)
        summary = exit_summary(name, container.exit_code, self.log(name))
        return f"{summary}\n  (the kernel ended it: it was out of memory)" if container.out_of_memory else summary

    def stop_all(self) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            removals = [
                pool.submit(self._containers.remove, container) for container in reversed(self._running.values())
            ]
        if errors := [str(error) for removal in removals if (error := removal.exception()) is not None]:
            raise InfrastructureError("; ".join(errors))

    def container_of(self, name: str) -> Container:
        """The running container of a node. Raises InfrastructureError if there is none."""
        return self._living(name)

    def _living(self, name: str) -> Container:
        status = self.status(name)
        if status.running in (Running.NEVER_STARTED, Running.EXITED):
            raise InfrastructureError(f"{name} is not running, {status.running.value}: start it first")
        return self._running[name]

    def _call(self, what: str, call: Callable[[], object]) -> None:
        try:
            call()
        except (DockerException, OSError) as error:
            raise InfrastructureError(f"the engine could not {what}: {error}") from error

    def _with_retries(self, what: str, call: Callable[[], object]) -> None:
        """Repeat a call: under load the engine sometimes gives up freezing ("unable to freeze"), and later succeeds."""
        refused: list[InfrastructureError] = []

        def done() -> bool:
            try:
                self._call(what, call)
            except InfrastructureError as error:
                refused.append(error)
                return False
            return True

        if not within(SETTLE, done):
            raise refused[-1]


def _own_variables() -> dict[str, str]:
    """Return the environment variables of this project, which containers inherit as processes do."""
    return {name: value for name, value in os.environ.items() if name.startswith("FENCEPOST_")}


def _named(command: Command, outside: Path) -> list[Path]:
    """Return files that the environment names, such as a preloaded library: the container needs them, too."""
    values = (part for value in command.environment.values() for part in value.split(os.pathsep))
    paths = {Path(value) for value in values if value.startswith("/") and Path(value).exists()}
    return sorted(path for path in paths if not path.is_relative_to(outside))
