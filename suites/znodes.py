"""Steps that write what Kafka's tools write into ZooKeeper, or wait for a znode: Kafka's own paths and JSON."""

from __future__ import annotations

import base64
import random
from collections.abc import Mapping, Sequence

from fencepost.harness.plan import znodes
from fencepost.harness.plan.base import Expect
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.znodes import PREFERRED, REASSIGN, as_json, elect_preferred
from fencepost.suites.clusters import node_id
from fencepost.suites.expectations import must
from fencepost.suites.words import MetadataFrom, Znode, ZnodeStep

__all__ = [
    "PREFERRED",
    "REASSIGN",
    "create_topic",
    "elect_preferred",
    "leaders_in_metadata",
    "log_dir_event",
    "partition_state_written",
    "reassign",
    "topic_data",
    "topic_id",
    "znode_absent",
    "znode_present",
]

LOG_DIR_EVENTS = "/log_dir_event_notification"


def topic_id(seed: int, name: str) -> str:
    """Return a topic id as Kafka writes it, generated from the plan's seed and the topic's name."""
    generated = random.Random(f"{seed}/{name}").randbytes(16)
    return base64.urlsafe_b64encode(generated).decode().rstrip("=")


def topic_data(identity: str, partitions: Sequence[Sequence[str]]) -> str:
    """Return the content of /brokers/topics/TOPIC: the replicas of each partition, the preferred leader first."""
    assigned = {str(number): [node_id(replica) for replica in replicas] for number, replicas in enumerate(partitions)}
    return as_json(
        {"removing_replicas": {}, "partitions": assigned, "topic_id": identity, "adding_replicas": {}, "version": 3}
    )


def create_topic(as_: str, name: str, identity: str, *partitions: Sequence[str]) -> list[Step]:
    """Write the znode that makes the controller create a topic, and wait for the controller's last write."""
    return [
        ZnodeStep(as_=as_, action="create", path=f"/brokers/topics/{name}", data=topic_data(identity, partitions)),
        partition_state_written(f"{as_}-led", name, len(partitions) - 1, "INT-34"),
    ]


def leaders_in_metadata(as_: str, name: str, *partitions: Sequence[str]) -> list[Step]:
    """Wait until each leader answers metadata requests with itself as leader: ZooKeeper has it earlier."""
    return [
        MetadataFrom(
            as_=f"{as_}-{number}",
            node=replicas[0],
            partition=f"{name}-{number}",
            leader=replicas[0],
            expect=must("INT-22"),
        )
        for number, replicas in enumerate(partitions)
    ]


def partition_state_written(as_: str, name: str, partition: int, requirement: str) -> Step:
    path = f"/brokers/topics/{name}/partitions/{partition}/state"
    return znode_present(as_, path, must(requirement), has='"leader"')


def reassign(as_: str, partitions: Mapping[str, Sequence[str]]) -> Step:
    """Ask for other replicas. `partitions` are the brokers in their new order, by partition (`t-0`)."""
    return znodes.reassign(as_, {name: [node_id(replica) for replica in to] for name, to in partitions.items()})


def log_dir_event(as_: str, broker: str) -> Step:
    """Write the notification of a failed log dir in a broker's name; a controller that watches it deletes it."""
    data = as_json({"version": 1, "broker": node_id(broker), "event": 1})
    path = f"{LOG_DIR_EVENTS}/log_dir_event_"
    return ZnodeStep(as_=as_, action="create", path=path, data=data, sequence=True)


def znode_present(as_: str, path: str, expect: Expect, *, has: str | None = None) -> Step:
    """Wait until a znode exists and, if `has` is given, contains that text."""
    return Znode(as_=as_, path=path, has=has, expect=expect)


def znode_absent(as_: str, path: str, expect: Expect) -> Step:
    """Wait until a znode does not exist."""
    return Znode(as_=as_, path=path, exists=False, expect=expect)
