"""A running cluster: nodes of a target, as processes, with every connection between them through a link of its own."""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Self

from faults.capabilities import ProcessStatus, Reach, Running
from harness.backends.process import ProcessBackend
from harness.errors import InfrastructureError
from harness.network import sockets
from harness.network.addresses import PEER_PORT, Addresses, Endpoint
from harness.network.layout import MAIN_SITE, Layout, Listener, Node, Role, hosts_file, site_names
from harness.network.lease import Lease
from harness.network.links import ToxiproxyLinks
from harness.network.roundtrip import round_trip
from harness.network.server import await_version, server_command
from harness.network.sockets import Bypass
from harness.network.toxiproxy import Toxiproxy
from harness.plan.model import Plan
from harness.targets.target import Installation, Target, new_uuid, write_properties
from results.records.folder import RunFolder
from results.records.journal import JournalError, JournalWriter

TOXIPROXY = "toxiproxy"
READY_WITHIN = 60.0
"""Seconds from the start of nodes until all of them serve; six JVMs that share two cores with others need many."""
ASK_EVERY = 0.1


def lay_out(plan: Plan, addresses: Addresses) -> Layout:
    nodes = tuple(
        Node(
            spec.name,
            spec.id,
            spec.index,
            frozenset(map(Role, spec.roles)),
            addresses.node(spec.index),
            spec.duplicate_of,
            spec.directory == "cloned",
        )
        for spec in plan.topology.nodes
    )
    return Layout(addresses, nodes, site_names(plan.topology.sites))


