"""The replicas of a broker: "get replica info from ZK and compute AR" of its start-up."""

from __future__ import annotations

import logging

from cluster_impl.coordination.steps import Children, Found, Get, Names, Steps, names, run
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)


def read_assigned_to(broker_id: int) -> Steps[set[TopicPartition]]:
    """Every partition whose AR or RAR names the broker. What cannot be read is logged, and left out."""
    topics = yield from names(znodes.TOPICS)
    outcomes = yield from run([Children(znodes.topic(name)) for name in topics])
    partitions = [
        TopicPartition(topic, int(index))
        for topic, found in zip(topics, outcomes, strict=True)
        if isinstance(found, Names)
        for index in sorted(found.names)
        if index.isdecimal()
    ]
    assigned = yield from run([Get(znodes.replicas(each)) for each in partitions])
    reassigned = yield from run([Get(znodes.reassigned(each)) for each in partitions])
    mine = set()
    for each, ar, rar in zip(partitions, assigned, reassigned, strict=True):
        try:
            named = [
                *(znodes.read_replicas(each, ar.data) if isinstance(ar, Found) else ()),
                *(znodes.read_reassigned(each, rar.data) if isinstance(rar, Found) else ()),
            ]
        except MalformedZnode as error:
            log.error("%s", error)
            continue
        if broker_id in named:
            mine.add(each)
    return mine
