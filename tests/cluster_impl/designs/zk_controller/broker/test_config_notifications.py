"""Every broker follows changed settings: its replicas and its descriptions have them without a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import cast
from uuid import UUID

import pytest

from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper.config_writes import KEPT
from fencepost.cluster_impl.designs.zk_controller.broker.broker_settings import BrokerSettings
from fencepost.cluster_impl.designs.zk_controller.broker.metadata import MetadataCache
from fencepost.cluster_impl.replication.control_plane import TopicView
from fencepost.cluster_impl.wire import messages as m
from tests.cluster_impl.designs.on_zookeeper.memory_zookeeper import MemoryZooKeeper
from tests.waiting import until

ME, TOPIC = 4, UUID(int=1)
OF_T = config_znodes.topic_config("t")
BEFORE, AFTER = {"retention.ms": "5"}, {"retention.ms": "6"}
T = TopicView("t", TOPIC, {})


class Given:
    """Broker 4, with the settings of the topic t. It follows changes; `notified` are the topics of each."""

    def __init__(self) -> None:
        self.zookeeper = MemoryZooKeeper()
        self.zookeeper.put(OF_T, config_znodes.write_config(BEFORE))
        self.notified: list[UUID | None] = []
        self.cache = MetadataCache("c")
        partition = m.UpdateMetadataRequest.UpdateMetadataPartitionState(partition_index=0, leader=ME)
        topic = m.UpdateMetadataRequest.UpdateMetadataTopicState(
            topic_name="t", topic_id=TOPIC, partition_states=[partition]
        )
        self.cache.update(m.UpdateMetadataRequest(topic_states=[topic]))
        self.settings = BrokerSettings(cast("ZooKeeper", self.zookeeper), ME, self.cache, self.notified.append, 5.0)

    def write(self, of_topic: bool, name: str, settings: Mapping[str, str], *, notify: bool = True) -> None:
        """Change settings as another broker does."""
        self.zookeeper.put(config_znodes.config(of_topic, name), config_znodes.write_config(settings))
        if notify:
            self.notify(config_znodes.config_entity(of_topic, name))

    def notify(self, entity: str) -> None:
        self.zookeeper._sequence += 1
        path = f"{config_znodes.CONFIG_CHANGE_PREFIX}{self.zookeeper._sequence:010}"
        self.zookeeper.put(path, config_znodes.write_config_change(entity))

    def described(self) -> Mapping[str, str]:
        return self.cache.view.topics["t"].config


@asynccontextmanager
async def following() -> AsyncIterator[Given]:
    given = Given()
    await given.settings.notifications.start()
    await given.settings.topics.load("t", TOPIC)
    task = asyncio.create_task(given.settings.notifications.run())
    try:
        yield given
    finally:
        task.cancel()


async def settled(given: Given, settings: Mapping[str, str]) -> None:
    await until(lambda: given.settings.topics.get(TOPIC) == settings)


@pytest.mark.requirement("DINT-29")
async def test_a_changed_setting_of_a_topic_reaches_its_replicas_and_its_description() -> None:
    async with following() as given:
        given.write(True, "t", AFTER)
        await settled(given, AFTER)
        assert (given.notified, given.described()) == ([TOPIC], AFTER)
        given.write(True, "t", {})
        await settled(given, {})
        assert (given.notified, given.described()) == ([TOPIC, TOPIC], {})


async def test_a_notification_without_a_change_reaches_no_replica() -> None:
    async with following() as given:
        given.notify("topics/unknown")
        given.notify("users/alice")
        given.write(True, "t", BEFORE)
        given.write(False, "5", {"min.insync.replicas": "2"})
        given.write(True, "t", AFTER)
        await settled(given, AFTER)
        assert given.notified == [TOPIC]


@pytest.mark.requirement("DINT-29")
async def test_settings_of_this_broker_hold_below_those_of_topics_and_above_those_of_all_brokers() -> None:
    async with following() as given:
        given.write(False, "", {"min.insync.replicas": "2", "log.retention.ms": "7", "no.such": "1"})
        await until(lambda: given.notified == [None])
        assert given.settings.brokers.below_topics() == {"min.insync.replicas": "2", "retention.ms": "7"}
        given.write(False, "4", {"min.insync.replicas": "3"})
        await until(lambda: len(given.notified) == 2)
        assert given.settings.brokers.below_topics() == {"min.insync.replicas": "3", "retention.ms": "7"}
        configs = given.cache.view.broker_configs
        assert configs == {"": {"min.insync.replicas": "2", "log.retention.ms": "7"}, "4": {"min.insync.replicas": "3"}}


async def test_settings_that_were_changed_before_the_start_are_known_after_it() -> None:
    given = Given()
    given.write(False, "4", {"min.insync.replicas": "3"})
    await given.settings.notifications.start()
    assert given.settings.brokers.below_topics() == {"min.insync.replicas": "3"}


async def test_a_broker_whose_session_ended_reads_all_settings_again() -> None:
    async with following() as given:
        given.write(True, "t", AFTER, notify=False)
        given.zookeeper.expire()
        await settled(given, AFTER)
        given.write(True, "t", BEFORE)
        await settled(given, BEFORE)


async def test_a_broker_that_missed_notifications_reads_all_settings_again() -> None:
    async with following() as given:
        given.notify("topics/unknown")
        await until(lambda: given.settings.notifications._newest != "")
        given.write(True, "t", AFTER, notify=False)
        for _ in range(KEPT):
            given.zookeeper.nodes = {
                path: node for path, node in given.zookeeper.nodes.items() if "config_change_" not in path
            }
            given.notify("topics/unknown")
        await settled(given, AFTER)


async def test_a_client_that_asks_gets_what_is_written_though_no_notification_came_yet() -> None:
    given = Given()
    await given.settings.refresh([T])
    assert given.described() == BEFORE
    given.write(True, "t", AFTER, notify=False)
    given.write(False, "4", {"min.insync.replicas": "3"}, notify=False)
    await given.settings.refresh([T])
    assert given.described() == AFTER
    assert given.cache.view.broker_configs == {"4": {"min.insync.replicas": "3"}}
