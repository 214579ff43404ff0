"""The settings of topics and of brokers as a broker of this design follows and changes them (decision 0061).

A topic's own settings are in its znode (DLD-17), which each hosted replica reads; those of brokers are where Kafka has
them. One watch, on the notifications, says which of them have changed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from fencepost.cluster_impl.coordination.errors import ConnectionLost, SessionExpired
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.on_zookeeper.broker_configs import BrokerConfigs
from fencepost.cluster_impl.designs.on_zookeeper.config_notifications import ConfigNotifications
from fencepost.cluster_impl.designs.on_zookeeper.config_writes import ConfigWriter, TopicZnodes

log = logging.getLogger(__name__)


def _read(name: str, data: bytes) -> Mapping[str, str]:
    return znodes.read_topic(name, data).config


def _write(config: Mapping[str, str]) -> bytes:
    return znodes.write_topic(znodes.TopicZnode(config))


TOPIC_ZNODES = TopicZnodes(znodes.topic, znodes.topic, _read, _write)


class BrokerSettings:
    """`topic_changed` is called with the topic whose settings may have changed, None for all topics; `brokers_changed`
    after this broker's own settings have."""

    def __init__(
        self,
        zookeeper: ZooKeeper,
        broker_id: int,
        topic_changed: Callable[[str | None], None],
        brokers_changed: Callable[[Mapping[str, Mapping[str, str]]], None],
    ) -> None:
        self._topic_changed = topic_changed
        self._timeout = zookeeper.session_timeout / 2
        self.brokers = BrokerConfigs(zookeeper, broker_id, brokers_changed)
        self.writer = ConfigWriter(zookeeper, TOPIC_ZNODES, zookeeper.session_timeout)
        self.notifications = ConfigNotifications(zookeeper, self)

    async def read_again(self, entity: str) -> None:
        """Implements `config_notifications.Settings`."""
        kind, _, name = entity.partition("/")
        if kind == "topics":
            self._topic_changed(name)
        elif self.brokers.concerns(entity):
            await self.brokers.read()

    async def refresh(self) -> None:
        """Read the settings of brokers now, as a client that asks for them wants them."""
        try:
            async with asyncio.timeout(self._timeout):
                await self.brokers.read()
        except (TimeoutError, ConnectionLost, SessionExpired) as error:
            log.warning(
                "settings are described as they were last known: %s", str(error) or "ZooKeeper does not answer in time"
            )

    async def read_all_again(self) -> None:
        self._topic_changed(None)
        await self.brokers.read()
