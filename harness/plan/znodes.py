"""Steps that write requests into ZooKeeper as Kafka's tools do: Kafka's own paths and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from fencepost.harness.plan.steps.znode import ZnodeStep

REASSIGN = "/admin/reassign_partitions"
PREFERRED = "/admin/preferred_replica_election"


def reassign(as_: str, partitions: Mapping[str, Sequence[int]]) -> ZnodeStep:
    """Request other replicas: the ids of the brokers in their new order, by partition (`t-0`)."""
    requested = [
        {"topic": topic, "partition": int(number), "replicas": list(to)}
        for topic, _, number, to in ((*name.rpartition("-"), to) for name, to in partitions.items())
    ]
    return ZnodeStep(as_=as_, action="create", path=REASSIGN, data=as_json({"version": 1, "partitions": requested}))


def elect_preferred(as_: str, *partitions: str) -> ZnodeStep:
    """Request that each partition (`t-0`) return to its preferred leader."""
    requested = [
        {"topic": topic, "partition": int(number)} for topic, _, number in (name.rpartition("-") for name in partitions)
    ]
    return ZnodeStep(as_=as_, action="create", path=PREFERRED, data=as_json({"version": 1, "partitions": requested}))


def as_json(value: object) -> str:
    """Return the value as Kafka writes it into a znode."""
    return json.dumps(value, separators=(",", ":"))
