"""A running cluster: nodes of a target, with every connection between them through a link of its own."""

from __future__ import annotations

import socket
import time
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from types import TracebackType
from typing import Self

from fencepost.faults.capabilities import Running
from fencepost.faults.disks.stale_blocks import StaleBlocks
from fencepost.harness.backends import ELSEWHERE, PROCESS, backend_for, environment_for, prepare
from fencepost.harness.backends.environment import EnvironmentSpec
from fencepost.harness.cleaning.watcher import Watcher
from fencepost.harness.clients.settings import ClientSettings
from fencepost.harness.clock.clocks import NodeClocks
from fencepost.harness.cluster.certificates import NodeCertificates
from fencepost.harness.cluster.directories import NodeDirectories
from fencepost.harness.cluster.log_dirs import NodeLogDirs
from fencepost.harness.cluster.nodes import ASK_EVERY, Duplicates, Nodes
from fencepost.harness.cluster.nodes_elsewhere import NodesElsewhere
from fencepost.harness.cluster.shared_process import SharedProcess
from fencepost.harness.cluster.users import BrokerUsers
from fencepost.harness.disks import unavailable_reason
from fencepost.harness.disks.node_disks import NodeDisks
from fencepost.harness.disks.servers import DiskServers
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.model.sent import Legacy
from fencepost.harness.network import sockets
from fencepost.harness.network.addresses import Addresses, Endpoint
from fencepost.harness.network.layout import MAIN_SITE, Layout, Listener, Node, Proxy, Role, site_names
from fencepost.harness.network.links import ToxiproxyLinks
from fencepost.harness.network.messages import ToxiproxyMessages
from fencepost.harness.network.sockets import Bypass
from fencepost.harness.network.tls import over_tls
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.prefixed import prefix_of
from fencepost.harness.targets.certificates import Authority
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.security import client_settings
from fencepost.harness.targets.target import Installation, Target, new_uuid
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalError, JournalWriter

SERVICES_WITHIN = 10.0
"""Seconds for a service to end by itself, when the cluster has no broker any more."""
READY_WITHIN = 60.0
"""Seconds from the start of nodes until all of them serve; six JVMs that share two cores with others need many."""


def lay_out(plan: Plan, addresses: Addresses, file: TargetFile | None = None) -> Layout:
    """Place the nodes of a plan. `file` is that of the target, where it has listeners or services of its own."""
    services, health = ({}, None) if file is None else (file.services, file.health)
    nodes = tuple(
        Node(
            spec.name,
            spec.id,
            spec.index,
            frozenset(map(Role, spec.roles)),
            addresses.node(spec.index),
            spec.duplicate_of,
            spec.directory,
            spec.log_dirs,
            None if {"zookeeper", "service"} & set(spec.roles) else spec.level or plan.level,
            clock=spec.clock,
            disk=spec.disk,
            controller_id=spec.controller_id,
            rack=spec.rack,
            settings=tuple(spec.settings.items()),
            one_listener=file is not None and file.one_listener,
            own_port=services[spec.name].port if spec.name in services else None,
            question=services[spec.name].question if spec.name in services else None,
            health_port=health.port if health is not None and "broker" in spec.roles else None,
            health_question=health.question if health is not None and "broker" in spec.roles else None,
            joins=spec.start == "later" and spec.duplicate_of is None and "controller" in spec.roles,
        )
        for spec in plan.topology.nodes
    )
    return Layout(addresses, nodes, site_names(plan.topology.sites))


