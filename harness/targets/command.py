"""The driver `command`: it starts any program as a node, by the templates of a target file."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from fencepost.faults.capabilities import ProbeResult
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.network.addresses import CLIENT_PORT
from fencepost.harness.network.layout import MAIN_SITE, SITE_PREFIX, Layout, Listener, Node
from fencepost.harness.network.roundtrip import round_trip
from fencepost.harness.plan.security import PASSWORDS, Security
from fencepost.harness.processes.command import Command
from fencepost.harness.targets import listeners
from fencepost.harness.targets.certificates import KEYSTORE, TRUSTSTORE
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.identity import IdKeys
from fencepost.harness.targets.process_template import Line, ProcessTemplate, environment
from fencepost.harness.targets.readiness import unlisted_brokers, without_quorum
from fencepost.harness.targets.target import Installation
from fencepost.harness.targets.zookeeper import ZooKeeperServers, connect
from fencepost.harness.targets.zookeeper import unready as unready_servers
from fencepost.harness.targets.zookeeper_jars import zookeeper_jars

FORMAT_WITHIN = 120
"""Seconds for a command that formats the directories of one node."""
PREPARE_WITHIN = 1800
"""Seconds for a command that builds or fetches the program."""
ANSWER_WITHIN = 1.0
"""Seconds for the answer that shows that a node serves."""


class CommandDriver:
    """Configures and starts nodes by the key `process` of a target file."""

    def __init__(self, file: TargetFile, version: str) -> None:
        if file.process is None:
            raise UsageError(f"the target file of {file.name} has the driver `command`, which needs the key `process`")
        file.check_release(version)
        self.file = file
        self.version = version
        self.ids = IdKeys(file.process.ids.stored, file.process.ids.configured)
        self.owned = file.process.owned
        self._template: ProcessTemplate = file.process
        self._logs: dict[str, tuple[Path, int]] = {}
        """The log of each started node, and its length before the last start."""

    def unsecurable(self, security: Security) -> str | None:
        if not self.file.secured.secures:
            return f"no listener of {self.file.name} is secured here: its target file has no `security`"
        if security != self.file.secured:
            return f"the templates of {self.file.name} are for the `security` of its target file"
        return None

    def prepare(self) -> None:
        for argv in self._template.prepare:
            _run(argv, self.file.folder, PREPARE_WITHIN, f"the command of `prepare` of {self.file.name}")
        if self.file.dialect.uses_zookeeper:
            self._servers.prepare()

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        if node.is_service:
            return {}
        if node.is_zookeeper:
            return self._servers.properties(node, installation)
        templates = dict(self._template.properties.all)
        if node.is_controller:
            templates |= self._template.properties.controller
        if node.is_broker:
            templates |= self._template.properties.broker
        variables = self._variables(node, installation)
        own = {key: self._rendered(text, variables) for key, text in templates.items()}
        return own | self.file.properties(node, installation.timing)

    def files(self, node: Node, installation: Installation) -> Mapping[str, str]:
        if node.is_zookeeper or node.is_service:
            return {}
        variables = self._variables(node, installation)
        return {name: self._rendered(text, variables) for name, text in self._template.files.items()}

    def format(self, node: Node, installation: Installation) -> None:
        """Make the directories, and run the commands of `format` on them."""
        if node.is_zookeeper:
            self._servers.format(node, installation)
            return
        for folder in installation.log_dirs(node):
            folder.mkdir(exist_ok=True)
        variables = self._variables(node, installation)
        service = self.file.services.get(node.name)
        for templates in self._template.format if service is None else service.format:
            argv = self._argv(templates, variables)
            _run(argv, self.file.folder, FORMAT_WITHIN, f"the command of `format` for {node.name}")

    def command(self, node: Node, installation: Installation) -> Command:
        if node.is_zookeeper:
            return self._servers.command(node, installation)
        variables = self._variables(node, installation)
        log = installation.nodes.parent / "logs" / f"{node.name}.log"
        self._logs[node.name] = (log, log.stat().st_size if log.exists() else 0)
        if (service := self.file.services.get(node.name)) is not None:
            return Command(
                self._argv(service.command, variables),
                {name: self._rendered(text, variables) for name, text in service.environment.items()},
            )
        return Command(
            self._argv(self._command_line(node), variables),
            {name: self._rendered(text, variables) for name, text in self._template.environment.items()},
            image=self._template.image,
            hosts=installation.hosts(node) if self._template.names == "mount" else None,
        )

    def unready(self, nodes: Collection[Node], installation: Installation) -> str | None:
        if silent := unready_servers([node for node in nodes if node.is_zookeeper]):
            return silent
        ready = self._template.ready
        controllers = [node for node in nodes if node.is_controller]
        brokers = [node for node in nodes if node.is_broker]
        if ready.controller == "quorum" and (reason := without_quorum(controllers, installation, ready.metadata_topic)):
            return reason
        if ready.broker == "metadata" and (reason := unlisted_brokers(brokers, installation)):
            return reason
        for node in nodes:
            if node.is_service and (reason := self._silent(node, self.file.services[node.name].ready, installation)):
                return reason
        signs = [(node, ready.controller) for node in controllers] + [(node, ready.broker) for node in brokers]
        return next((reason for node, sign in signs if (reason := self._silent(node, sign, installation))), None)

    def _silent(self, node: Node, sign: str | Line, installation: Installation) -> str | None:
        if isinstance(sign, Line):
            return None if self._said(node, sign) else f"the log of {node.name} has no line like {sign.says!r} yet"
        endpoint = node.endpoint(Listener.CLIENT) if node.is_broker else node.front
        if sign == "port":
            try:
                socket.create_connection(endpoint, ANSWER_WITHIN).close()
            except OSError:
                return f"{node.name} does not listen at {endpoint}"
        if sign == "api-versions":
            reach = round_trip(endpoint, ANSWER_WITHIN, partial(installation.dial, endpoint)).reach
            return None if reach is ProbeResult.ANSWERED else f"{node.name} does not answer ApiVersions at {endpoint}"
        return None

    def _said(self, node: Node, line: Line) -> bool:
        log, begin = self._logs.get(node.name) or next(iter(self._logs.values()))  # of brokers that are one process
        if not log.exists():
            return False
        with log.open("rb") as file:
            file.seek(begin)
            return any(re.search(line.says, output.decode(errors="replace")) for output in file)

    def _command_line(self, node: Node) -> Sequence[str]:
        command = self._template.command
        if not node.is_broker:
            assert command.controller is not None, "the registry refuses such a file"
            return command.controller
        return command.combined or command.broker if node.is_controller else command.broker

    def _argv(self, templates: Iterable[str], variables: Mapping[str, Any]) -> list[str]:
        """Return a command line. A program that is named by a relative path is in the folder of the target file."""
        program, *arguments = (self._rendered(template, variables) for template in templates)
        if "/" in program and not self._template.image:
            program = str(self.file.folder / program)
        return [program, *arguments]

    def _rendered(self, text: str, variables: Mapping[str, Any]) -> str:
        try:
            return environment(self.file.folder).from_string(text).render(variables)
        except TemplateError as error:
            raise UsageError(f"a template of the target file of {self.file.name} fails: {error}: {text!r}") from error

    def _variables(self, node: Node, installation: Installation) -> dict[str, Any]:
        layout = installation.layout

        def reached(peers: Iterable[Node]) -> list[dict[str, Any]]:
            return [
                {
                    "id": peer.id,
                    "name": peer.name,
                    "address": _host(layout, node, peer),
                }
                for peer in peers
                if peer.duplicate_of is None
            ]

        return {
            "name": node.name,
            "id": node.id,
            "roles": sorted(node.roles),
            "level": node.level,
            "address": node.address,
            "peer_port": node.front.port,
            "client_port": CLIENT_PORT,
            "advertised_client": _advertised(layout, node.name) if node.is_broker else "",
            "listeners": listeners.listeners(node),
            "advertised_listeners": listeners.advertised_listeners(node, layout),
            "voters": listeners.voters(layout),
            "controllers": reached(layout.controllers),
            "brokers": [
                {
                    **peer,
                    "own_address": layout.node(peer["name"]).address,
                    "advertised_client": _advertised(layout, peer["name"]),
                }
                for peer in reached(layout.brokers)
            ],
            "zookeepers": reached(layout.zookeepers),
            "zookeeper_connect": connect(layout),
            "services": {
                peer.name: {"host": _host(layout, node, peer), "port": peer.front.port}
                for peer in layout.nodes
                if peer.is_service
            },
            "home": installation.home(node),
            "properties": installation.properties(node),
            "data": installation.data(node),
            "log_dirs": list(map(str, installation.log_dirs(node))),
            "hosts": installation.hosts(node),
            "cluster_id": installation.cluster_id,
            "timing": installation.timing.model_dump(),
            "settings": self.file.properties(node, installation.timing),
            "folder": self.file.folder,
            "version": self.version,
            "security": installation.security,
            "keystore": installation.home(node) / KEYSTORE,
            "truststore": installation.home(node) / TRUSTSTORE,
            "users": PASSWORDS,
            "python": sys.executable,
        }

    @cached_property
    def _servers(self) -> ZooKeeperServers:
        return ZooKeeperServers(zookeeper_jars())


def _advertised(layout: Layout, name: str) -> str:
    """Return the `host:port` that a broker tells clients."""
    return str(layout.link(SITE_PREFIX + MAIN_SITE, name).listen)


def _host(layout: Layout, node: Node, peer: Node) -> str:
    """Return the address at which a node reaches a peer, or itself. A service reaches none."""
    if peer.name == node.name or node.is_service:
        return peer.address
    return layout.link(node.name, peer.name).listen.host


def _run(argv: Sequence[str], folder: Path, seconds: int, what: str) -> None:
    """Run a command in a folder. InfrastructureError with its last lines if it fails, or does not end in time."""
    try:
        done = subprocess.run(
            argv, cwd=folder, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise InfrastructureError(f"{what} did not end within {seconds} s: {' '.join(argv)}") from None
    except OSError as error:
        raise InfrastructureError(f"{what} could not be run: {error}") from error
    if done.returncode != 0:
        output = (done.stderr.strip() or done.stdout.strip())[-2000:]
        raise InfrastructureError(f"{what} ended with {done.returncode}: {' '.join(argv)}\n{output}")
