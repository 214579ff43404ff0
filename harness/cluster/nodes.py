"""The nodes of a running cluster: their files and processes, and every change of them in the journal."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from fencepost.faults.capabilities import ORDERLY, ProbeResult, ProcessStatus, Running
from fencepost.faults.last_words import last_error, reason_for_end
from fencepost.harness.backends.backend import SETTLE, Backend
from fencepost.harness.errors import InfrastructureError, NodeNotReady
from fencepost.harness.network import sockets
from fencepost.harness.network.layout import Layout, Node, hosts_file
from fencepost.harness.network.roundtrip import round_trip
from fencepost.harness.plan.base import Release
from fencepost.harness.processes.command import Command
from fencepost.harness.targets.reference import planted_defect
from fencepost.harness.targets.target import Installation, Target, write_configuration
from fencepost.harness.targets.zookeeper import registration
from fencepost.results.records.journal import JournalWriter

ASK_EVERY = 0.1
LAST_ASK = 5.0
"""Seconds for the answer of a node whose time to come back is over."""
LET_GO_WITHIN = 20.0
"""Seconds, besides a session timeout, until ZooKeeper has to have let go of a dead broker's registration."""


class Preparation(Protocol):
    """A step before the start of a node: mounts of its directories, a library for its clock.

    It decides by the node whether it applies.
    """

    def prepare(self, node: Node) -> None:
        """Called before a node's files are first written and before every start, so it is repeatable.

        The node's folder is there; of its log directories none is at first, and those that this makes are filled.
        What fails is raised as InfrastructureError: the node is not started then.
        """

    def environment(self, node: Node) -> Mapping[str, str]:
        """Return environment variables for the process, besides those of its command. Called at every start."""


