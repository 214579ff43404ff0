"""A replica takes over changed settings, and keeps them through every later state of its partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.znodes import TopicZnode
from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster, partition

OF = partition("t-0")
MIN_ISR, RETENTION = "min.insync.replicas", "retention.ms"


def change(cluster: MemoryCluster, data: bytes, *broker_ids: int) -> None:
    """Write the topic's znode, and notify these brokers."""
    cluster.tree.overwrite(znodes.topic("t"), data)
    for broker_id in broker_ids:
        broker = cluster.brokers[broker_id]
        cluster.tree.run(broker.agents[OF].topic_changed(), broker.session)


def settings(cluster: MemoryCluster) -> list[Mapping[str, str]]:
    return [cluster.brokers[each].data_plane.settings[OF] for each in (4, 5, 6)]


def topic(config: Mapping[str, str]) -> bytes:
    return znodes.write_topic(TopicZnode(config))


@pytest.mark.requirement("DLD-52")
def test_leader_and_followers_take_over_the_settings_that_their_topic_has_now(cluster: MemoryCluster) -> None:
    change(cluster, topic({MIN_ISR: "2"}), 4, 5, 6)
    assert settings(cluster) == [{MIN_ISR: "2"}] * 3
    change(cluster, topic({}), 4, 5, 6)
    assert settings(cluster) == [{}] * 3


def test_changed_settings_outlive_a_change_of_the_isr_and_of_the_leader(cluster: MemoryCluster) -> None:
    change(cluster, topic({MIN_ISR: "2"}), 4, 5, 6)
    cluster.kill(4)
    cluster.pass_time(3.0)
    cluster.start(4)
    cluster.pass_time(3.0)
    assert cluster.leader(OF) is not None
    assert settings(cluster) == [{MIN_ISR: "2"}] * 3


def test_what_cannot_be_used_is_left_out_and_what_cannot_be_read_changes_nothing(cluster: MemoryCluster) -> None:
    change(cluster, topic({MIN_ISR: "2", RETENTION: "soon", "no.such": "1"}), 4, 5, 6)
    assert settings(cluster) == [{MIN_ISR: "2"}] * 3
    change(cluster, b"no JSON", 4, 5, 6)
    assert settings(cluster) == [{MIN_ISR: "2"}] * 3


@pytest.mark.requirement("DLD-52")
def test_settings_of_brokers_hold_below_those_of_the_topic(cluster: MemoryCluster) -> None:
    below: dict[str, str] = {}
    cluster.kill(4)
    cluster.start(4)
    broker = cluster.brokers[4]
    broker.context = replace(broker.context, below_topics=lambda: below)
    cluster.pass_time(3.0)
    change(cluster, topic({MIN_ISR: "2"}), 4)
    below.update({MIN_ISR: "3", RETENTION: "7"})
    broker.agents[OF].settings_changed()
    assert broker.data_plane.settings[OF] == {MIN_ISR: "2", RETENTION: "7"}


def test_the_settings_of_a_later_topic_of_the_name_are_not_those_of_this_one(cluster: MemoryCluster) -> None:
    broker = cluster.brokers[4]
    hosted = broker.agents[OF].state.replica
    assert hosted is not None
    hosted.topic.topic_id = UUID(int=1)
    cluster.tree.overwrite(znodes.topic("t"), topic({MIN_ISR: "2"}))
    cluster.tree.run(broker.agents[OF].topic_changed(), broker.session)
    assert settings(cluster)[0] == {}
