"""A broker around its control plane: the log dirs, replicas, client APIs, listeners and metrics of each design."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fencepost.cluster_impl.api.apis import BrokerApis
from fencepost.cluster_impl.api.authorization.guard import authorized
from fencepost.cluster_impl.api.fetch_sessions import FetchSessions
from fencepost.cluster_impl.config.nodes import BrokerNodeConfig
from fencepost.cluster_impl.designs.shared.node_shell import NodeShell
from fencepost.cluster_impl.metrics.samples import Sample
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.metrics import replica_samples
from fencepost.cluster_impl.replication.rules import KIP_101, Rules
from fencepost.cluster_impl.security.access_control import Entries
from fencepost.cluster_impl.security.cluster_action import require_cluster_action
from fencepost.cluster_impl.security.configured import access_control_of, authorizer_of
from fencepost.cluster_impl.storage.directory import Owner
from fencepost.cluster_impl.storage.log_dirs import LogDirs
from fencepost.cluster_impl.wire.registry import KAFKA, Registry
from fencepost.cluster_impl.wire.server import FeatureReport, Handler


@dataclass(frozen=True, kw_only=True)
class DesignApis:
    """The APIs of a design: `clients` are served on every listener, `brokers` only on that between brokers.

    A handler of the design takes the place of the one in `BrokerApis`.
    """

    client_registry: Registry
    broker_registry: Registry
    clients: Mapping[int, Handler]
    brokers: Mapping[int, Handler]
    features: Callable[[], FeatureReport] | None = None


class BrokerShell(NodeShell):
    """Used in this order: `open_log_dirs`, `make_replicas`, `start`. The design starts after that, and closes before.

    `entries` returns the access control entries of the cluster, in designs that keep them.
    """

    replicas: ReplicaManager

    def __init__(self, config: BrokerNodeConfig, entries: Callable[[], Entries] = dict) -> None:
        super().__init__(config)
        self._config = config
        self._access = access_control_of(config.security, entries)
        self._authorizer = self._access or authorizer_of(config.security)

    def open_log_dirs(self, cluster_id: str, owner: Owner) -> LogDirs:
        """Open the log dirs. Raises LogDirError with a message."""
        self._log_dirs = LogDirs.open(self._config.log_dirs, cluster_id, self._config.broker_id, owner)
        self.closing.callback(self._log_dirs.close)
        return self._log_dirs

    def make_replicas(self, control: ControlPlane, rules: Rules = KIP_101) -> ReplicaManager:
        self._control = control
        config = self._config.data_plane
        connect = self.connector(config.inter_broker_listener, KAFKA, f"broker-{self._config.broker_id}-fetcher")
        self.replicas = ReplicaManager(control, config, self._log_dirs, connect, rules)
        return self.replicas

    async def start(self, design: DesignApis) -> None:
        """Start the replicas and open the listeners. Raises OSError with a message."""
        config = self._config
        await self.replicas.start()
        self.closing.push_async_callback(self.replicas.close)
        apis = BrokerApis(
            self._control, self.replicas, config.data_plane, config.settings, keeps_acls=self._access is not None
        )
        self.closing.callback(apis.close)
        sessions = FetchSessions(config.data_plane.fetch_session_slots)
        of_clients = {**apis.handlers, **design.clients}
        clients, brokers = (
            self.server(registry, sessions.among(self._permitted(handlers, design.brokers)), design.features)
            for registry, handlers in (
                (design.client_registry, of_clients),
                (design.broker_registry, {**of_clients, **design.brokers}),
            )
        )
        between = config.data_plane.inter_broker_listener
        await self.listen(lambda listener: brokers if listener == between else clients)

    def _permitted(self, handlers: Mapping[int, Handler], of_brokers: Mapping[int, Handler]) -> Mapping[int, Handler]:
        """Return the handlers, each behind the permission that it needs."""
        permitted = require_cluster_action(handlers, self._authorizer)
        if self._access is None:
            return permitted
        return authorized(permitted, self._access, self.replicas.topic_name, of_brokers)

    def metrics(self) -> Iterable[Sample]:
        return replica_samples(list(self.replicas), serving=self._control.serving())
