"""A backend whose brokers are one process: each of their names stands for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fencepost.faults.capabilities import ProcessStatus, Running
from fencepost.harness.backends.backend import Backend
from fencepost.harness.processes.command import Command
from fencepost.harness.processes.table import Identity


class SharedProcess:
    """Implements `Backend`. The first of `brokers` gives the process its name in the records of the run.

    What is done already is not done again: a fault of two brokers ends their process once.
    """

    def __init__(self, backend: Backend, brokers: Sequence[str]) -> None:
        self._backend = backend
        self._first, *self._others = brokers

    def start(self, name: str, command: Command) -> Identity:
        started = self._backend.start(self._name(name), command)
        for other in self._others if name == self._first else ():
            log = self.log(other)
            if not log.is_symlink():
                log.symlink_to(self.log(self._first).name)
        return started

    def kill(self, name: str) -> None:
        if self.status(name).running is not Running.EXITED:
            self._backend.kill(self._name(name))

    def terminate(self, name: str) -> None:
        self._backend.terminate(self._name(name))

    def await_end(self, name: str, timeout: float) -> bool:
        return self._backend.await_end(self._name(name), timeout)

    def pause(self, name: str) -> None:
        if self.status(name).running is not Running.PAUSED:
            self._backend.pause(self._name(name))

    def resume(self, name: str) -> None:
        if self.status(name).running is not Running.RUNNING:
            self._backend.resume(self._name(name))

    def status(self, name: str) -> ProcessStatus:
        return self._backend.status(self._name(name))

    def pids(self) -> Mapping[str, Sequence[int]]:
        return self._backend.pids()

    def log(self, name: str) -> Path:
        """Return the log of a name: all brokers have that of their process, by links."""
        return self._backend.log(name)

    def exit_summary(self, name: str) -> str:
        return self._backend.exit_summary(self._name(name))

    def stop_all(self) -> None:
        self._backend.stop_all()

    def _name(self, name: str) -> str:
        return self._first if name in self._others else name
