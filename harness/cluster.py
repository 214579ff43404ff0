"""A running cluster: nodes of a target, with every connection between them through a link of its own."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from types import TracebackType
from typing import Self

from faults.capabilities import Running
from harness.backends import PROCESS
from harness.backends.premises import Ordered, premises, prepare
from harness.cleaning.watcher import Watcher
from harness.clock.clocks import NodeClocks
from harness.directories import NodeDirectories
from harness.disks import lacking
from harness.disks.node_disks import NodeDisks
from harness.disks.servers import DiskServers
from harness.errors import InfrastructureError, UsageError
from harness.log_dirs import NodeLogDirs
from harness.network import sockets
from harness.network.addresses import Addresses, Endpoint
from harness.network.layout import MAIN_SITE, Layout, Listener, Node, Role, site_names
from harness.network.links import ToxiproxyLinks
from harness.network.sockets import Bypass
from harness.nodes import ASK_EVERY, Duplicates, Nodes
from harness.plan.model import Plan
from harness.targets.target import Installation, Target, new_uuid
from results.records.folder import RunFolder
from results.records.journal import JournalError, JournalWriter

READY_WITHIN = 60.0
"""Seconds from the start of nodes until all of them serve; six JVMs that share two cores with others need many."""


def lay_out(plan: Plan, addresses: Addresses) -> Layout:
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
            None if "zookeeper" in spec.roles else spec.level or plan.level,
            clock=spec.clock,
            disk=spec.disk,
        )
        for spec in plan.topology.nodes
    )
    return Layout(addresses, nodes, site_names(plan.topology.sites))


class Cluster:
    """Entered, it has addresses and open links, but no node yet; left, nothing of it runs any more.

    `processes`, `links`, `duplicates` and `log_dirs` are what faults work on (`faults.capabilities.Cluster`).
    """

    def __init__(
        self, plan: Plan, folder: RunFolder, journal: JournalWriter, target: Target, backend: str = PROCESS
    ) -> None:
        self.plan = plan
        # What containers see is named by its whole path.
        self.folder = folder if backend == PROCESS else RunFolder(folder.path.resolve())
        self.journal = journal
        self.target = target
        self.backend = backend
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        prepare(self.backend, self.target)
        with self._stack as stack:
            stack.enter_context(Watcher(self.folder.path))
            disks = self._disk_servers = stack.enter_context(DiskServers(self.folder, self._mount_options()))
            ordered = Ordered(self.folder, partial(lay_out, self.plan), self._exited)
            self._premises = stack.enter_context(premises(self.backend, ordered))
            stack.callback(disks.calm)
            self._backend = self._premises.backend
            self.layout = self._premises.layout
            self.installation = Installation(
                self.layout, self.plan.timing, new_uuid(), self.folder.nodes, self.plan.security
            )
            self.containers = self._premises.containers
            self.clocks = NodeClocks(self.layout, self.installation, self._backend.status)
            self.disks = NodeDisks(self.layout, self.installation, disks)
            self.processes = Nodes(
                self.layout, self.installation, self.target, self._backend, self.journal, [self.disks, self.clocks]
            )
            self.duplicates = Duplicates(self.processes, self.layout)
            self.directories = NodeDirectories(self.layout, self.installation, self.target, self._backend.status)
            self.log_dirs = NodeLogDirs(self.layout, self.installation, self.disks)
            self.links = ToxiproxyLinks(
                self.layout, self._premises.server, self._is_paused, self._premises.connect, self._premises.sock_diag
            )
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
        """Start nodes and wait until they serve. A duplicate may be refused for good, so it need only run.

        ZooKeeper comes first, then alone the broker that the plan wants as the first controller, then all others
        together. Raises InfrastructureError, with the last lines of a log, if one ends or does not serve in time.
        """
        begun: list[str] = []
        for group in self._in_order(names):
            for name in group:
                self.processes.start(name)
            own = [name for name in group if self.node(name).duplicate_of is None]
            begun += own
            self._await_served(begun, timeout)
            self._note_ready(own)

    def _in_order(self, names: Collection[str]) -> list[list[str]]:
        first = [name for name in names if self.node(name).is_zookeeper]
        elected = [name for name in names if name == self.plan.topology.controller]
        return [group for group in (first, elected, [n for n in names if n not in (*first, *elected)]) if group]

    def await_serving(self, names: Sequence[str], timeout: float = READY_WITHIN) -> None:
        """Wait until these nodes know each other and serve clients, as they say themselves."""
        self._await_served(names, timeout)
        self._note_ready(names)

    def _await_served(self, names: Sequence[str], timeout: float) -> None:
        nodes = [self.node(name) for name in names]
        deadline = time.monotonic() + timeout
        while reason := self.target.unready(nodes, self.layout):
            for name in names:
                if self.processes.status(name).running is Running.EXITED:
                    raise InfrastructureError(self._backend.obituary(name))
            if broken := self.broken():
                raise InfrastructureError(broken[0])
            if time.monotonic() > deadline:
                raise InfrastructureError(f"not all of {', '.join(names)} serve after {timeout:g} s: {reason}")
            time.sleep(ASK_EVERY)

    def _note_ready(self, names: Sequence[str]) -> None:
        for name in names:
            self.journal.write("node", name, "ready", node=name)

    def socket_audit(self) -> list[Bypass]:
        """Connections, open now, that a node opened to anything but its links."""
        return sockets.bypasses(self.layout, self.pids())

    def problems(self) -> list[str]:
        """Sentences about what makes this run worthless: a dead Toxiproxy, a connection past the links."""
        return [*self.broken(), *map(str, self.socket_audit())]

    def broken(self) -> list[str]:
        """Sentences about what carries this cluster and ended by itself."""
        return [*self._premises.broken(), *self._disk_servers.broken()]

    def pids(self) -> dict[str, int]:
        """Of the nodes that run or are paused."""
        statuses = {node.name: self._backend.status(node.name) for node in self.layout.nodes}
        live = (Running.RUNNING, Running.PAUSED)
        return {name: each.pid for name, each in statuses.items() if each.running in live and each.pid is not None}

    def _mount_options(self) -> Sequence[str]:
        """UsageError if the plan wants mounts, and they cannot be made here."""
        others = self.backend != PROCESS
        breakable = [node.name for node in self.plan.topology.nodes if node.disk == "breakable"]
        if breakable and (reason := lacking(others=others)):
            raise UsageError(f"the plan wants `disk: breakable` for {', '.join(breakable)}: {reason}")
        return ("allow_other",) if others else ()

    def _is_paused(self, name: str) -> bool:
        return self._backend.status(name).running is Running.PAUSED

    def _exited(self, name: str, exit_code: int) -> None:
        """A node ended that nobody here ended."""
        with suppress(JournalError):  # the run is over, and nobody reads this any more
            self.processes.ended(name, exit_code)