class Cluster:
    """Entered, it has addresses, links and a running Toxiproxy, but no node yet; left, nothing of it runs any more.

    `processes`, `links` and `duplicates` are what faults work on (`faults.capabilities.Cluster`).
    """

    def __init__(self, plan: Plan, folder: RunFolder, journal: JournalWriter, target: Target) -> None:
        self.plan = plan
        self.folder = folder
        self.journal = journal
        self.target = target
        self._stack = ExitStack()
        self._broken: list[str] = []

    def __enter__(self) -> Self:
        self.target.prepare()
        with self._stack as stack:
            lease = Lease.acquire(self.folder.path, lambda addresses: lay_out(self.plan, addresses).listeners())
            stack.callback(lease.release)
            self.layout = lay_out(self.plan, lease.addresses)
            self.installation = Installation(self.layout, self.plan.timing, new_uuid(), self.folder.nodes)
            self._backend = ProcessBackend(self.folder.processes, self.folder.logs, self._exited)
            stack.callback(self._backend.stop_all)
            toxiproxy = Toxiproxy(self.layout.addresses.toxiproxy)
            self._backend.start(TOXIPROXY, server_command(toxiproxy.api))
            await_version(toxiproxy)
            toxiproxy.populate(self.layout.links())
            self.processes = Nodes(self, self._backend)
            self.duplicates = Duplicates(self.processes)
            self.links = ToxiproxyLinks(self.layout, toxiproxy, self._is_paused)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End every process and give the addresses back. May be called twice."""
        self._stack.close()

    @property
    def cluster_id(self) -> str:
        return self.installation.cluster_id

    def node(self, name: str) -> Node:
        return self.layout.node(name)

    def bootstrap(self, site: str = MAIN_SITE) -> str:
        """`host:port,…` for the clients of a site."""
        return self.layout.bootstrap(site)

    def probe_address(self, node: str, listener: Listener) -> Endpoint:
        """Where a raw probe dials to reach one listener of a node, past every link that a fault may break."""
        return self.layout.probe_link(node, listener).listen

    def start(self, names: Collection[str], timeout: float = READY_WITHIN) -> None:
        """Start nodes, together, and wait until they serve. A duplicate may be refused for good, so it need only run.

        Raises InfrastructureError, with the last lines of a log, if one ends or does not serve in time.
        """
        for name in names:
            self.processes.start(name)
        self.await_serving([name for name in names if self.node(name).duplicate_of is None], timeout)

    def await_serving(self, names: Sequence[str], timeout: float = READY_WITHIN) -> None:
        """Wait until these nodes know each other and serve clients, as they say themselves."""
        nodes = [self.node(name) for name in names]
        deadline = time.monotonic() + timeout
        while reason := self.target.unready(nodes, self.layout):
            for name in names:
                if self.processes.status(name).running is Running.EXITED:
                    raise InfrastructureError(self._backend.obituary(name))
            if time.monotonic() > deadline:
                raise InfrastructureError(f"not all of {', '.join(names)} serve after {timeout:g} s: {reason}")
            time.sleep(ASK_EVERY)
        for name in names:
            self.journal.write("node", name, "ready", node=name)

    def socket_audit(self) -> list[Bypass]:
        """Connections, open now, that a node opened to anything but its links."""
        return sockets.bypasses(self.layout, self._pids())

    def problems(self) -> list[str]:
        """Sentences about what makes this run worthless: a dead Toxiproxy, a connection past the links."""
        return [*self._broken, *map(str, self.socket_audit())]

    def _pids(self) -> dict[str, int]:
        statuses = {node.name: self._backend.status(node.name) for node in self.layout.nodes}
        live = (Running.RUNNING, Running.PAUSED)
        return {name: each.pid for name, each in statuses.items() if each.running in live and each.pid is not None}

    def _is_paused(self, name: str) -> bool:
        return self._backend.status(name).running is Running.PAUSED

    def _exited(self, name: str, exit_code: int) -> None:
        """A process ended that nobody here ended."""
        if name == TOXIPROXY:
            self._broken.append(self._backend.obituary(name))
        else:
            with suppress(JournalError):  # the run is over, and nobody reads this any more
                data = {"exit_code": exit_code, "sentence": self._backend.obituary(name)}
                self.journal.write("node", name, "exited", data, node=name)


class Nodes:
    """Implements `faults.capabilities.Processes`; every change of a node is journalled."""

    def __init__(self, cluster: Cluster, backend: ProcessBackend) -> None:
        self._cluster = cluster
        self._backend = backend

    def start(self, node: str) -> None:
        """Start a node's process; a first start writes its files. Does nothing if it runs."""
        if self.status(node).running in (Running.RUNNING, Running.PAUSED):
            return
        described = self._cluster.node(node)
        installation = self._cluster.installation
        if not installation.home(described).exists():
            self._install(described)
        self._journal(node, "intent", durable=True)
        self._backend.start(node, self._cluster.target.command(described, installation))
        self._journal(node, "started")

    def await_ready(self, node: str, timeout: float) -> None:
        """Until the node answers requests at its own address, fenced or not."""
        address = Endpoint(self._cluster.node(node).address, PEER_PORT)
        deadline = time.monotonic() + timeout
        while round_trip(address, max(0.1, min(1.0, deadline - time.monotonic()))).reach is not Reach.ANSWERED:
            if self.status(node).running is Running.EXITED:
                raise InfrastructureError(self._backend.obituary(node))
            if time.monotonic() > deadline:
                raise InfrastructureError(
                    f"{node} does not answer at {address} after {timeout:g} s; see {self._backend.log(node)}"
                )
            time.sleep(ASK_EVERY)
        self._journal(node, "ready")

    def kill(self, node: str) -> None:
        self._backend.kill(node)
        self._journal(node, "killed")

    def pause(self, node: str) -> None:
        self._backend.pause(node)
        self._journal(node, "paused")

    def resume(self, node: str) -> None:
        self._backend.resume(node)
        self._journal(node, "resumed")

    def status(self, node: str) -> ProcessStatus:
        self._cluster.node(node)
        return self._backend.status(node)

    def peers(self, node: str) -> frozenset[str]:
        pid = self.status(node).pid
        return frozenset() if pid is None else sockets.peers(self._cluster.layout, node, pid)

    def _install(self, node: Node) -> None:
        installation, target = self._cluster.installation, self._cluster.target
        installation.home(node).mkdir()
        installation.hosts(node).write_text(hosts_file(self._cluster.layout.hosts_of(node)))
        write_properties(installation.properties(node), target.properties(node, installation))
        if node.cloned and node.duplicate_of is not None:
            elder = self._cluster.node(node.duplicate_of)
            ignore = shutil.ignore_patterns(".lock", "*.tmp")
            shutil.copytree(installation.data(elder), installation.data(node), ignore=ignore)
        else:
            target.format(node, installation)

    def _journal(self, node: str, phase: str, durable: bool = False) -> None:
        status = self.status(node)
        data = {} if phase == "intent" else {"pid": status.pid, "start_time": status.started}
        self._cluster.journal.write("node", node, phase, data, node=node, durable=durable)


class Duplicates:
    """Implements `faults.capabilities.Duplicates`: in this backend a duplicate is a node like any other."""

    def __init__(self, processes: Nodes) -> None:
        self._processes = processes

    def start_duplicate(self, node: str) -> None:
        self._processes.start(node)

    def stop_duplicate(self, node: str) -> None:
        if self._processes.status(node).running in (Running.RUNNING, Running.PAUSED):
            self._processes.kill(node)
