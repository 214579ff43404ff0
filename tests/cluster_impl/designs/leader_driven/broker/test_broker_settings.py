"""A broker follows the notifications of changed settings, and reads again what concerns it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import cast

import pytest

from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven.broker.broker_settings import BrokerSettings
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from tests.cluster_impl.designs.on_zookeeper.memory_zookeeper import MemoryZooKeeper
from tests.waiting import until

MIN_ISR = "min.insync.replicas"


class Given:
    """Broker 4, and the calls that it made."""

    def __init__(self) -> None:
        self.zookeeper = MemoryZooKeeper()
        self.topics: list[str | None] = []
        self.brokers: list[Mapping[str, Mapping[str, str]]] = []
        zookeeper = cast("ZooKeeper", self.zookeeper)
        self.settings = BrokerSettings(zookeeper, 4, self.topics.append, self.brokers.append)

    def write(self, name: str, settings: Mapping[str, str], *, notify: bool = True) -> None:
        """Change settings of brokers as another broker does."""
        self.zookeeper.put(config_znodes.config(False, name), config_znodes.write_config(settings))
        if notify:
            self.notify(config_znodes.config_entity(False, name))

    def notify(self, entity: str) -> None:
        self.zookeeper._sequence += 1
        path = f"{config_znodes.CONFIG_CHANGE_PREFIX}{self.zookeeper._sequence:010}"
        self.zookeeper.put(path, config_znodes.write_config_change(entity))


@asynccontextmanager
async def following() -> AsyncIterator[Given]:
    given = Given()
    await given.settings.notifications.start()
    given.topics.clear()
    task = asyncio.create_task(given.settings.notifications.run())
    try:
        yield given
    finally:
        task.cancel()


@pytest.mark.requirement("DLD-52")
async def test_the_replicas_of_a_changed_topic_are_notified_and_of_no_other() -> None:
    async with following() as given:
        given.notify("topics/t")
        await until(lambda: given.topics == ["t"])
        given.notify("users/alice")
        given.write("5", {MIN_ISR: "2"})
        given.notify("topics/u")
        await until(lambda: given.topics == ["t", "u"])
        assert given.brokers == []


@pytest.mark.requirement("DLD-52")
async def test_settings_of_this_broker_and_of_all_are_followed() -> None:
    async with following() as given:
        given.write("", {MIN_ISR: "2"})
        await until(lambda: given.brokers == [{"": {MIN_ISR: "2"}}])
        given.write("4", {MIN_ISR: "3"})
        await until(lambda: len(given.brokers) == 2)
        assert given.settings.brokers.below_topics() == {MIN_ISR: "3"}


async def test_a_broker_whose_session_ended_reads_all_again() -> None:
    async with following() as given:
        given.write("4", {MIN_ISR: "3"}, notify=False)
        given.zookeeper.expire()
        await until(lambda: given.topics == [None])
        await until(lambda: given.brokers == [{"4": {MIN_ISR: "3"}}])


async def test_a_client_that_asks_gets_what_is_written_though_no_notification_came_yet() -> None:
    async with following() as given:
        given.write("4", {MIN_ISR: "3"}, notify=False)
        await given.settings.refresh()
        assert given.brokers == [{"4": {MIN_ISR: "3"}}]
