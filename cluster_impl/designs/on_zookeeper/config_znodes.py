"""The znodes with settings, and the notifications of changed ones, in the format of Kafka 3.9 (decision 0061)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from fencepost.cluster_impl.designs.on_zookeeper.document import Document
from fencepost.cluster_impl.designs.on_zookeeper.znodes import to_json

TOPIC_CONFIGS = "/config/topics"
BROKER_CONFIGS = "/config/brokers"
CONFIG_CHANGES = "/config/changes"

CONFIG_CHANGE_PREFIX = f"{CONFIG_CHANGES}/config_change_"
"""Prefix of the sequential znodes that are notifications."""

ROOTS: Final[Sequence[str]] = ("/config", TOPIC_CONFIGS, BROKER_CONFIGS, CONFIG_CHANGES)
"""Persistent znodes without data that the other paths need, each after its parent."""

DEFAULT_ENTITY = "<default>"
"""The child of /config/brokers with the settings of all brokers."""


def topic_config(name: str) -> str:
    return f"{TOPIC_CONFIGS}/{name}"


def config_entity(of_topic: bool, name: str) -> str:
    """Return the entity whose settings a notification names. Of brokers, the empty name means all."""
    return f"topics/{name}" if of_topic else f"brokers/{name or DEFAULT_ENTITY}"


def config(of_topic: bool, name: str) -> str:
    """Return the path of the settings of a topic, of one broker, or of all brokers (the empty name)."""
    return f"/config/{config_entity(of_topic, name)}"


def write_config(settings: Mapping[str, str]) -> bytes:
    return to_json({"version": 1, "config": dict(settings)})


def read_config(path: str, data: bytes) -> dict[str, str]:
    """Return the settings of a topic or of brokers. Raises MalformedZnode."""
    return {key: str(value) for key, value in Document.parse(path, data, 1).mapping("config").items()}


def read_topic_config(name: str, data: bytes) -> dict[str, str]:
    return read_config(topic_config(name), data)


def write_config_change(entity: str) -> bytes:
    return to_json({"version": 2, "entity_path": entity})


def read_config_change(path: str, data: bytes) -> str:
    """Return the entity whose settings have changed: `topics/t`, `brokers/4`. Raises MalformedZnode."""
    return Document.parse(path, data, 2).text("entity_path")