class Nodes:
    """Implements `fencepost.faults.capabilities.Processes`; every change of a node is journalled."""

    def __init__(
        self,
        layout: Layout,
        installation: Installation,
        target: Target,
        backend: Backend,
        journal: JournalWriter,
        preparations: Sequence[Preparation] = (),
        one_process: Sequence[str] = (),
    ) -> None:
        self._layout = layout
        self._installation = installation
        self._target = target
        self._backend = backend
        self.journal = journal
        self._preparations = preparations
        self._one_process = tuple(one_process)
        """The nodes that are one process together, the one that names it first."""
        self._shared = threading.RLock()
        """Held while that process is started or broken."""
        self.starts: list[tuple[str, Command]] = []
        """The node and the command of each start."""
        self._versions: dict[str, tuple[Release, str | None]] = {}
        """The release and the level of each node that was rolled."""
        self._log_from: dict[str, int] = {}
        self._stopping: dict[str, threading.Event] = {}
        self._unawaited: dict[str, float] = {}
        """When each node was last started or resumed (monotonic), until it answered or its silence was noted."""

    def introduce(self, journal: JournalWriter) -> None:
        """Journal here from now on, at first the nodes that run: they were started before (`lives_on`)."""
        self.journal = journal
        for node, command in dict(self.starts).items():
            if self.status(node).running is Running.RUNNING:
                self._note_started(self._described(node), command, lives_on=True)

    def start(self, node: str) -> None:
        """Start a node's process; a first start writes its files. Does nothing if it runs.

        Where a broker would die of its predecessor's registration, that has to go first.
        """
        with self._alone(node):
            if self.status(node).running in (Running.RUNNING, Running.PAUSED):
                return
            together = self._together(node)
            for each in together:
                self._make_ready(each)
            command = self._command(self._described(together[0]))
            self.starts.append((together[0], command))
            self._backend.start(together[0], command)
            for each in together:
                self._note_started(self._described(each), command)

    def _make_ready(self, node: str) -> None:
        """Do all that has to be done before its process starts."""
        described = self._described(node)
        home = self._installation.home(described)
        if new := not home.exists():
            home.mkdir()
        for preparation in self._preparations:
            preparation.prepare(described)
        if new:
            self._install(described)
        elif self._waits_for_registration(described):
            self._await_unregistered(described)
        self._await_noted(node)
        self._note(node, "intent", durable=True)
        log = self._backend.log(node)
        self._log_from[node] = log.stat().st_size if log.exists() else 0

    def await_ready(self, node: str, timeout: float, since: float | None = None) -> None:
        """Wait until the node answers requests at its own address, fenced or not. Note one that stays silent."""
        now = time.monotonic()
        if since is None:
            self._await_ready(node, self._unawaited.get(node, now), now + timeout)
        else:
            self._await_ready(node, since, max(since + timeout, now + LAST_ASK))

    def await_unawaited(self, seconds: float) -> None:
        """Wait for each running node that was not awaited since its last start or resume, until `seconds` after that.

        What each did is noted as by `await_ready`. A duplicate may be refused for good, and no rule says that a
        ZooKeeper server or a service serves: neither is asked.
        """
        for node, since in [*self._unawaited.items()]:
            described = self._layout.node(node)
            if described.duplicate_of is not None or described.is_zookeeper or described.is_service:
                continue
            if self.status(node).running is Running.RUNNING:
                with suppress(NodeNotReady):
                    self.await_ready(node, seconds, since)

    def _await_ready(self, node: str, since: float, deadline: float) -> None:
        described = self._layout.node(node)
        address = described.sign_of_life
        while (reach := _reach(described, self._installation, deadline)) is not ProbeResult.ANSWERED:
            if self.status(node).running is Running.EXITED:
                raise NodeNotReady(self._backend.exit_summary(node))
            if time.monotonic() > deadline:
                seconds, error = round(deadline - since, 3), last_error(self.said(node))
                self._note(node, "silent", seconds=seconds, address=str(address), reach=reach.value, error=error)
                said = f"; the last error in its log: {error}" if error else ""
                raise NodeNotReady(
                    f"{node} does not answer at {address} after {seconds:g} s; see {self._backend.log(node)}{said}"
                )
            time.sleep(ASK_EVERY)
        self.note_ready(node)

    def exit_summary(self, node: str) -> str:
        """Return how the process of a node ended, with the last lines of its log."""
        return self._backend.exit_summary(node)

    def note_ready(self, node: str) -> None:
        """Note that the node answers requests."""
        self._note(node, "ready")

    def kill(self, node: str) -> None:
        with self._alone(node):
            if self._shares(node) and self.status(node).running is Running.EXITED:
                return
            self._backend.kill(node)
            for each in self._together(node):
                self._stopping.pop(each, None)
                self._note(each, "killed")

    def shut_down(self, node: str) -> None:
        """SIGTERM, and return at once: it may hand over what it leads first. Does nothing if it has ended."""
        with self._alone(node):
            if self.status(node).running is not Running.RUNNING or (self._shares(node) and node in self._stopping):
                return
            for each in self._together(node):
                self._stopping[each] = threading.Event()
                self._note(each, "stopping")
            self._backend.terminate(node)

    def is_orderly(self, exit_code: int | None) -> bool:
        """Return whether a process that ended so has ended on request."""
        return exit_code in ORDERLY or exit_code in self._target.file.exit_codes

    def await_end(self, node: str, timeout: float) -> bool:
        """Wait for the end of its process. Return False if it is alive after `timeout` seconds."""
        over = self._backend.await_end(node, timeout)
        if over:
            self._await_noted(node)
        return over

    def ended(self, node: str, exit_code: int) -> None:
        """Note that a process ended which was not killed here: as it was asked to, or by itself."""
        for each in self._together(node):
            self._note_end(each, exit_code)

    def _note_end(self, node: str, exit_code: int) -> None:
        noted = self._stopping.get(node)
        data: dict[str, Any] = {"exit_code": exit_code}
        if noted is not None and exit_code in self._target.file.exit_codes:
            data |= {"orderly": True}
        elif noted is None or exit_code not in ORDERLY:
            data |= {"message": self._backend.exit_summary(node), "error": reason_for_end(self.said(node))}
        if noted is None:
            self._write(node, "exited", data)
            return
        self._write(node, "stopped", data)
        self._stopping.pop(node, None)
        noted.set()

    def _await_noted(self, node: str) -> None:
        """The journal tells the end of a process before the start of the next, though another thread writes it."""
        if noted := self._stopping.get(node):
            noted.wait(SETTLE)

    def set_version(self, node: str, release: Release | None, level: str | None) -> None:
        """From its next start on the node has this release and is at this protocol level. None leaves it as it is."""
        known = self._described(node)
        described = replace(known, release=release or known.release, level=level or known.level)
        self._versions[node] = described.release, described.level
        write_configuration(self._target, described, self._installation)

    def said(self, node: str) -> Sequence[str]:
        """Whole lines, and what may be the begin of one."""
        with self._backend.log(node).open("rb") as log:
            log.seek(self._log_from.get(node, 0))
            return log.read().decode(errors="replace").splitlines()

    def pause(self, node: str) -> None:
        with self._alone(node):
            if self._shares(node) and self.status(node).running is Running.PAUSED:
                return
            self._backend.pause(node)
            for each in self._together(node):
                self._note(each, "paused")

    def resume(self, node: str) -> None:
        with self._alone(node):
            if self._shares(node) and self.status(node).running is Running.RUNNING:
                return
            self._backend.resume(node)
            for each in self._together(node):
                self._note(each, "resumed")

    def status(self, node: str) -> ProcessStatus:
        self._layout.node(node)
        return self._backend.status(node)

    def peers(self, node: str) -> frozenset[str]:
        return sockets.peers(self._layout, node, self._backend.pids().get(node, ()))

    def _shares(self, node: str) -> bool:
        return node in self._one_process

    def _together(self, node: str) -> Sequence[str]:
        """Return the nodes that the process of a node is."""
        return self._one_process if self._shares(node) else (node,)

    def _alone(self, node: str) -> AbstractContextManager[object]:
        return self._shared if self._shares(node) else nullcontext()

    def _described(self, node: str) -> Node:
        """Return the node with the release and at the protocol level to which it was rolled; a duplicate as its
        original."""
        described = self._layout.node(node)
        versions = self._versions.get(node) or self._versions.get(described.duplicate_of or "")
        return described if versions is None else replace(described, release=versions[0], level=versions[1])

    def _command(self, node: Node) -> Command:
        command = self._target.command(node, self._installation)
        environment = dict(command.environment)
        for preparation in self._preparations:
            environment |= preparation.environment(node)
        return replace(command, environment=environment)

    def _install(self, node: Node) -> None:
        installation, target = self._installation, self._target
        installation.hosts(node).write_text(hosts_file(self._layout.hosts_of(node)))
        write_configuration(target, node, installation)
        if node.directory == "same":
            return
        if node.directory == "cloned" and node.duplicate_of is not None:
            original = self._layout.node(node.duplicate_of)
            for theirs, ours in zip(installation.log_dirs(original), installation.log_dirs(node), strict=True):
                copy_in_use(theirs, ours)
        else:
            target.format(node, installation)

    def _waits_for_registration(self, node: Node) -> bool:
        """A duplicate does not: whether it is refused is what its scenario asks."""
        own_id = node.is_broker and node.duplicate_of is None
        return own_id and self._target.file.restart == "when unregistered"

    def _await_unregistered(self, node: Node) -> None:
        """Raises InfrastructureError if the registration is still there long after its session is over."""
        timeout = self._installation.timing.session_ms / 1000 + LET_GO_WITHIN
        began = time.monotonic()
        while (session := registration(self._layout, node.id)) is not None:
            if time.monotonic() - began > timeout:
                raise InfrastructureError(
                    f"{node.name} cannot be started: after {timeout:g} s ZooKeeper has broker {node.id} {session}"
                )
            time.sleep(ASK_EVERY)
        waited = time.monotonic() - began
        if waited >= ASK_EVERY:
            message = (
                f"{node.name} was started {waited:.1f} s later than it could have been: it dies (NodeExists) while "
                "ZooKeeper has the registration of the process before it."
            )
            data = {"what": "start postponed", "seconds": round(waited, 3), "message": message}
            self.journal.write("note", "start-postponed", "seen", data, node=node.name)

    def _note_started(self, node: Node, command: Command, lives_on: bool | None = None) -> None:
        defect = planted_defect(command) or None
        self._note(
            node.name,
            "started",
            level=node.level,
            release=command.version,
            planted_defect=defect,
            lives_on=lives_on,
        )

    def _note(self, node: str, phase: str, durable: bool = False, **more: object) -> None:
        status = self.status(node)
        data = {} if phase == "intent" else {"pid": status.pid, "start_time": status.started}
        known = {key: value for key, value in more.items() if value is not None}
        self._write(node, phase, data | known, durable=durable)
        if phase in ("started", "resumed"):
            self._unawaited[node] = time.monotonic()
        elif phase in ("ready", "silent"):
            self._unawaited.pop(node, None)

    def _write(self, node: str, phase: str, data: dict[str, Any], durable: bool = False) -> None:
        self.journal.write("node", node, phase, data, node=node, durable=durable)


