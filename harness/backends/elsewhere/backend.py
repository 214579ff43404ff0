"""Nodes whose owner gave commands for what is done to them. Each effect is measured from outside."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fencepost.faults.capabilities import Evidence, ProcessStatus, Running
from fencepost.harness.backends.elsewhere.watch import Watch
from fencepost.harness.backends.exit_summary import LOG_TAIL
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.layout import Layout, Node
from fencepost.harness.processes.command import Command
from fencepost.harness.processes.owner_command import problem_of
from fencepost.harness.processes.resources import ResourceRecords
from fencepost.harness.processes.table import Identity
from fencepost.harness.targets.elsewhere import Elsewhere
from fencepost.harness.targets.process_template import environment
from fencepost.results.records.folder import RunFolder

ASK_EVERY = 0.2
_NEVER = ProcessStatus(Running.NEVER_STARTED)
UNDO: Mapping[str, str] = {"kill": "start", "stop": "start", "pause": "resume", "cut": "heal"}


class CommandedNodes:
    """Implements `Backend`, and what faults of the network need (`disconnect`, `connect`, `address`).

    A status is what was measured when the node was last broken or healed. The log of a node has what its commands said.
    """

    def __init__(self, layout: Layout, target: Elsewhere, folder: RunFolder, topics: Sequence[str]) -> None:
        self._layout = layout
        self._target = target
        self._logs = folder.logs
        self._owed = ResourceRecords(folder.path)
        """Has the commands that the watcher of the run runs if the harness dies."""
        self._topics = topics
        self._statuses: dict[str, ProcessStatus] = {}
        self._undo: dict[str, str] = {}
        """The command that undoes what was done last to each node that is not as it was."""

    def start(self, name: str, command: Command) -> Identity:
        """Take the node as it runs; later, start it again. Return once it answers."""
        if name in self._undo:
            self._heal(name)
        elif not self._watch(name).answers():
            raise InfrastructureError(f"{name} does not answer at {self._layout.node(name).front}")
        self._statuses[name] = ProcessStatus(Running.RUNNING)
        return Identity(0, 0)

    def kill(self, name: str) -> None:
        self._break(name, "kill", Running.EXITED, lambda watch: watch.ended)

    def terminate(self, name: str) -> None:
        """Run the command, and return once the node is seen to have ended."""
        self._break(name, "stop", Running.EXITED, lambda watch: watch.ended)

    def await_end(self, name: str, timeout: float) -> bool:
        return self.status(name).running is Running.EXITED

    def pause(self, name: str) -> None:
        self._break(name, "pause", Running.PAUSED, lambda watch: watch.still)

    def resume(self, name: str) -> None:
        self._heal(name)

    def disconnect(self, name: str) -> None:
        self._break(name, "cut", Running.RUNNING, lambda watch: watch.gone)

    def connect(self, name: str) -> None:
        self._heal(name)

    def address(self, name: str) -> str | None:
        """Return where it is reached; None while it is cut off."""
        return None if self._undo.get(name) == UNDO["cut"] else str(self._layout.node(name).front)

    def status(self, name: str) -> ProcessStatus:
        return self._statuses.get(name, _NEVER)

    def pids(self) -> Mapping[str, Sequence[int]]:
        return {}

    def log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def exit_summary(self, name: str) -> str:
        said = self.log(name).read_text(errors="replace").splitlines()[-LOG_TAIL:] if self.log(name).exists() else []
        tail = "".join(f"\n  | {line}" for line in said)
        return f"{name} ended, as seen from outside; the last lines of its commands:{tail or ' (none)'}"

    def stop_all(self) -> None:
        """Heal all that is broken. Raise InfrastructureError with what is left."""
        errors = []
        for name in [*self._undo]:
            try:
                self._heal(name)
            except InfrastructureError as error:
                errors.append(str(error))
        if errors:
            raise InfrastructureError("; ".join(errors))

    def _break(
        self, name: str, command: str, state: Running, sign: Callable[[Watch], Callable[[], str | None]]
    ) -> None:
        """Run a command, and measure its effect. If there is none to be seen, undo it and raise InfrastructureError."""
        if (undo := self._undo.get(name)) is not None:
            raise InfrastructureError(f"cannot {command} {name}: it waits for `{undo}`")
        with self._watch(name) as watch:
            if not watch.is_up:
                raise InfrastructureError(f"cannot {command} {name}: it does not answer, so nothing would be seen")
            self._owe(name, UNDO[command])
            try:
                self._run(name, command)
                evidence = watch.await_(sign(watch), self._target.running.within_s)
                if not evidence.proven:
                    raise InfrastructureError(f"`{command}` of {name} shows no effect: {evidence.shortfall}")
            except InfrastructureError:
                self._heal(name)  # it may have had one all the same, and the run is held against the cluster
                raise
        self._statuses[name] = ProcessStatus(state, seen=evidence)

    def _heal(self, name: str) -> None:
        """Undo what was done to a node, and return once it answers."""
        undo = self._undo.get(name)
        if undo is None:
            return
        if getattr(self._target.running.commands, undo):
            self._run(name, undo)
        deadline, watch = time.monotonic() + self._target.running.within_s, self._watch(name)
        while not watch.answers():
            if time.monotonic() > deadline:
                raise InfrastructureError(
                    f"{name} does not answer {self._target.running.within_s:g} s after `{undo}`: bring it back by hand"
                )
            time.sleep(ASK_EVERY)
        del self._undo[name]
        self._owed.gone("command", name)
        seen = Evidence(True, "its port: it answers again", {})
        self._statuses[name] = ProcessStatus(Running.RUNNING, seen=seen)

    def _owe(self, name: str, undo: str) -> None:
        self._undo[name] = undo
        if getattr(self._target.running.commands, undo):
            argv = self._argv(self._layout.node(name), undo)
            self._owed.intend("command", name, argv=argv, folder=str(self._target.file.folder))

    def _watch(self, name: str) -> Watch:
        return Watch(self._layout.node(name), self._layout.brokers, self._target.access, self._topics)

    def _run(self, name: str, command: str) -> None:
        """Run a command of the owner; its output is appended to the log of the node."""
        argv = self._argv(self._layout.node(name), command)
        with self.log(name).open("ab") as log:
            log.write(f"$ {' '.join(argv)}\n".encode())
            log.flush()
            problem = problem_of(argv, self._target.file.folder, log)
        if problem is not None:
            raise InfrastructureError(f"`{command}` of {name} {problem}: see {self.log(name)}")

    def _argv(self, node: Node, command: str) -> list[str]:
        running, folder = self._target.running, self._target.file.folder
        variables = {"id": node.id, "host": node.front.host, "port": node.front.port, "folder": folder}
        variables["name"] = environment(folder).from_string(running.name).render(**variables, name="")
        program, *words = (
            environment(folder).from_string(e).render(variables) for e in getattr(running.commands, command)
        )
        return [str(folder / program) if "/" in program else program, *words]