class Cluster:
    """A context with addresses and open links; nodes are started in it, and its end stops everything.

    `processes`, `links`, `duplicates` and `log_dirs` are what faults work on (`fencepost.faults.capabilities.Cluster`).
    """

    def __init__(
        self, plan: Plan, folder: RunFolder, journal: JournalWriter, target: Target, backend: str = PROCESS
    ) -> None:
        self.plan = plan
        # What containers see is named by its whole path.
        self.folder = folder if backend == PROCESS else RunFolder(folder.path.resolve())
        self.journal = journal
        self.target = target
        self.backend = backend_for(target, backend)
        self._one_process: list[str] = []
        """The brokers, if they are one process."""
        self.lives_on = False
        """Another plan ran on it before the present one."""
        self.legacy = Legacy()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        prepare(self.backend, self.target)
        with self._stack as stack:
            stack.enter_context(Watcher(self.folder.path))
            disks = self._disk_servers = stack.enter_context(DiskServers(self.folder, self._mount_options()))
            spec = EnvironmentSpec(
                self.folder,
                partial(lay_out, self.plan, file=self.target.file),
                self._exited,
                [topic.name for topic in self.plan.topics],
                prefix_of(self.plan),
            )
            self._environment = stack.enter_context(environment_for(self.backend, spec, self.target))
            stack.callback(disks.clear_rules)
            self.layout = self._environment.layout
            one_process = self._one_process = (
                [node.name for node in self.layout.brokers] if self.target.file.one_process else []
            )
            backend = self._environment.backend
            self._backend = SharedProcess(backend, one_process) if one_process else backend
            self.installation = Installation(
                self.layout,
                self.plan.timing,
                getattr(self._environment, "cluster_id", None) or new_uuid(),
                self.folder.nodes,
                self.plan.secured,
                Authority(self.folder.path / "security") if self.plan.secured.has_tls else None,
                self.plan.settings,
                getattr(self.target, "reached", None),
            )
            self.containers = self._environment.containers
            self.clocks = NodeClocks(self.layout, self.installation, self._backend.status)
            self.disks = NodeDisks(self.layout, self.installation, disks, remembers=self._remembers())
            self.processes = (NodesElsewhere if self.backend == ELSEWHERE else Nodes)(
                self.layout,
                self.installation,
                self.target,
                self._backend,
                self.journal,
                [self.disks, self.clocks],
                one_process,
            )
            stack.callback(self._stop_services)
            self.duplicates = Duplicates(self.processes, self.layout)
            self.directories = NodeDirectories(self.layout, self.installation, self.target, self._backend.status)
            self.log_dirs = NodeLogDirs(self.layout, self.installation, self.disks)
            self.certificates = NodeCertificates(self.layout, self.installation)
            keeps_users = getattr(self.target, "keeps_scram_users", False)
            self.users = BrokerUsers(self.layout, self.installation, keeps_scram_users=keeps_users)
            self.links = ToxiproxyLinks(
                self.layout,
                self._environment.server,
                self._is_paused,
                self._connect,
                self._environment.sock_diag,
            )
            self.messages = ToxiproxyMessages(self.layout, self._environment.server, self._is_paused)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def serve(self, plan: Plan, journal: JournalWriter, legacy: Legacy) -> None:
        """Serve the run of another plan for the same nodes. Its journal gets all that happens to them from now on."""
        self.legacy = legacy
        self.plan = plan
        self.journal = journal
        self.lives_on = True
        self.processes.introduce(journal)

    def stop(self) -> None:
        """End every process and give the addresses back. May be called twice."""
        self._stack.close()

    def _stop_services(self) -> None:
        """End the brokers, and then ask the services to end: they may have more to give back than memory."""
        services = [node.name for node in self.layout.nodes if node.is_service]
        live = self.pids()
        for name in live if services else ():
            if name not in services:
                self._backend.kill(name)
        for name in filter(live.__contains__, services):
            with suppress(JournalError):
                self.processes.shut_down(name)
                self.processes.await_end(name, SERVICES_WITHIN)

    @property
    def cluster_id(self) -> str:
        return self.installation.cluster_id

    def node(self, name: str) -> Node:
        return self.layout.node(name)

    def client_settings(self, site: str = MAIN_SITE) -> ClientSettings:
        """Return the settings by which clients of a site reach the cluster."""
        return {"bootstrap.servers": self.bootstrap(site)} | client_settings(self.installation)

    def bootstrap(self, site: str = MAIN_SITE) -> str:
        """`host:port,…` for the clients of a site."""
        return self.layout.bootstrap(site)

    def probe_address(self, node: str, listener: Listener) -> Endpoint:
        """Return the address at which raw probes reach one listener of a node, past all links that faults break."""
        return self.layout.probe_link(node, listener).listen

    def dial(self, node: str, port: int, timeout: float) -> socket.socket:
        """Connect to a port of a node at its own address, past all links; seconds until TimeoutError."""
        return self._environment.dial(self.node(node), port, timeout)

    def start(self, names: Collection[str], timeout: float = READY_WITHIN) -> None:
        """Start nodes and wait until they serve. A duplicate may be refused for good, so it need only run.

        ZooKeeper and services come first, then alone the broker that the plan wants as the first controller, then all
        others together. Raises InfrastructureError, with the last lines of a log, if one ends or does not serve in
        time.
        """
        begun: list[str] = []
        for group in self._in_order(names):
            for name in group:
                self.processes.start(name)
            own = [name for name in group if self.node(name).duplicate_of is None]
            begun += own
            self.await_serving(begun, timeout)
            for name in own:
                self.processes.note_ready(name)

    def _in_order(self, names: Collection[str]) -> list[list[str]]:
        first = [name for name in names if self.node(name).is_zookeeper or self.node(name).is_service]
        elected = [name for name in names if name == self.plan.topology.controller]
        return [group for group in (first, elected, [n for n in names if n not in (*first, *elected)]) if group]

    def await_serving(self, names: Sequence[str], timeout: float = READY_WITHIN) -> None:
        """Wait until these nodes report that they know each other and serve clients. Raises InfrastructureError."""
        nodes = [self.node(name) for name in names]
        deadline = time.monotonic() + timeout
        while reason := self.target.unready(nodes, self.installation):
            for name in names:
                if self.processes.status(name).running is Running.EXITED:
                    raise InfrastructureError(self._backend.exit_summary(name))
            if broken := self.broken():
                raise InfrastructureError(broken[0])
            if time.monotonic() > deadline:
                raise InfrastructureError(f"not all of {', '.join(names)} serve after {timeout:g} s: {reason}")
            time.sleep(ASK_EVERY)

    def socket_audit(self) -> list[Bypass]:
        """Connections, open now, that a node opened to anything but its links."""
        pids = self._backend.pids()
        of_nodes = {node.name: pids.get(node.name, ()) for node in self.layout.nodes}
        return sockets.bypasses(self.layout, of_nodes, self._one_process)

    def problems(self) -> list[str]:
        """Return messages about what makes this run inconclusive: a dead Toxiproxy, a connection past the links."""
        return [*self.broken(), *map(str, self.socket_audit())]

    def broken(self) -> list[str]:
        """Return messages about parts of the environment that ended by themselves."""
        return [*self._environment.broken(), *self._disk_servers.broken()]

    def pids(self) -> dict[str, int]:
        """Return the pids of the nodes that run or are paused."""
        statuses = {node.name: self._backend.status(node.name) for node in self.layout.nodes}
        live = (Running.RUNNING, Running.PAUSED)
        return {name: each.pid for name, each in statuses.items() if each.running in live and each.pid is not None}

    def _mount_options(self) -> Sequence[str]:
        """Return the mount options. Raises UsageError if the plan needs mounts that are unavailable here."""
        others = self.backend != PROCESS
        breakable = [node.name for node in self.plan.topology.nodes if node.disk == "breakable"]
        if breakable and (reason := unavailable_reason(others=others)):
            raise UsageError(f"the plan wants `disk: breakable` for {', '.join(breakable)}: {reason}")
        return ("allow_other",) if others else ()

    def _remembers(self) -> bool:
        """Return whether a fault of the plan needs the earlier content of files."""
        return any(isinstance(step, InjectStep) and step.fault == StaleBlocks.name for step in self.plan.steps)

    def _connect(self, proxy: Proxy, timeout: float) -> socket.socket:
        """Connect through a link, over TLS if its end asks for it."""
        connection = self._environment.connect(proxy, timeout)
        return over_tls(connection, self.installation.tls(proxy.upstream), proxy.listen.host, timeout)

    def _is_paused(self, name: str) -> bool:
        return self._backend.status(name).running is Running.PAUSED

    def _exited(self, name: str, exit_code: int) -> None:
        """Journal a node that ended by itself."""
        with suppress(JournalError):  # the run is over, and its journal closed
            self.processes.ended(name, exit_code)
