"""The configuration of one node, by its design and role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from fencepost.cluster_impl.config import values
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig, TopicDefaults
from fencepost.cluster_impl.config.leader_driven import LeaderDrivenConfig
from fencepost.cluster_impl.config.quorum import QuorumConfig
from fencepost.cluster_impl.config.security import SecurityConfig
from fencepost.cluster_impl.config.settings import Setting, settings_of
from fencepost.cluster_impl.config.table import ConfigError, Table, key, subtable
from fencepost.cluster_impl.config.values import HostPort, Listener
from fencepost.cluster_impl.config.zk_controller import ZkControllerConfig
from fencepost.cluster_impl.config.zookeeper import ZooKeeperConfig


@dataclass(frozen=True, kw_only=True)
class NodeConfig(Table):
    """The keys of every node."""

    listeners: tuple[Listener, ...] = key("listeners", values.LISTENERS, "The sockets to listen on.")
    advertised_listeners: tuple[Listener, ...] | None = key(
        "advertised.listeners",
        values.LISTENERS,
        "The addresses for other nodes and clients, by listener name; those of `listeners` where absent.",
        optional=True,
    )
    log_dirs: tuple[Path, ...] = key(
        "log.dirs",
        values.DIRECTORIES,
        "The directories that hold all data; a node of the design quorum has exactly one.",
    )
    hosts_file: Path | None = key(
        "hosts.file",
        values.FILE,
        "A hosts file for this process alone; other names resolve as usual.",
        optional=True,
    )
    max_request_bytes: int = key(
        "socket.request.max.bytes", values.size(1), "Largest request frame.", default="104857600"
    )
    metrics_listener: HostPort | None = key(
        "metrics.listener",
        values.ADDRESS,
        "The address at which this node answers GET requests with its metrics, for Prometheus.",
        optional=True,
    )
    security: SecurityConfig = subtable(SecurityConfig)
    settings: tuple[Setting, ...] = ()
    """All keys of this node with the texts of its property file."""

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        return replace(super().from_properties(properties), settings=tuple(settings_of(cls, properties)))

    @property
    def node_id(self) -> int:
        raise NotImplementedError

    @property
    def listener_names(self) -> frozenset[str]:
        return frozenset(listener.name for listener in self.listeners)

    def advertised(self) -> tuple[Listener, ...]:
        """Return every listener under the address that other nodes and clients use."""
        named = {listener.name: listener for listener in self.advertised_listeners or ()}
        return tuple(named.get(listener.name, listener) for listener in self.listeners)

    def check(self) -> None:
        for listener in self.advertised_listeners or ():
            if listener.name not in self.listener_names:
                raise ConfigError(f"advertised.listeners names {listener.name}, which is not among the listeners.")
        self.security.check_listeners(self.listener_names | self._listeners_elsewhere())

    def _listeners_elsewhere(self) -> frozenset[str]:
        """Return the names of listeners of other nodes at which this node logs in."""
        return frozenset()


_CONTROLLER_ID = "This controller's node id; brokers and controllers share one id space."


def _check_controller(quorum: QuorumConfig) -> None:
    if not quorum.controller_listeners:
        raise ConfigError("the key controller.listeners is missing: The name of the listener that controllers use.")


@dataclass(frozen=True, kw_only=True)
class QuorumControllerNodeConfig(NodeConfig):
    """A controller of the design `quorum`."""

    controller_id: int = key("controller.id", values.NODE_ID, _CONTROLLER_ID)
    quorum: QuorumConfig = subtable(QuorumConfig)
    topics: TopicDefaults = subtable(TopicDefaults)

    @property
    def node_id(self) -> int:
        return self.controller_id

    @property
    def log_dir(self) -> Path:
        return self.log_dirs[0]

    def check(self) -> None:
        _check_controller(self.quorum)
        if set(self.quorum.controller_listeners) != self.listener_names:
            raise ConfigError("controller.listeners must name exactly the listeners of this controller.")
        if len(self.log_dirs) > 1:
            raise ConfigError("log.dirs must name exactly one directory: a controller keeps one log.")
        super().check()

    def _listeners_elsewhere(self) -> frozenset[str]:
        return frozenset(self.quorum.controller_listeners)


@dataclass(frozen=True, kw_only=True)
class BrokerNodeConfig(NodeConfig):
    """A broker of any design."""

    broker_id: int = key(
        "broker.id", values.NODE_ID, "This broker's node id; brokers and controllers share one id space."
    )
    rack: str | None = key(
        "broker.rack",
        values.NAME,
        "The rack of this broker: clients see it and may read from it; quorum spreads new replicas over racks.",
        optional=True,
    )
    data_plane: DataPlaneConfig = subtable(DataPlaneConfig)

    @property
    def node_id(self) -> int:
        return self.broker_id

    def check(self) -> None:
        inter_broker = self.data_plane.inter_broker_listener
        if inter_broker not in self.listener_names:
            raise ConfigError(f"inter.broker.listener.name={inter_broker} is not among the listeners.")
        super().check()


@dataclass(frozen=True, kw_only=True)
class QuorumBrokerNodeConfig(BrokerNodeConfig):
    quorum: QuorumConfig = subtable(QuorumConfig)

    def check(self) -> None:
        if self.broker_id in self.quorum.voter_ids:
            raise ConfigError(f"broker.id={self.broker_id} is also the id of a controller: node ids are one space.")
        if len(self.log_dirs) > 1:
            raise ConfigError(
                "log.dirs must name exactly one directory: a broker of this design has no request that reports "
                "the failure of one of several."
            )
        super().check()

    def _listeners_elsewhere(self) -> frozenset[str]:
        return frozenset(self.quorum.controller_listeners)


@dataclass(frozen=True, kw_only=True)
class QuorumCombinedNodeConfig(QuorumBrokerNodeConfig):
    """A broker and a controller in one process, with two ids and listeners of their own (KIP-631, Nodes)."""

    controller_id: int = key("controller.id", values.NODE_ID, _CONTROLLER_ID)
    metadata_log_dir: Path = key(
        "metadata.log.dir",
        values.FILE,
        "The directory of the controller's log, in a process that is a broker as well.",
    )
    topics: TopicDefaults = subtable(TopicDefaults)

    @property
    def broker(self) -> QuorumBrokerNodeConfig:
        """Return the configuration of the broker: all but the controllers' listeners."""
        names = self.listener_names - set(self.quorum.controller_listeners)
        return QuorumBrokerNodeConfig(**self._part(QuorumBrokerNodeConfig, names))

    @property
    def controller(self) -> QuorumControllerNodeConfig:
        """Return the configuration of the controller: the controllers' listeners, and its own directory."""
        names = frozenset(self.quorum.controller_listeners)
        part = self._part(QuorumControllerNodeConfig, names) | {"log_dirs": (self.metadata_log_dir,)}
        return QuorumControllerNodeConfig(**part)

    def _part(self, table: type[NodeConfig], names: frozenset[str]) -> dict[str, Any]:
        part = {column.name: getattr(self, column.name) for column in fields(table)}
        for key_name in ("listeners", "advertised_listeners"):
            listeners = part[key_name]
            part[key_name] = (
                None if listeners is None else tuple(listener for listener in listeners if listener.name in names)
            )
        return part

    def check(self) -> None:
        _check_controller(self.quorum)
        controllers = set(self.quorum.controller_listeners)
        if missing := sorted(controllers - self.listener_names):
            raise ConfigError(f"controller.listeners names {missing[0]}, which is not among the listeners.")
        if self.data_plane.inter_broker_listener in controllers:
            raise ConfigError(
                f"inter.broker.listener.name={self.data_plane.inter_broker_listener} is a listener of controllers: "
                "the broker needs one of its own."
            )
        if self.metadata_log_dir in self.log_dirs:
            raise ConfigError(f"metadata.log.dir={self.metadata_log_dir} is also in log.dirs: name another directory.")
        super().check()


