"""Configurations for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from fencepost.cluster_impl.config.load import config_from
from fencepost.cluster_impl.config.nodes import NodeConfig

T = TypeVar("T", bound=NodeConfig)


def config_of(kind: type[T], properties: Mapping[str, str]) -> T:
    """Return the configuration that these keys and values describe, which must be one of a node of this kind."""
    found = config_from(properties)
    assert isinstance(found, kind)
    return found
