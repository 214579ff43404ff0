"""The znodes of topics: read with a watch, and changed where replicas are assigned or a topic lacks its id."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from uuid import UUID

from fencepost.cluster_impl.coordination.steps import Done, Found, Get, SetData, Steps, read
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.znodes import PartitionReplicas, TopicInfo

log = logging.getLogger(__name__)


def read_topics(topics: Collection[str], new_topic_id: Callable[[], UUID]) -> Steps[dict[str, TopicInfo]]:
    """Return the assignments of these topics, and set watches; missing and unreadable topics are left out.

    A topic that was created by hand or by old software has no id, and gets one.
    """
    if not topics:
        return {}
    outcomes = yield [Get(znodes.topic(topic), watch=True) for topic in topics]
    infos = {}
    for topic, outcome in zip(topics, outcomes, strict=True):
        if not isinstance(outcome, Found):
            continue
        try:
            infos[topic] = znodes.read_topic(topic, outcome.data)
        except MalformedZnode as problem:
            log.error("topic %s is ignored until its znode is repaired: %s", topic, problem)
    for topic in [name for name, info in infos.items() if info.topic_id is None]:
        named = yield from _rewrite(topic, partial(_with_id, topic_id=new_topic_id()))
        if named is None:
            del infos[topic]
        else:
            infos[topic] = named
    return infos


def write_assignments(topic: str, changes: Mapping[int, PartitionReplicas]) -> Steps[bool]:
    """Set the replicas of some partitions of a topic and keep the others. Return False if the topic is gone."""
    written = yield from _rewrite(topic, partial(_with_partitions, changes=changes))
    return written is not None


def _with_id(info: TopicInfo, topic_id: UUID) -> TopicInfo:
    return replace(info, topic_id=info.topic_id or topic_id)


def _with_partitions(info: TopicInfo, changes: Mapping[int, PartitionReplicas]) -> TopicInfo:
    return replace(info, partitions={**info.partitions, **changes})


def _rewrite(topic: str, change: Callable[[TopicInfo], TopicInfo]) -> Steps[TopicInfo | None]:
    """Change a topic's znode by compare-and-set; return the new data, None if it is gone or unreadable."""
    path = znodes.topic(topic)
    while True:
        found = yield from read(path)
        if not isinstance(found, Found):
            return None
        try:
            before = znodes.read_topic(topic, found.data)
        except MalformedZnode as problem:
            log.error("topic %s cannot be changed: %s", topic, problem)
            return None
        after = change(before)
        if after == before:
            return before
        [outcome] = yield [SetData(path, znodes.write_topic(after), found.stat.version)]
        if isinstance(outcome, Done):
            return after
