"""What administrators' tools write into ZooKeeper, as steps of a plan: Kafka's own paths and JSON."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Mapping, Sequence

from harness.plan.conditions import MetadataFrom, Znode
from harness.plan.steps import Step, ZnodeStep
from suites.building import LIVELY_MS, must

REASSIGN = "/admin/reassign_partitions"
PREFERRED = "/admin/preferred_replica_election"
LOG_DIR_EVENTS = "/log_dir_event_notification"


def topic_id(seed: int, name: str) -> str:
    """A topic's id as Kafka writes it, drawn by the plan's seed."""
    drawn = random.Random(f"{seed}/{name}").randbytes(16)
    return base64.urlsafe_b64encode(drawn).decode().rstrip("=")


def topic_data(identity: str, partitions: Sequence[Sequence[str]]) -> str:
    """The content of /brokers/topics/TOPIC: for each partition its replicas, the preferred leader first."""
    assigned = {str(number): [_id(replica) for replica in replicas] for number, replicas in enumerate(partitions)}
    return _json(
        {
            "removing_replicas": {},
            "partitions": assigned,
            "topic_id": identity,
            "adding_replicas": {},
            "version": 3,
        }
    )


def create_topic(as_: str, name: str, identity: str, *partitions: Sequence[str]) -> list[Step]:
    """The znode that makes the controller create a topic, and the last of what it then writes itself."""
    return [
        ZnodeStep(as_=as_, action="create", path=f"/brokers/topics/{name}", data=topic_data(identity, partitions)),
        state_is_there(f"{as_}-led", name, len(partitions) - 1, "INT-34"),
    ]


def told(as_: str, name: str, *partitions: Sequence[str]) -> list[Step]:
    """ZooKeeper says what was decided; that each leader knows that it leads is another matter."""
    return [
        MetadataFrom(
            as_=f"{as_}-{number}",
            node=replicas[0],
            partition=f"{name}-{number}",
            leader=replicas[0],
            within_ms=LIVELY_MS,
            expect=must("INT-22"),
        )
        for number, replicas in enumerate(partitions)
    ]


def state_is_there(as_: str, name: str, partition: int, requirement: str) -> Step:
    path = f"/brokers/topics/{name}/partitions/{partition}/state"
    return Znode(as_=as_, path=path, has='"leader"', within_ms=LIVELY_MS, expect=must(requirement))


def reassign(as_: str, partitions: Mapping[str, Sequence[str]]) -> Step:
    """Ask for other replicas: by `t-0`, the brokers in their new order."""
    wanted = [
        {"topic": topic, "partition": int(number), "replicas": [_id(replica) for replica in replicas]}
        for topic, _, number, replicas in ((*name.rpartition("-"), to) for name, to in partitions.items())
    ]
    return ZnodeStep(as_=as_, action="create", path=REASSIGN, data=_json({"version": 1, "partitions": wanted}))


def elect_preferred(as_: str, *partitions: str) -> Step:
    """Ask that each partition go back to its preferred leader."""
    wanted = [
        {"topic": topic, "partition": int(number)} for topic, _, number in (name.rpartition("-") for name in partitions)
    ]
    return ZnodeStep(as_=as_, action="create", path=PREFERRED, data=_json({"version": 1, "partitions": wanted}))


def log_dir_event(as_: str, broker: str) -> Step:
    """The notification of a failed log dir in a broker's name: what a controller that watches takes away."""
    data = _json({"version": 1, "broker": _id(broker), "event": 1})
    path = f"{LOG_DIR_EVENTS}/log_dir_event_"
    return ZnodeStep(as_=as_, action="create", path=path, data=data, sequence=True)


def _id(replica: str) -> int:
    return int(replica.removeprefix("node-"))


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
