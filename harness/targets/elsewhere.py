"""The driver of a cluster that runs elsewhere: it configures and starts nothing, and knows how its brokers are reached.

Their addresses are those that Metadata advertises, so that clients and probes reach them as any other client does.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from fencepost.harness.clients.login import Access, Credentials, connect
from fencepost.harness.clients.raw import NoAnswer
from fencepost.harness.clients.settings import ClientSettings
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.layout import Node
from fencepost.harness.plan.requests.metadata import request_metadata
from fencepost.harness.processes.command import Command
from fencepost.harness.targets.certificates import trusting
from fencepost.harness.targets.consent import check_consent, consented
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.identity import IdKeys
from fencepost.harness.targets.readiness import unlisted_brokers
from fencepost.harness.targets.running import Running
from fencepost.harness.targets.target import Installation, Reached

ASK_SECONDS = 5.0


@dataclass(frozen=True)
class Found:
    """A cluster, as the first of its bootstrap servers that answers describes it."""

    cluster_id: str
    brokers: Mapping[int, Endpoint]


class Elsewhere:
    """Implements `Target`."""

    ids = IdKeys("node.id", ())

    def __init__(self, file: TargetFile, version: str) -> None:
        file.check_release(version)
        self.file = file
        self.version = version

    @property
    def running(self) -> Running:
        assert self.file.running is not None, "the registry gives no other file to this driver"
        return self.file.running

    def prepare(self) -> None:
        pass

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        return {}

    def files(self, node: Node, installation: Installation) -> Mapping[str, str]:
        return {}

    def format(self, node: Node, installation: Installation) -> None:
        pass

    def command(self, node: Node, installation: Installation) -> Command:
        return Command(())

    def unready(self, nodes: Collection[Node], installation: Installation) -> str | None:
        return unlisted_brokers(nodes, installation)

    @property
    def reached(self) -> Reached:
        """How clients connect. Raise UsageError as `access`."""
        return Reached(self.access, self.client_settings)

    @cached_property
    def access(self) -> Access:
        """How a connection to a broker is opened. UsageError if the password or the authorities are not there."""
        security = self.running.security
        login = None
        if security.mechanism is not None:
            login = Credentials(security.user or "", self._password, security.mechanism)
        return Access(login, self._tls if security.has_tls else None)

    @property
    def _tls(self) -> ssl.SSLContext:
        security = self.running.security
        if security.ca is None:
            return ssl.create_default_context()
        try:
            return trusting(self.file.folder / security.ca)
        except OSError as error:
            raise UsageError(f"the authorities `ca` of {self.file.name} cannot be read: {error}") from None

    @property
    def _password(self) -> str:
        variable = self.running.security.password_from or ""
        if (password := os.environ.get(variable)) is None:
            raise UsageError(f"{self.file.name} takes its password from ${variable}, which is not set")
        return password

    @property
    def client_settings(self) -> ClientSettings:
        """The security of confluent-kafka's clients."""
        security = self.running.security
        settings: ClientSettings = {"security.protocol": security.protocol}
        if security.has_tls and security.ca is not None:
            settings["ssl.ca.location"] = str(self.file.folder / security.ca)
        if security.mechanism is not None:
            settings["sasl.mechanism"] = security.mechanism
            settings |= {"sasl.username": security.user, "sasl.password": self._password}
        return settings

    def described(self) -> Found:
        """Ask the cluster, by one request, for its id and the addresses of its brokers.

        UsageError without the consent of its owner: nothing is sent then. InfrastructureError if it is not the cluster
        that the owner named, or does not answer.
        """
        consented(self.file.name)
        found = self._first_answer()
        check_consent(self.file.name, found.cluster_id)
        return found

    def find(self) -> Found:
        """Return the same. InfrastructureError, too, if it has other brokers than the target file says."""
        found = self.described()
        if missing := sorted(set(self.file.brokers.ids) - found.brokers.keys()):
            raise InfrastructureError(
                f"{self.file.name} lists the brokers {', '.join(map(str, sorted(found.brokers)))}, and its target file "
                f"says {', '.join(map(str, missing))} as well: write those that are there into `brokers: ids`"
            )
        return found

    def _first_answer(self) -> Found:
        unanswered = []
        for endpoint in self.running.endpoints:
            try:
                with connect(endpoint, ASK_SECONDS, self.access) as connection:
                    answer = request_metadata(connection, ())
            except NoAnswer as error:
                unanswered.append(str(error))
                continue
            brokers = {int(each.node_id): Endpoint(each.host, each.port) for each in answer.brokers}
            return Found(getattr(answer, "cluster_id", None) or self.file.name, brokers)
        raise InfrastructureError(f"no bootstrap server of {self.file.name} answers: {'; '.join(unanswered)}")
