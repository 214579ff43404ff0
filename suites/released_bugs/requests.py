"""Requests that the plans of several bugs have."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v

BROKER = v.node_name(v.BROKER_IDS[0])
GROUP = "g"


def ask(name: str, api: str, version: int, body: dict[str, Any], **more: Any) -> v.ApiProbe:
    """Send a request to the first broker, or to the `node` that is named."""
    return v.ApiProbe(as_=name, api=api, version=version, body=body, **{"node": BROKER, "timeout_ms": 8000, **more})


def coordinator_found(name: str = "found", version: int = 2) -> v.ApiProbe:
    """Wait until the group has a coordinator, which creates the topic of the offsets. Every release has version 0."""
    body = {"key": GROUP, "key_type": 0} if version else {"key": GROUP}
    return ask(name, "find_coordinator", version, body, timeout_ms=5000, within_ms=v.LIVENESS_TIMEOUT_MS)


def fetched(name: str, partitions: int = 1, *, node: str = BROKER, version: int = 7, **more: Any) -> v.ApiProbe:
    """Fetch the committed offsets of partitions; since version 7 only those that no transaction may still change."""
    body: dict[str, Any] = {"group_id": GROUP, "topics": [{"name": "t", "partition_indexes": list(range(partitions))}]}
    if version >= 7:
        body["require_stable"] = True
    return ask(name, "offset_fetch", version, body, node=node, timeout_ms=5000, **more)
