"""Nodes as processes of this machine, each the leader of a session and process group of its own.

All that a node starts belongs to it: helpers are killed and paused with it, and whatever ends the process of a node
ends them. A kill is complete when the process table has none of them, a pause when the kernel shows every thread of the
node as stopped.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from fencepost.faults.capabilities import ProcessStatus, Running
from fencepost.harness.backends.backend import SETTLE, OnExit
from fencepost.harness.backends.exit_summary import exit_summary
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.processes import table
from fencepost.harness.processes.command import Command, no_name_tables
from fencepost.harness.processes.family import ProcessSnapshot, end_family
from fencepost.harness.processes.records import TOKEN, ProcessRecords
from fencepost.harness.processes.table import Identity
from fencepost.harness.processes.waiting import within


class _Child:
    """A started process, with a thread that waits for its end, so that its exit is seen when it happens."""

    def __init__(self, process: subprocess.Popen[bytes], token: str, on_exit: Callable[[int], None]) -> None:
        self.exit_code: int | None = None
        self.asked_to_end = False
        self.exited = threading.Event()
        """Set once its helpers have ended, too."""
        self.left: list[Identity] = []
        """Helpers that outlive SIGKILL: the kernel holds them."""
        self.reported = threading.Event()
        """Set once `on_exit` has returned."""
        self.pid = process.pid
        self.token = token
        self.identity = table.identify_child(process.pid)
        self._process = process
        self._on_exit = on_exit
        threading.Thread(target=self._wait, name=f"wait-{process.pid}", daemon=True).start()

    def family(self, among: ProcessSnapshot) -> list[Identity]:
        return among.family(self.pid, self.token)

    def _wait(self) -> None:
        # Until it is waited for, its pid and session cannot be those of another program.
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        self.left = end_family(self.pid, self.token, SETTLE)
        self.exit_code = self._process.wait()
        self.exited.set()
        if not self.asked_to_end:
            self._on_exit(self.exit_code)
        self.reported.set()


class ProcessBackend:
    """Implements `Backend`."""

    def __init__(self, records: Path, logs: Path, on_exit: OnExit = lambda name, code: None) -> None:
        self._records = ProcessRecords(records)
        self._logs = logs
        self._on_exit = on_exit
        self._children: dict[str, _Child] = {}

    def start(self, name: str, command: Command) -> Identity:
        """Start a process; its output is appended to its log. Raises InfrastructureError if it cannot be started."""
        if self.status(name).running in (Running.RUNNING, Running.PAUSED):
            raise InfrastructureError(f"{name} is already running: end it before starting it again")
        if command.hosts is not None and (reason := no_name_tables()):
            raise InfrastructureError(
                f"{name} cannot see its name table as /etc/hosts: {reason}. Run with the right to mount, or set"
                " `names: program` in the target file if the program reads {{ hosts }} itself"
            )
        if earlier := self._children.get(name):
            earlier.reported.wait(2 * SETTLE)
            if earlier.left:
                raise InfrastructureError(f"{name} cannot be started again: {_still_there(name, earlier.left)}")
        stamp = self._records.intend(name, command.argv)
        try:
            with self.log(name).open("ab") as log:
                process = subprocess.Popen(
                    command.argv_with_hosts,
                    env={**os.environ, **command.environment, **stamp},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            raise InfrastructureError(f"{name} could not be started: {error}") from error
        child = self._children[name] = _Child(process, stamp[TOKEN], lambda code: self._on_exit(name, code))
        self._records.started(stamp[TOKEN], child.identity)
        return child.identity

    def kill(self, name: str) -> None:
        """SIGKILL to the whole process group, then to helpers outside it; returns when all are gone."""
        self._kill(name, self._living(name))

    @staticmethod
    def _kill(name: str, child: _Child) -> None:
        child.asked_to_end = True
        _signal_group(child.pid, signal.SIGKILL)
        if not child.exited.wait(2 * SETTLE):
            raise InfrastructureError(f"{name} (pid {child.pid}) is still there {2 * SETTLE:g} s after SIGKILL")
        if child.left:
            raise InfrastructureError(_still_there(name, child.left))

    def terminate(self, name: str) -> None:
        """Send SIGTERM to the process and return at once; `on_exit` reports its end."""
        child = self._living(name)
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGTERM)

    def await_end(self, name: str, timeout: float) -> bool:
        """Wait for the end of a process. Return False if it is alive after `timeout` seconds."""
        child = self._children.get(name)
        return child is not None and child.exited.wait(timeout)

    def pause(self, name: str) -> None:
        """SIGSTOP to the node and its helpers; returns when every thread of the node is stopped."""
        child = self._living(name)
        _signal_family(child, signal.SIGSTOP)
        if not within(SETTLE, lambda: self.status(name).running is Running.PAUSED):
            raise InfrastructureError(
                f"{name} (pid {child.pid}) has threads that still run {SETTLE:g} s after SIGSTOP: "
                f"states {table.thread_states(child.pid) or 'none, it is gone'}"
            )

    def resume(self, name: str) -> None:
        """SIGCONT to the node and its helpers; returns when no thread of the node is stopped any more."""
        child = self._living(name)
        _signal_family(child, signal.SIGCONT)
        if not within(SETTLE, lambda: "T" not in table.thread_states(child.pid)):
            raise InfrastructureError(f"{name} (pid {child.pid}) is still stopped {SETTLE:g} s after SIGCONT")

    def status(self, name: str) -> ProcessStatus:
        child = self._children.get(name)
        if child is None:
            return ProcessStatus(Running.NEVER_STARTED)
        started = table.started(child.identity)
        states = table.thread_states(child.pid)
        if child.exited.is_set() or not states:
            return ProcessStatus(Running.EXITED, child.pid, started, child.exit_code)
        paused = all(state == "T" for state in states)
        return ProcessStatus(Running.PAUSED if paused else Running.RUNNING, child.pid, started)

    def pids(self) -> dict[str, list[int]]:
        now = ProcessSnapshot()
        children = dict(self._children)  # nodes start meanwhile, in another thread
        # The pid of one that has ended may be another program's by now.
        living = {name: child for name, child in children.items() if not child.exited.is_set()}
        return {name: [process.pid for process in child.family(now)] for name, child in living.items()}

    def log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def exit_summary(self, name: str) -> str:
        """A message about how a process ended, with the last lines of its log."""
        child = self._children[name]
        child.exited.wait(SETTLE)
        return exit_summary(name, child.exit_code, self.log(name))

    def stop_all(self) -> None:
        """End all processes of this backend, the newest first, paused ones included."""
        errors = []
        for name, child in reversed(self._children.items()):
            if self.status(name).running in (Running.RUNNING, Running.PAUSED):
                try:
                    # It may have ended since.
                    self._kill(name, child)
                except InfrastructureError as error:
                    errors.append(str(error))
            elif not child.exited.wait(2 * SETTLE) or child.left:
                errors.append(_still_there(name, child.left))
        if errors:
            raise InfrastructureError("; ".join(errors))

    def _living(self, name: str) -> _Child:
        status = self.status(name)
        if status.running in (Running.NEVER_STARTED, Running.EXITED):
            raise InfrastructureError(f"{name} is not running, {status.running.value}: start it first")
        return self._children[name]


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


def _signal_family(child: _Child, number: signal.Signals) -> None:
    """Signal the group at once, then the helpers that left it."""
    _signal_group(child.pid, number)
    for process in child.family(ProcessSnapshot()):
        table.send(process, number)


def _still_there(name: str, helpers: Iterable[Identity]) -> str:
    pids = ", ".join(str(helper.pid) for helper in helpers)
    return f"what {name} started is still there {SETTLE:g} s after SIGKILL: pid {pids or 'unknown'}"
