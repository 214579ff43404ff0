"""A run in progress, as the steps of its plan see it: what `plan.performed` describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.faults.processes.restored import back_up
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.releases import await_release, version_of
from fencepost.harness.engine.run_references import RunReferences
from fencepost.harness.engine.znodes import change_znode
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.base import After, Release
from fencepost.harness.plan.steps.produce import Produce


class PerformedRun(RunReferences):
    """The references of a run, and what a step can do to it. Its methods: `plan.performed.Performed`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._run_clock = context.clock
        self._active_faults = context.active_faults

    def set_version(self, node: str, release: Release | None, level: str | None) -> None:
        self._cluster.processes.set_version(node, release, level)

    def await_release(self, node: str, release: Release, seconds: float) -> str:
        version = version_of(self._cluster.target, release)
        await_release(self._cluster, node, version, seconds)
        return version

    def back_up(self, node: str, name: str) -> Mapping[str, object]:
        return back_up(self._cluster, node, name).as_json()

    def change_znode(self, action: str, path: str, data: str, *, sequence: bool) -> str:
        return change_znode(action, path, data, self._cluster.layout.ensemble(), sequence=sequence)

    def start_clients(self, names: Sequence[str]) -> None:
        self._clients.workload.start(tuple(names) or None)

    def stop_clients(self, names: Sequence[str]) -> None:
        self._clients.workload.stop(tuple(names) or None, self._run_clock.deadline)

    def burst(self, name: str, step: Produce) -> tuple[int, int]:
        result = self._clients.workload.burst(
            name,
            step.topic,
            step.partition,
            step.records,
            str(step.acks),
            step.idempotent,
            step.timeout_ms / 1000,
        )
        return result.sent, result.acknowledged

    def connect(self, node: str, seconds: float) -> RawConnection:
        return self._clients.connect(node, Listener.CLIENT, seconds)

    def heal(self, fault: str) -> None:
        self._active_faults.heal(fault)

    def heal_all(self) -> Sequence[str]:
        return self._active_faults.heal_all()

    def sleep_until(self, after: After) -> None:
        self._run_clock.sleep_until(self._run_clock.moment(after))
