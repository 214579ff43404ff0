"""A run in progress, as the steps of its plan see it: what `plan.performed` describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from fencepost.faults.processes.restored import back_up
from fencepost.harness.calls import in_time, named
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.describing import take_checkpoint
from fencepost.harness.engine.errors import StepError
from fencepost.harness.engine.releases import await_release, version_of
from fencepost.harness.engine.run_references import RunReferences
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.base import After, Release
from fencepost.harness.plan.steps.produce import Produce

CONNECT_WITHIN = 5.0
ANSWER_WITHIN = 20.0
"""Seconds for the request and the end of the session: kazoo waits for both without end."""


class PerformedRun(RunReferences):
    """The references of a run, and what a step can do to it. Its methods: `plan.performed.Performed`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._run_clock = context.clock
        self._active_faults = context.active_faults
        self._context = context

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
            step.size,
        )
        return result.sent, result.acknowledged

    def connect(self, node: str, seconds: float) -> RawConnection:
        return self._clients.connect(node, Listener.CLIENT, seconds)

    def describe(self, name: str) -> Mapping[str, Any]:
        return take_checkpoint(self._context, name)

    def heal(self, fault: str) -> None:
        self._active_faults.heal(fault)

    def heal_all(self) -> Sequence[str]:
        return self._active_faults.heal_all()

    def sleep_until(self, after: After) -> None:
        self._run_clock.sleep_until(self._run_clock.moment(after))


def change_znode(action: str, path: str, data: str, hosts: str, *, sequence: bool = False) -> str:
    """Change a znode through any server that serves, and return its path, with the number of a sequential one.

    Raise StepError if no server takes a session in time, or if ZooKeeper refuses, for example an existing path;
    CallHangs if the client does not return.
    """
    name = f"{action} {path}"
    work = partial(_through_a_client, action, path, data.encode(), hosts, sequence)
    return in_time(name, CONNECT_WITHIN + ANSWER_WITHIN, work)


def _through_a_client(action: str, path: str, data: bytes, hosts: str, sequence: bool) -> str:
    client = named(KazooClient(hosts=hosts, timeout=CONNECT_WITHIN), "the harness")
    try:
        client.start(CONNECT_WITHIN)
        return _change(client, action, path, data, sequence)
    except KazooTimeoutError as error:
        raise StepError(f"no ZooKeeper server took a session within {CONNECT_WITHIN:g} s") from error
    except KazooException as error:
        raise StepError(f"could not {action} {path}: {type(error).__name__}") from error
    finally:
        client.stop()
        client.close()


def _change(client: KazooClient, action: str, path: str, data: bytes, sequence: bool) -> str:
    match action:
        case "create":
            return str(client.create(path, data, sequence=sequence))
        case "set":
            client.set(path, data)
        case "delete":
            client.delete(path)
    return path