def _reach(node: Node, installation: Installation, deadline: float) -> ProbeResult:
    seconds = max(0.1, min(1.0, deadline - time.monotonic()))
    if node.health_question is not None:
        return round_trip(node.sign_of_life, seconds, asked=node.health_question).reach
    return round_trip(node.front, seconds, partial(installation.dial, node.front), node.question).reach


def copy_in_use(directory: Path, copy: Path) -> None:
    """Copy a log directory to which a broker writes meanwhile.

    The checkpoints come first: what one of them names is in its log by then, and so in the copy of the log.
    """

    def all_but_checkpoints(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if not name.endswith("-checkpoint") and not Path(folder, name).is_dir()}

    shutil.copytree(directory, copy, ignore=all_but_checkpoints, dirs_exist_ok=True)
    others = shutil.ignore_patterns(".lock", "*.tmp", "*-checkpoint")
    shutil.copytree(directory, copy, ignore=others, dirs_exist_ok=True)


class Duplicates:
    """Implements `fencepost.faults.capabilities.Duplicates`: in this backend a duplicate is a node like any other."""

    def __init__(self, processes: Nodes, layout: Layout) -> None:
        self._processes = processes
        self._layout = layout

    def start_duplicate(self, node: str) -> None:
        self._processes.start(node)

    def shares_directory(self, node: str) -> bool:
        return self._layout.node(node).directory == "same"

    def stop_duplicate(self, node: str) -> None:
        if self._processes.status(node).running in (Running.RUNNING, Running.PAUSED):
            self._processes.kill(node)
