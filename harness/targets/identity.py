"""The ids of a node on disk: in its configuration, and in meta.properties of its log directories."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

META_PROPERTIES = "meta.properties"
CLUSTER_ID = "cluster.id"
DIRECTORY_ID = "directory.id"
"""The id of a log directory. Apache Kafka without ZooKeeper has it since 3.7 (KIP-858)."""


@dataclass(frozen=True)
class IdKeys:
    """The keys of a target for a node id: `stored` in META_PROPERTIES, `configured` in a node's configuration."""

    stored: str
    configured: tuple[str, ...]


WITH_ZOOKEEPER = IdKeys("broker.id", ("broker.id",))


def read_properties(path: Path) -> dict[str, str]:
    """Return the properties of a file; empty if it does not exist."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return {}
    pairs = (line.partition("=") for line in lines if not line.startswith("#"))
    return {key.strip(): value.strip() for key, equals, value in pairs if equals}


def change_property(path: Path, key: str, value: str) -> None:
    """Change the value of one key, and leave every other line as it is."""
    lines = path.read_text().splitlines()
    changed = [f"{key}={value}" if line.partition("=")[0].strip() == key else line for line in lines]
    with path.open("w") as file:
        file.write("".join(f"{line}\n" for line in changed))
        file.flush()
        os.fsync(file.fileno())  # a later power loss keeps it
