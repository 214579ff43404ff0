"""A property file as the configuration of a node: the design that it names, and the keys that this design has."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from pathlib import Path

from fencepost.cluster_impl.config import values
from fencepost.cluster_impl.config.nodes import (
    BrokerNodeConfig,
    LeaderDrivenNodeConfig,
    NodeConfig,
    QuorumBrokerNodeConfig,
    QuorumCombinedNodeConfig,
    QuorumControllerNodeConfig,
    ZkControllerNodeConfig,
)
from fencepost.cluster_impl.config.properties import parse_properties
from fencepost.cluster_impl.config.security import JAAS_HELP, JAAS_KEY_FORM, is_jaas_key
from fencepost.cluster_impl.config.table import ConfigError, Key, Table, ValueType
from fencepost.cluster_impl.config.zookeeper import ZooKeeperConfig


class ReplicationDesign(Enum):
    """The design of a node that runs with ZooKeeper."""

    CONTROLLER = "controller"
    """One broker, elected controller, decides for all."""
    LEADER_DRIVEN = "leader-driven"
    """Each leader decides for its partition; there is no controller."""


BOTH_ROLES = "broker,controller"
_QUORUM_NODES: Mapping[str, type[NodeConfig]] = {
    "controller": QuorumControllerNodeConfig,
    "broker": QuorumBrokerNodeConfig,
    BOTH_ROLES: QuorumCombinedNodeConfig,
}
_ZOOKEEPER_NODES: Mapping[ReplicationDesign, type[NodeConfig]] = {
    ReplicationDesign.CONTROLLER: ZkControllerNodeConfig,
    ReplicationDesign.LEADER_DRIVEN: LeaderDrivenNodeConfig,
}


def _parse_role(text: str) -> str:
    role = ",".join(sorted(values.items(text)))
    if role not in _QUORUM_NODES:
        raise ValueError(f"must be controller, broker or {BOTH_ROLES}")
    return role


PROCESS_ROLES = Key(
    "process.roles",
    ValueType(f"controller, broker or {BOTH_ROLES}", _parse_role),
    "The roles of this process in the design quorum. Without it the node is a broker that runs with ZooKeeper.",
    is_required=False,
)
REPLICATION_DESIGN = Key(
    "replication.design",
    values.one_of(ReplicationDesign),
    "The design of a node without process.roles: one elected broker decides on leaders and replicas, or each leader.",
    default="controller",
)


def load_config(path: Path) -> NodeConfig:
    """Read a property file. Raises ConfigError."""
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
    """Return the configuration of the node that these keys and values describe. Raises ConfigError."""
    keys = _known_keys()
    for name in properties:
        if name not in keys and not is_jaas_key(name):
            nearest = difflib.get_close_matches(name, [*keys, JAAS_KEY_FORM], n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else "`--help` lists all keys."
            raise ConfigError(f"unknown key {name}: {hint}")
    node = _node_of(properties)
    for name, text in properties.items():
        if name in keys:
            keys[name].parse(text)  # also of keys that this node has no use for
    return node.from_properties(properties)


def _node_of(properties: Mapping[str, str]) -> type[NodeConfig]:
    """Choose the table of the node. Raises ConfigError for a key that only other designs have."""
    role = PROCESS_ROLES.value(properties)
    if role is not None:
        _refuse(properties, {REPLICATION_DESIGN.name, *_only_with_zookeeper()}, "without process.roles")
        return _QUORUM_NODES[role]
    _refuse(properties, _only_with_quorum(), "with process.roles")
    design: ReplicationDesign = REPLICATION_DESIGN.value(properties)
    for other, node in _ZOOKEEPER_NODES.items():
        if other is not design:
            foreign = _names(node) - _names(_ZOOKEEPER_NODES[design])
            _refuse(properties, foreign, f"with replication.design={other.value}")
    return _ZOOKEEPER_NODES[design]


def _refuse(properties: Mapping[str, str], foreign: Collection[str], which: str) -> None:
    for name in properties:
        if name in foreign:
            raise ConfigError(f"the key {name} is one of nodes {which}, which this node is not.")


def _names(*tables: type[Table]) -> set[str]:
    return {key.name for table in tables for key in table.all_keys()}


def _only_with_zookeeper() -> set[str]:
    return _names(*_ZOOKEEPER_NODES.values()) - _names(BrokerNodeConfig)


def _only_with_quorum() -> set[str]:
    return _names(*_QUORUM_NODES.values()) - _names(BrokerNodeConfig)


def _known_keys() -> dict[str, Key]:
    tables = (*_QUORUM_NODES.values(), *_ZOOKEEPER_NODES.values())
    return {
        key.name: key for key in (PROCESS_ROLES, REPLICATION_DESIGN, *(k for table in tables for k in table.all_keys()))
    }


_SECTIONS: tuple[tuple[str, Sequence[Key]], ...] = (
    ("design and role", (PROCESS_ROLES, REPLICATION_DESIGN)),
    ("every node", tuple(NodeConfig.all_keys())),
    ("brokers", tuple(BrokerNodeConfig.all_keys())),
    ("the design quorum (process.roles is given)", tuple(QuorumBrokerNodeConfig.all_keys())),
    ("controllers of the design quorum (process.roles=controller)", tuple(QuorumControllerNodeConfig.all_keys())),
    (f"both in one process (process.roles={BOTH_ROLES})", tuple(QuorumCombinedNodeConfig.all_keys())),
    ("brokers with ZooKeeper (process.roles is not given)", tuple(ZooKeeperConfig.all_keys())),
    ("replication.design=controller", tuple(ZkControllerNodeConfig.all_keys())),
    ("replication.design=leader-driven", tuple(LeaderDrivenNodeConfig.all_keys())),
)
"""Title and keys; a key is shown in the first section that has it."""


def describe_keys() -> str:
    """Return the tables that `--help` shows: each key once, with its unit or form, its default and its document."""
    shown: set[str] = set()
    lines = []
    for title, keys in _SECTIONS:
        lines.append(f"\n{title}:")
        for key in keys:
            if key.name not in shown:
                lines.append(key.help())
                shown.add(key.name)
        if title == "every node":
            lines.append(JAAS_HELP)
    return "\n".join(lines)
