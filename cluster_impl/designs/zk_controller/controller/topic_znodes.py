"""The znodes of topics: read with a watch, and changed where replicas are assigned or a topic lacks its id."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from uuid import UUID

from cluster_impl.coordination.steps import Done, Found, Get, SetData, Steps, read
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.znodes import PartitionReplicas, TopicInfo

log = logging.getLogger(__name__)


def read_topics(topics: Collection[str], new_topic_id: Callable[[], UUID]) -> Steps[dict[str, TopicInfo]]:
    """What is assigned in each of these topics, each with a watch; those that went, or make no sense, are left out.

    A topic that was created by hand or by old software has no id; it gets one.
    """
    if not topics:
        return {}
    outcomes = yield [Get(znodes.topic(topic), watch=True) for topic in topics]
    found = {}
    for topic, outcome in zip(topics, outcomes, strict=True):
        if not isinstance(outcome, Found):
            continue
        try:
            found[topic] = znodes.read_topic(topic, outcome.data)
        except MalformedZnode as problem:
            log.error("topic %s is left alone until somebody mends it: %s", topic, problem)
    for topic in [each for each, info in found.items() if info.topic_id is None]:
        named = yield from _rewrite(topic, partial(_with_id, topic_id=new_topic_id()))
        if named is None:
            del found[topic]
        else:
            found[topic] = named
    return found


def write_assignments(topic: str, changes: Mapping[int, PartitionReplicas]) -> Steps[bool]:
    """Set the replicas of some partitions of a topic, and leave the others as they are. False if the topic is gone."""
    written = yield from _rewrite(topic, partial(_with_partitions, changes=changes))
    return written is not None


def _with_id(info: TopicInfo, topic_id: UUID) -> TopicInfo:
    return replace(info, topic_id=info.topic_id or topic_id)


def _with_partitions(info: TopicInfo, changes: Mapping[int, PartitionReplicas]) -> TopicInfo:
    return replace(info, partitions={**info.partitions, **changes})


def _rewrite(topic: str, change: Callable[[TopicInfo], TopicInfo]) -> Steps[TopicInfo | None]:
    """Change a topic's znode by compare-and-set; what is there now, or None if it is gone or makes no sense."""
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