@dataclass(frozen=True, kw_only=True)
class ZkControllerNodeConfig(BrokerNodeConfig):
    """A broker of the design `zk-controller`, which may be elected controller."""

    zookeeper: ZooKeeperConfig = subtable(ZooKeeperConfig)
    controller: ZkControllerConfig = subtable(ZkControllerConfig)

    def check(self) -> None:
        _refuse_authorizer(self)
        super().check()


def _refuse_authorizer(config: NodeConfig) -> None:
    if config.security.authorizer is not None:
        raise ConfigError(
            "the key authorizer.class.name has no effect in this design, which keeps no access control entries: set "
            "authorizer.acls."
        )


LAG_LIMIT = "replica.lag.time.max.ms"


@dataclass(frozen=True, kw_only=True)
class LeaderDrivenNodeConfig(BrokerNodeConfig):
    """A broker of the design `leader-driven`."""

    zookeeper: ZooKeeperConfig = subtable(ZooKeeperConfig)
    leader_driven: LeaderDrivenConfig = subtable(LeaderDrivenConfig)

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """KeepInSyncTime is this design's name for the lag limit, and the tick its interval of ISR checks."""
        if LAG_LIMIT in properties:
            raise ConfigError(f"the key {LAG_LIMIT} has no effect in this design: set keep.in.sync.time.ms.")
        node = super().from_properties(properties)
        design = node.leader_driven
        data_plane = replace(node.data_plane, lag_limit=design.keep_in_sync, isr_check_interval=design.tick)
        return replace(node, data_plane=data_plane)

    def check(self) -> None:
        _refuse_authorizer(self)
        super().check()
