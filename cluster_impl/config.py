"""The configuration of one node: Kafka's and KIP-631's names, one typed table.

Each field of `NodeConfig` is one key of the property file; its annotation holds the key's name, the function that
reads its value, who requires it, and the sentence that `--help` shows. Keys that only nodes with ZooKeeper have, and
those that concern security, have tables of their own. Durations are written in milliseconds and held in seconds.
Whatever is wrong with a file raises `ConfigError` with one sentence that says what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cluster_impl import config_values as read
from cluster_impl.config_keys import ALL, BROKER, CONTROLLER, LEGACY, QUORUM, ConfigError, Key, keys_of, values_of
from cluster_impl.config_leader_driven import LeaderDrivenConfig, leader_driven_config
from cluster_impl.config_security import JAAS_KEY, SecurityConfig, is_jaas_key, jaas_texts
from cluster_impl.config_values import Listener, Role, Voter
from cluster_impl.config_zookeeper import ZooKeeperConfig
from cluster_impl.properties import parse_properties

__all__ = ["ConfigError", "NodeConfig", "config_from", "describe_keys", "load_config"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """What one node runs with."""

    role: Annotated[
        Role,
        Key(
            "process.roles",
            read.role,
            "The role of this process: controller or broker. Without it the node is a broker that runs with ZooKeeper.",
            absent=Role.LEGACY,
        ),
    ]
    controller_id: Annotated[
        int,
        Key(
            "controller.id",
            read.integer(0),
            "This controller's node id; brokers and controllers share one id space.",
            required_of=CONTROLLER,
            absent=-1,
            concerns=QUORUM,
        ),
    ]
    broker_id: Annotated[
        int,
        Key(
            "broker.id",
            read.integer(0),
            "This broker's node id; brokers and controllers share one id space.",
            required_of=BROKER | LEGACY,
            absent=-1,
        ),
    ]
    cluster_id: Annotated[
        str,
        Key(
            "cluster.id",
            read.text,
            "The id of the cluster, the same for every node.",
            required_of=QUORUM,
            absent="",
            concerns=QUORUM,
        ),
    ]
    voters: Annotated[
        tuple[Voter, ...],
        Key(
            "controller.connect",
            read.voters,
            "The controllers, as id@host:port, separated by commas.",
            required_of=QUORUM,
            absent=(),
            concerns=QUORUM,
        ),
    ]
    controller_listeners: Annotated[
        tuple[str, ...],
        Key(
            "controller.listeners",
            read.names,
            "The name of the listener that controllers use.",
            required_of=CONTROLLER,
            absent=(),
            concerns=QUORUM,
        ),
    ]
    listeners: Annotated[
        tuple[Listener, ...],
        Key("listeners", read.listeners, "The sockets to listen on, as NAME://host:port.", required_of=ALL),
    ]
    advertised_listeners: Annotated[
        tuple[Listener, ...],
        Key(
            "advertised.listeners",
            read.listeners,
            "The addresses told to others, by listener name; those of `listeners` where absent.",
            absent=(),
        ),
    ]
    inter_broker_listener: Annotated[
        str,
        Key(
            "inter.broker.listener.name",
            read.text,
            "The listener that brokers use among themselves.",
            default="INTERNAL",
        ),
    ]
    log_dirs: Annotated[
        tuple[Path, ...],
        Key(
            "log.dirs",
            read.directories,
            "The directories that hold all data, separated by commas; exactly one of a controller.",
            required_of=ALL,
        ),
    ]
    hosts_file: Annotated[
        Path | None,
        Key("hosts.file", Path, "A hosts file for this process alone; names that it lacks resolve as usual."),
    ]
    heartbeat_interval: Annotated[
        float,
        Key(
            "registration.heartbeat.interval.ms",
            read.milliseconds,
            "Time between a broker's heartbeats.",
            default="2000",
            concerns=QUORUM,
        ),
    ]
    lease_timeout: Annotated[
        float,
        Key(
            "registration.lease.timeout.ms",
            read.milliseconds,
            "How long a broker's lease lasts without heartbeats.",
            default="20000",
            concerns=QUORUM,
        ),
    ]
    election_timeout: Annotated[
        float,
        Key(
            "controller.quorum.election.timeout.ms",
            read.milliseconds,
            "How long a candidate waits for votes.",
            default="1000",
            concerns=QUORUM,
        ),
    ]
    fetch_timeout: Annotated[
        float,
        Key(
            "controller.quorum.fetch.timeout.ms",
            read.milliseconds,
            "How long a controller waits for its leader, or a leader for its majority, before an election.",
            default="2000",
            concerns=QUORUM,
        ),
    ]
    request_timeout: Annotated[
        float,
        Key(
            "controller.quorum.request.timeout.ms",
            read.milliseconds,
            "How long to wait for a controller's answer.",
            default="2000",
            concerns=QUORUM,
        ),
    ]
    replica_lag_time: Annotated[
        float,
        Key(
            "replica.lag.time.max.ms",
            read.milliseconds,
            "How long a follower may lag before it leaves the ISR.",
            default="30000",
        ),
    ]
    replica_fetch_wait: Annotated[
        float,
        Key(
            "replica.fetch.wait.max.ms",
            read.milliseconds,
            "How long a leader holds a follower's empty fetch.",
            default="500",
        ),
    ]
    replica_fetch_max_bytes: Annotated[
        int,
        Key(
            "replica.fetch.max.bytes",
            read.integer(1),
            "Bytes of one partition in a follower's fetch.",
            default="1048576",
        ),
    ]
    min_insync_replicas: Annotated[
        int,
        Key(
            "min.insync.replicas",
            read.integer(1),
            "ISR members needed for acks=all, where a topic does not say.",
            default="1",
        ),
    ]
    num_partitions: Annotated[
        int, Key("num.partitions", read.integer(1), "Partitions of a topic whose creation does not say.", default="1")
    ]
    default_replication_factor: Annotated[
        int,
        Key(
            "default.replication.factor",
            read.integer(1, 32767),
            "Replicas of a topic whose creation does not say.",
            default="1",
        ),
    ]
    auto_create_topics: Annotated[
        bool,
        Key(
            "auto.create.topics.enable",
            read.boolean,
            "Whether asking for an unknown topic creates it.",
            default="false",
        ),
    ]
    offsets_partitions: Annotated[
        int, Key("offsets.topic.num.partitions", read.integer(1), "Partitions of __consumer_offsets.", default="50")
    ]
    offsets_replication_factor: Annotated[
        int,
        Key("offsets.topic.replication.factor", read.integer(1, 32767), "Replicas of __consumer_offsets.", default="3"),
    ]
    group_initial_rebalance_delay: Annotated[
        float,
        Key(
            "group.initial.rebalance.delay.ms",
            read.milliseconds_or_zero,
            "How long a new group waits for more members before its first rebalance.",
            default="3000",
        ),
    ]
    segment_bytes: Annotated[
        int, Key("log.segment.bytes", read.integer(14), "Size of a log segment file.", default="1073741824")
    ]
    message_max_bytes: Annotated[
        int,
        Key(
            "message.max.bytes", read.integer(1), "Largest record batch, where a topic does not say.", default="1048588"
        ),
    ]
    socket_request_max_bytes: Annotated[
        int, Key("socket.request.max.bytes", read.integer(1), "Largest request frame.", default="104857600")
    ]
    high_watermark_checkpoint_interval: Annotated[
        float,
        Key(
            "replica.high.watermark.checkpoint.interval.ms",
            read.milliseconds,
            "Time between writes of the high watermark checkpoint.",
            default="5000",
        ),
    ]

    zookeeper: ZooKeeperConfig | None
    """Of a node without process.roles."""
    leader_driven: LeaderDrivenConfig | None
    """Of a node without process.roles in a cluster without controller."""
    security: SecurityConfig

    @property
    def log_dir(self) -> Path:
        """The one directory of a node that has no more."""
        return self.log_dirs[0]

    @property
    def node_id(self) -> int:
        return self.controller_id if self.role is Role.CONTROLLER else self.broker_id

    def advertised(self) -> tuple[Listener, ...]:
        """Every listener under the address that others should use."""
        named = {listener.name: listener for listener in self.advertised_listeners}
        return tuple(named.get(listener.name, listener) for listener in self.listeners)


_TABLES = (NodeConfig, ZooKeeperConfig, LeaderDrivenConfig, SecurityConfig)


def load_config(path: Path) -> NodeConfig:
    """Read a property file. Raises `ConfigError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text.") from error
    try:
        return config_from(parse_properties(text))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def config_from(properties: Mapping[str, str]) -> NodeConfig:
    """The configuration that these keys and values describe. Raises `ConfigError`."""
    known = {key.name for table in _TABLES for key in keys_of(table).values()}
    for name in properties:
        if name not in known and not is_jaas_key(name):
            nearest = difflib.get_close_matches(name, [*known, JAAS_KEY], n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else "`--help` lists all keys."
            raise ConfigError(f"unknown key {name}: {hint}")
    role_key = keys_of(NodeConfig)["role"]
    role: Role = role_key.value(properties.get(role_key.name), Role.LEGACY)
    zookeeper = ZooKeeperConfig(**values_of(ZooKeeperConfig, properties, role))
    config = NodeConfig(
        **values_of(NodeConfig, properties, role),
        zookeeper=zookeeper if role is Role.LEGACY else None,
        leader_driven=leader_driven_config(properties, role, zookeeper.design),
        security=SecurityConfig(**values_of(SecurityConfig, properties, role), jaas=jaas_texts(properties)),
    )
    _check(config)
    return config


def _check(config: NodeConfig) -> None:
    """The rules that concern more than one key."""
    names = {listener.name for listener in config.listeners}
    voter_ids = {voter.id for voter in config.voters}
    if config.role is Role.CONTROLLER:
        if config.controller_id not in voter_ids:
            raise ConfigError(f"controller.connect does not name controller.id={config.controller_id}, this node.")
        if set(config.controller_listeners) != names:
            raise ConfigError("controller.listeners must name exactly the listeners of this controller.")
        if len(config.log_dirs) > 1:
            raise ConfigError("log.dirs must name exactly one directory: a controller keeps one log.")
    else:
        if config.broker_id in voter_ids:
            raise ConfigError(f"broker.id={config.broker_id} is also the id of a controller: node ids are one space.")
        if config.inter_broker_listener not in names:
            raise ConfigError(f"inter.broker.listener.name={config.inter_broker_listener} is not among the listeners.")
    for listener in config.advertised_listeners:
        if listener.name not in names:
            raise ConfigError(f"advertised.listeners names {listener.name}, which is not among the listeners.")
    if config.heartbeat_interval >= config.lease_timeout:
        raise ConfigError(
            "registration.heartbeat.interval.ms must be shorter than registration.lease.timeout.ms: "
            "a lease would end between two heartbeats."
        )
    if config.zookeeper is not None:
        config.zookeeper.check()
    if config.leader_driven is not None:
        config.leader_driven.check()
    config.security.check(frozenset({*names, *config.controller_listeners}))


def describe_keys() -> str:
    """The table that `--help` shows: key, default or who requires it, meaning."""
    jaas = f"  {JAAS_KEY} (required of a listener with SASL_PLAINTEXT)\n      Who this node is, and who may log in."
    return "\n".join([*(key.described() for table in _TABLES for key in keys_of(table).values()), jaas])
