"""The processes of the mounts of one run: started, controlled, and ended in bounded time."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fencepost.faults.capabilities import CapabilityError, DiskRule, Running
from fencepost.harness.backends.process import ProcessBackend
from fencepost.harness.disks import mounts
from fencepost.harness.disks.control import ask
from fencepost.harness.disks.rules import as_json
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.processes.command import Command
from fencepost.harness.processes.resources import ResourceRecords
from fencepost.results.records.folder import RunFolder

MODULE = "fencepost.harness.disks.server"
MOUNTED_WITHIN = 20.0
"""Seconds; a quarter of one on an idle machine."""
ENDS_WITHIN = 5.0
"""Seconds from the end of the mount to that of its process."""


@dataclass
class _DiskMount:
    """One mounted log directory. `rules` outlive the process; the next one gets them, too."""

    name: str
    point: Path
    control: Path
    rules: dict[str, DiskRule] = field(default_factory=dict)
    hits: dict[str, dict[str, int]] = field(default_factory=dict)
    """By rule: those that earlier processes counted."""
    settled: bool = False
    remembers: bool = False
    """The earlier content of its files is kept."""

    @property
    def probes(self) -> Path:
        return self.point.with_name(f"{self.point.name}.probe")

    @property
    def aside(self) -> Path:
        return self.point.with_name(f"{self.point.name}.undo")


class DiskServers:
    """A process and a mount for each log directory that is asked for. Left, all is unmounted and the files are there.

    `options` go to the mount, as `allow_other` where nodes run as other users.
    """

    def __init__(self, folder: RunFolder, options: Sequence[str] = ()) -> None:
        self._folder = folder.path
        self._options = options
        self._backend = ProcessBackend(folder.processes, folder.logs, self._exited)
        self._records = ResourceRecords(folder.path)
        self._served: dict[Path, _DiskMount] = {}
        self._ending: set[str] = set()
        self._broken: list[str] = []
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def broken(self) -> list[str]:
        """Return messages about file systems that ended by themselves."""
        return list(self._broken)

    def mount(self, point: Path, name: str) -> None:
        """Mount over a directory, which is made if it is missing. Does nothing if the mount is in working order.

        Raises InfrastructureError if that fails.
        """
        with self._lock:
            point = _exact(point)
            if mounts.at(point) is None:
                point.mkdir(parents=True, exist_ok=True)
            served = self._served.setdefault(point, _DiskMount(name, point, self._folder / f"{name}.sock"))
            if self._lives(served):
                return
            try:
                self._take_down(served)
            except OSError as error:
                raise InfrastructureError(f"{point} cannot be mounted anew: {error}") from error
            stamp = self._records.intend("mount", str(point), node=name)
            self._ending.discard(served.name)
            self._backend.start(served.name, self._command(served, stamp.fsname))
            if not mounts.await_mounted(point, stamp.fsname, MOUNTED_WITHIN):
                self._ending.add(served.name)
                raise InfrastructureError(f"{point} could not be mounted; see {self._backend.log(served.name)}")
            for rule_name, rule in served.rules.items():
                ask(served.control, "add", name=rule_name, rule=as_json(rule))
            if served.remembers:
                ask(served.control, "remember")

    def ask(self, point: Path, do: str, /, **what: Any) -> Any:
        """CapabilityError if the process does not answer or could not do it."""
        return ask(self._found(point).control, do, **what)

    def settle(self, point: Path) -> None:
        """Take the present content as durable, at the first call only: it was laid out before the node wrote."""
        served = self._found(point)
        if not served.settled:
            ask(served.control, "settle")
            served.settled = True

    def remember(self, point: Path) -> float:
        """Keep the earlier content of its files from now on. Return since how many seconds it is kept."""
        served = self._found(point)
        served.remembers = True
        return float(ask(served.control, "remember"))

    def add(self, point: Path, name: str, rule: DiskRule) -> None:
        served = self._found(point)
        ask(served.control, "add", name=name, rule=as_json(rule))
        served.rules[name] = rule

    def remove(self, point: Path, name: str) -> Mapping[str, int]:
        """Remove a rule; return how many operations of each kind matched it."""
        served = self._found(point)
        served.rules.pop(name, None)
        hits = served.hits.pop(name, {})
        if self._lives(served):
            for kind, count in ask(served.control, "remove", name=name).items():
                hits[kind] = hits.get(kind, 0) + count
        return hits

    def probes(self, point: Path) -> Path:
        """Return the folder whose files appear as `.fencepost-probe/…` in the mount."""
        return self._found(point).probes

    def unmount(self, point: Path) -> None:
        """Unmount a directory; `mount` restores it with the same rules. Raises OSError."""
        with self._lock:
            served = self._found(point)
            if self._lives(served):
                for name in served.rules:
                    hits = served.hits.setdefault(name, {})
                    for kind, count in ask(served.control, "remove", name=name).items():
                        hits[kind] = hits.get(kind, 0) + count
            self._take_down(served)

    def clear_rules(self) -> None:
        """Remove all rules, which ends all delays, so that nodes can end quickly."""
        for served in self._served.values():
            served.rules.clear()
            with suppress(CapabilityError):
                if self._lives(served):
                    ask(served.control, "clear")

    def close(self) -> None:
        """Unmount all, even with open files; may be called twice. Raises InfrastructureError if a mount remains."""
        self.clear_rules()
        errors = []
        for served in self._served.values():
            try:
                self._take_down(served)
            except (OSError, InfrastructureError) as error:
                errors.append(str(error))
            shutil.rmtree(served.probes, ignore_errors=True)
            shutil.rmtree(served.aside, ignore_errors=True)
            served.control.unlink(missing_ok=True)
        self._served.clear()
        self._backend.stop_all()
        if errors:
            raise InfrastructureError("; ".join(errors))

    def _take_down(self, served: _DiskMount) -> None:
        self._ending.add(served.name)
        is_mounted = mounts.at(served.point) is not None
        try:
            if not self._lives(served):
                mounts.abort(served.point)
            mounts.take_down(served.point)
        finally:
            if not self._backend.await_end(served.name, ENDS_WITHIN) and self._runs(served):
                self._backend.kill(served.name)
        if is_mounted:
            self._records.gone("mount", str(served.point))

    def _command(self, served: _DiskMount, fsname: str) -> Command:
        paths = {
            "--mount": served.point,
            "--probes": served.probes,
            "--aside": served.aside,
            "--control": served.control,
        }
        argv = [sys.executable, "-m", MODULE, *(argument for pair in paths.items() for argument in map(str, pair))]
        return Command([*argv, "--fsname", fsname, "--harness", str(os.getpid()), *self._options])

    def _found(self, point: Path) -> _DiskMount:
        served = self._served.get(_exact(point))
        if served is None:
            raise CapabilityError(f"{point} is no mount of this run: give its node `disk: breakable` in the plan")
        return served

    def _lives(self, served: _DiskMount) -> bool:
        return self._runs(served) and mounts.at(served.point) is not None

    def _runs(self, served: _DiskMount) -> bool:
        return self._backend.status(served.name).running in (Running.RUNNING, Running.PAUSED)

    def _exited(self, name: str, exit_code: int) -> None:
        if name not in self._ending:
            self._broken.append(
                f"the file system under a node's log directory ended: {self._backend.exit_summary(name)}"
            )


def _exact(point: Path) -> Path:
    """Without symbolic links, and without a look at what is mounted there: it may be stuck, or dead."""
    return point.parent.resolve() / point.name
