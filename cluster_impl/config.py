"""The configuration of one node: Kafka's and KIP-631's names, one typed table.

Each field of `NodeConfig` is one key of the property file; its annotation holds the key's name, the function that
reads its value, who requires it, and the sentence that `--help` shows. Durations are written in milliseconds and held
in seconds. Whatever is wrong with a file raises `ConfigError` with one sentence that says what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from cluster_impl import config_values as read
from cluster_impl.config_values import Listener, Role, Voter
from cluster_impl.properties import parse_properties


class ConfigError(Exception):
    """A configuration that no node can run with. The message is one sentence."""


_BOTH = frozenset(Role)
_CONTROLLER = frozenset({Role.CONTROLLER})
_BROKER = frozenset({Role.BROKER})


@dataclass(frozen=True, slots=True)
class _Key:
    """`default` is text as a file would hold it; `absent` is the value of an optional key that has no default."""

    name: str
    read: Callable[[str], Any]
    about: str
    default: str | None = None
    required_of: frozenset[Role] = frozenset()
    absent: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """What one node runs with."""

    role: Annotated[
        Role, _Key("process.roles", read.role, "The role of this process: controller or broker.", required_of=_BOTH)
    ]
    controller_id: Annotated[
        int,
        _Key(
            "controller.id",
            read.integer(0),
            "This controller's node id; brokers and controllers share one id space.",
            required_of=_CONTROLLER,
            absent=-1,
        ),
    ]
    broker_id: Annotated[
        int,
        _Key(
            "broker.id",
            read.integer(0),
            "This broker's node id; brokers and controllers share one id space.",
            required_of=_BROKER,
            absent=-1,
        ),
    ]
    cluster_id: Annotated[
        str, _Key("cluster.id", read.text, "The id of the cluster, the same for every node.", required_of=_BOTH)
    ]
    voters: Annotated[
        tuple[Voter, ...],
        _Key(
            "controller.connect",
            read.voters,
            "The controllers, as id@host:port, separated by commas.",
            required_of=_BOTH,
        ),
    ]
    controller_listeners: Annotated[
        tuple[str, ...],
        _Key(
            "controller.listeners",
            read.names,
            "The name of the listener that controllers use.",
            required_of=_CONTROLLER,
            absent=(),
        ),
    ]
    listeners: Annotated[
        tuple[Listener, ...],
        _Key("listeners", read.listeners, "The sockets to listen on, as NAME://host:port.", required_of=_BOTH),
    ]
    advertised_listeners: Annotated[
        tuple[Listener, ...],
        _Key(
            "advertised.listeners",
            read.listeners,
            "The addresses told to others, by listener name; those of `listeners` where absent.",
            absent=(),
        ),
    ]
    security_protocols: Annotated[
        tuple[str, ...],
        _Key(
            "listener.security.protocol.map",
            read.security_protocols,
            "Security protocol by listener name: PLAINTEXT only.",
            absent=(),
        ),
    ]
    inter_broker_listener: Annotated[
        str,
        _Key(
            "inter.broker.listener.name",
            read.text,
            "The listener that brokers use among themselves.",
            default="INTERNAL",
        ),
    ]
    log_dir: Annotated[
        Path, _Key("log.dirs", read.one_directory, "The one directory that holds all data.", required_of=_BOTH)
    ]
    hosts_file: Annotated[
        Path | None,
        _Key("hosts.file", Path, "A hosts file for this process alone; names that it lacks resolve as usual."),
    ]
    heartbeat_interval: Annotated[
        float,
        _Key(
            "registration.heartbeat.interval.ms",
            read.milliseconds,
            "Time between a broker's heartbeats.",
            default="2000",
        ),
    ]
    lease_timeout: Annotated[
        float,
        _Key(
            "registration.lease.timeout.ms",
            read.milliseconds,
            "How long a broker's lease lasts without heartbeats.",
            default="20000",
        ),
    ]
    election_timeout: Annotated[
        float,
        _Key(
            "controller.quorum.election.timeout.ms",
            read.milliseconds,
            "How long a candidate waits for votes.",
            default="1000",
        ),
    ]
    fetch_timeout: Annotated[
        float,
        _Key(
            "controller.quorum.fetch.timeout.ms",
            read.milliseconds,
            "How long a controller waits for its leader, or a leader for its majority, before an election.",
            default="2000",
        ),
    ]
    request_timeout: Annotated[
        float,
        _Key(
            "controller.quorum.request.timeout.ms",
            read.milliseconds,
            "How long to wait for a controller's answer.",
            default="2000",
        ),
    ]
    replica_lag_time: Annotated[
        float,
        _Key(
            "replica.lag.time.max.ms",
            read.milliseconds,
            "How long a follower may lag before it leaves the ISR.",
            default="30000",
        ),
    ]
    replica_fetch_wait: Annotated[
        float,
        _Key(
            "replica.fetch.wait.max.ms",
            read.milliseconds,
            "How long a leader holds a follower's empty fetch.",
            default="500",
        ),
    ]
    replica_fetch_max_bytes: Annotated[
        int,
        _Key(
            "replica.fetch.max.bytes",
            read.integer(1),
            "Bytes of one partition in a follower's fetch.",
            default="1048576",
        ),
    ]
    min_insync_replicas: Annotated[
        int,
        _Key(
            "min.insync.replicas",
            read.integer(1),
            "ISR members needed for acks=all, where a topic does not say.",
            default="1",
        ),
    ]
    num_partitions: Annotated[
        int, _Key("num.partitions", read.integer(1), "Partitions of a topic whose creation does not say.", default="1")
    ]
    default_replication_factor: Annotated[
        int,
        _Key(
            "default.replication.factor",
            read.integer(1, 32767),
            "Replicas of a topic whose creation does not say.",
            default="1",
        ),
    ]
    auto_create_topics: Annotated[
        bool,
        _Key(
            "auto.create.topics.enable",
            read.boolean,
            "Whether asking for an unknown topic creates it.",
            default="false",
        ),
    ]
    offsets_partitions: Annotated[
        int, _Key("offsets.topic.num.partitions", read.integer(1), "Partitions of __consumer_offsets.", default="50")
    ]
    offsets_replication_factor: Annotated[
        int,
        _Key(
            "offsets.topic.replication.factor", read.integer(1, 32767), "Replicas of __consumer_offsets.", default="3"
        ),
    ]
    group_initial_rebalance_delay: Annotated[
        float,
        _Key(
            "group.initial.rebalance.delay.ms",
            read.milliseconds_or_zero,
            "How long a new group waits for more members before its first rebalance.",
            default="3000",
        ),
    ]
    segment_bytes: Annotated[
        int, _Key("log.segment.bytes", read.integer(14), "Size of a log segment file.", default="1073741824")
    ]
    message_max_bytes: Annotated[
        int,
        _Key(
            "message.max.bytes", read.integer(1), "Largest record batch, where a topic does not say.", default="1048588"
        ),
    ]
    socket_request_max_bytes: Annotated[
        int, _Key("socket.request.max.bytes", read.integer(1), "Largest request frame.", default="104857600")
    ]
    high_watermark_checkpoint_interval: Annotated[
        float,
        _Key(
            "replica.high.watermark.checkpoint.interval.ms",
            read.milliseconds,
            "Time between writes of the high watermark checkpoint.",
            default="5000",
        ),
    ]

    @property
    def node_id(self) -> int:
        return self.controller_id if self.role is Role.CONTROLLER else self.broker_id

    def advertised(self) -> tuple[Listener, ...]:
        """Every listener under the address that others should use."""
        named = {listener.name: listener for listener in self.advertised_listeners}
        return tuple(named.get(listener.name, listener) for listener in self.listeners)


def _keys() -> dict[str, tuple[str, _Key]]:
    """Key name to the attribute of `NodeConfig` that holds it, and what is known about the key."""
    hints = get_type_hints(NodeConfig, include_extras=True)
    return {key.name: (attribute, key) for attribute, hint in hints.items() for key in hint.__metadata__}


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
    keys = _keys()
    for name in properties:
        if name not in keys:
            nearest = difflib.get_close_matches(name, keys, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else "`--help` lists all keys."
            raise ConfigError(f"unknown key {name}: {hint}")
    role_key = keys["process.roles"][1]
    role = _value(role_key, properties.get(role_key.name), None)
    config = NodeConfig(**{name: _value(key, properties.get(key.name), role) for name, key in keys.values()})
    _check(config)
    return config


def _value(key: _Key, given: str | None, role: Role | None) -> Any:
    text = given if given is not None else key.default
    if text is None:
        if role in key.required_of or role is None:
            raise ConfigError(f"the key {key.name} is missing: {key.about}")
        return key.absent
    try:
        return key.read(text.strip())
    except ValueError as error:
        raise ConfigError(f"{key.name}={text} {error}.") from None


def _check(config: NodeConfig) -> None:
    """The rules that concern more than one key."""
    names = {listener.name for listener in config.listeners}
    voter_ids = {voter.id for voter in config.voters}
    if config.role is Role.CONTROLLER:
        if config.controller_id not in voter_ids:
            raise ConfigError(f"controller.connect does not name controller.id={config.controller_id}, this node.")
        if set(config.controller_listeners) != names:
            raise ConfigError("controller.listeners must name exactly the listeners of this controller.")
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


def describe_keys() -> str:
    """The table that `--help` shows: key, default or who requires it, meaning."""
    lines = []
    for _, key in _keys().values():
        needed_by = " and ".join(sorted(role.value for role in key.required_of))
        note = f"default {key.default}" if key.default else f"required of a {needed_by}" if needed_by else "optional"
        lines.append(f"  {key.name} ({note})\n      {key.about}")
    return "\n".join(lines)
