"""All settings that a broker has from ZooKeeper: those of topics, its own, and the ways in which they change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from uuid import UUID

from fencepost.cluster_impl.coordination.errors import ConnectionLost, SessionExpired
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper.broker_configs import BrokerConfigs
from fencepost.cluster_impl.designs.on_zookeeper.config_notifications import ConfigNotifications
from fencepost.cluster_impl.designs.on_zookeeper.config_writes import ConfigWriter, TopicZnodes
from fencepost.cluster_impl.designs.shared.topic_settings import UNCLEAN
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker.metadata import MetadataCache
from fencepost.cluster_impl.designs.zk_controller.broker.topic_configs import TopicConfigs
from fencepost.cluster_impl.replication.control_plane import TopicView

TOPIC_ZNODES = TopicZnodes(
    znodes.topic, config_znodes.topic_config, config_znodes.read_topic_config, config_znodes.write_config, (UNCLEAN,)
)


class BrokerSettings:
    """`changed` is called when other settings hold for the replicas of a topic; None means for all replicas."""

    def __init__(
        self,
        zookeeper: ZooKeeper,
        broker_id: int,
        cache: MetadataCache,
        changed: Callable[[UUID | None], None],
        request_timeout: float,
    ) -> None:
        self._zookeeper = zookeeper
        self._cache = cache
        self._changed = changed
        self.topics = TopicConfigs(zookeeper, cache.configured, changed)
        self.brokers = BrokerConfigs(zookeeper, broker_id, self._brokers_changed)
        self.writer = ConfigWriter(zookeeper, TOPIC_ZNODES, request_timeout)
        self.notifications = ConfigNotifications(zookeeper, self)

    def _brokers_changed(self, configs: Mapping[str, Mapping[str, str]]) -> None:
        self._cache.brokers_configured(configs)
        self._changed(None)

    async def refresh(self, topics: Collection[TopicView]) -> None:
        """Read the settings of these topics and of brokers now, as a client that asks for them wants them."""
        await asyncio.gather(*(self.topics.load(topic.name, topic.topic_id) for topic in topics), self._read_brokers())
        await self.topics.read_again([topic.name for topic in topics])
        for topic in topics:
            if config := self.topics.get(topic.topic_id):
                self._cache.configured(topic.topic_id, config)

    async def read_again(self, entity: str) -> None:
        """Implements `config_notifications.Settings`."""
        kind, _, name = entity.partition("/")
        if kind == "topics":
            await self.topics.read_again([name])
        elif self.brokers.concerns(entity):
            await self.brokers.read()

    async def read_all_again(self) -> None:
        await self.topics.read_again()
        await self.brokers.read()

    async def _read_brokers(self) -> None:
        while True:
            try:
                await self.brokers.read()
            except (ConnectionLost, SessionExpired):
                await self._zookeeper.until_connected()
            else:
                return

    def close(self) -> None:
        self.topics.close()
