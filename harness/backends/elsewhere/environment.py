"""The environment of a cluster that runs elsewhere. Nothing is started; at the end nothing of the run is left there."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from types import TracebackType
from typing import NoReturn, Self

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from fencepost.faults.capabilities import CapabilityError, Limits
from fencepost.harness.backends.elsewhere.backend import CommandedNodes
from fencepost.harness.backends.elsewhere.layout import DirectLayout, direct
from fencepost.harness.backends.environment import EnvironmentSpec
from fencepost.harness.clients import settings
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.network.addresses import FIRST_K, Addresses
from fencepost.harness.network.layout import Node, Proxy
from fencepost.harness.network.links import dial
from fencepost.harness.network.toxiproxy import Toxiproxy
from fencepost.harness.plan.model import Timing
from fencepost.harness.targets.elsewhere import Elsewhere

CLEAN_SECONDS = 60.0
"""Seconds until the topics and groups of a run have to be gone from every list."""
ASK_EVERY = 0.2
ASK_SECONDS = 10.0
_GONE = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.GROUP_ID_NOT_FOUND)


class Networks:
    """Implements `fencepost.faults.capabilities.Containers`, as far as the owner has commands for it."""

    def __init__(self, nodes: CommandedNodes) -> None:
        self.disconnect = nodes.disconnect
        self.connect = nodes.connect
        self.address = nodes.address

    def limit_memory(self, node: str, bytes_: int | None) -> None:
        _refuse(node)

    def limit_cpus(self, node: str, cpus: float | None) -> None:
        _refuse(node)

    def limits(self, node: str) -> Limits:
        _refuse(node)

    def spin(self, node: str, seconds: float) -> None:
        _refuse(node)


class RemoteEnvironment:
    """Implements `Environment`."""

    layout: DirectLayout
    backend: CommandedNodes
    containers: Networks

    def __init__(self, spec: EnvironmentSpec, target: Elsewhere) -> None:
        self._spec = spec
        self._target = target
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if not self._spec.prefix:
            raise UsageError(
                f"nothing of this plan has a prefix of its own: on {self._target.file.name}, which runs elsewhere, "
                "there are `run`, `replay` and `conformance`"
            )
        found = self._target.find()
        self.cluster_id = found.cluster_id
        self.layout = direct(self._spec.lay_out(Addresses(FIRST_K)), found.brokers)
        with self._stack as stack:
            try:
                there = self._of_run()
            except KafkaException as error:
                raise InfrastructureError(f"{self._target.file.name} does not list what it has: {error}") from None
            if there:
                raise InfrastructureError(
                    f"the cluster has {', '.join(there)} already, which begin with the prefix of this run: delete "
                    "them, or run the scenario anew"
                )
            stack.callback(self._clean)
            self.backend = CommandedNodes(self.layout, self._target, self._spec.folder, self._spec.topics)
            self.containers = Networks(self.backend)
            stack.callback(self.backend.stop_all)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def server(self, proxy: Proxy) -> Toxiproxy:
        _refuse(proxy.name)

    def connect(self, proxy: Proxy, timeout: float) -> socket.socket:
        return dial(proxy, timeout)

    def dial(self, node: Node, port: int, timeout: float) -> socket.socket:
        return socket.create_connection((node.address, port), timeout)

    def sock_diag(self, proxy: Proxy) -> socket.socket:
        _refuse(proxy.name)

    def broken(self) -> list[str]:
        return []

    def _of_run(self) -> list[str]:
        """Return the topics and the groups that have the prefix of the run."""
        admin = self._admin()
        groups = admin.list_consumer_groups(request_timeout=ASK_SECONDS).result().valid
        names = [*admin.list_topics(timeout=ASK_SECONDS).topics, *(group.group_id for group in groups)]
        return sorted(name for name in names if name.startswith(self._spec.prefix))

    def _clean(self) -> None:
        """Delete the topics and the groups of the run. Raise InfrastructureError with what is left."""
        deadline, wrong = time.monotonic() + CLEAN_SECONDS, ""
        while True:
            try:
                if not (left := self._of_run()):
                    return
                wrong = self._delete(left)
            except KafkaException as error:
                left, wrong = [f"{self._spec.prefix}*"], str(error)
            if time.monotonic() > deadline:
                raise InfrastructureError(
                    f"{', '.join(left)} of this run is left in {self._target.file.name}, delete it by hand: {wrong}"
                )
            time.sleep(ASK_EVERY)

    def _delete(self, names: list[str]) -> str:
        """Delete topics and groups of these names. Return the last error."""
        admin, wrong = self._admin(), ""
        topics = [name for name in names if name in admin.list_topics(timeout=ASK_SECONDS).topics]
        groups = [name for name in names if name not in topics]
        deletions = admin.delete_topics(topics, request_timeout=ASK_SECONDS) if topics else {}
        deletions |= admin.delete_consumer_groups(groups, request_timeout=ASK_SECONDS) if groups else {}
        for name, done in deletions.items():
            try:
                done.result()
            except KafkaException as error:
                if error.args[0].code() not in _GONE:
                    wrong = f"{name}: {error.args[0].str()}"
        return wrong

    def _admin(self) -> AdminClient:
        reached = {"bootstrap.servers": self.layout.bootstrap()} | self._target.client_settings
        return AdminClient(settings.admin(reached, Timing(), ASK_SECONDS))


def _refuse(what: str) -> NoReturn:
    raise CapabilityError(f"{what} runs elsewhere: only what its owner has commands for can be done to it")
