"""Puts topics into ZooKeeper as an administrator's command leaves them, before any broker runs: by the thousand.

Of the design without controllers: there a topic is what its znodes say, and a broker that starts looks for its part.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from functools import partial

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from fencepost.harness.calls import in_time, named
from fencepost.harness.clients.zookeeper.leaderless import TOPICS, partition_paths
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.plan.model import TopicSpec

CONNECT_WITHIN = 10.0
AT_ONCE = 1000
"""Znodes in one transaction: far below what a server takes in one message."""


def prepare_topics(topics: Collection[TopicSpec], hosts: str, within: float) -> None:
    """InfrastructureError if ZooKeeper does not take them, CallHangs if the client does not return in that time."""
    in_time(f"preparing {len(topics)} topics in ZooKeeper", within, partial(_prepare, topics, hosts))


def _prepare(topics: Collection[TopicSpec], hosts: str) -> None:
    client = named(KazooClient(hosts=hosts, timeout=CONNECT_WITHIN), "the harness")
    try:
        client.start(CONNECT_WITHIN)
        client.ensure_path(TOPICS)
        znodes = [znode for topic in topics for znode in _znodes(topic)]
        for begin in range(0, len(znodes), AT_ONCE):
            transaction = client.transaction()
            for path, data in znodes[begin : begin + AT_ONCE]:
                transaction.create(path, data)
            for result in transaction.commit():
                if isinstance(result, Exception):
                    raise result
    except (KazooException, KazooTimeoutError) as error:
        raise InfrastructureError(f"ZooKeeper did not take {len(topics)} prepared topics: {error!r}") from error
    finally:
        client.stop()
        client.close()


def _znodes(topic: TopicSpec) -> Iterator[tuple[str, bytes]]:
    """Each after its parent."""
    yield f"{TOPICS}/{topic.name}", json.dumps({"config": topic.config}, separators=(",", ":")).encode()
    for number, replicas in enumerate(topic.assignments):
        assigned, *_ = partition_paths(topic.name, number)
        yield assigned.rpartition("/")[0], b""
        yield assigned, json.dumps(list(replicas), separators=(",", ":")).encode()
