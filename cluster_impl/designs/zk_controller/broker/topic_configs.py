"""The settings of topics. They are in ZooKeeper and in no request of the controller; each topic's are read once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from uuid import UUID

from fencepost.cluster_impl.coordination.errors import ConnectionLost, NoNodeError, SessionExpired
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.topic_settings import UNCLEAN, problem_with
from fencepost.cluster_impl.designs.zk_controller import znodes

log = logging.getLogger(__name__)


class TopicConfigs:
    """Settings by topic id, as a topic that is created again under its name has its own.

    `loaded` is called with the settings that were read. Later changes take effect after a restart.
    """

    def __init__(self, zookeeper: ZooKeeper, loaded: Callable[[UUID, Mapping[str, str]], None]) -> None:
        self._zookeeper = zookeeper
        self._loaded = loaded
        self._known: dict[UUID, Mapping[str, str]] = {}
        self._reading: dict[UUID, asyncio.Task[None]] = {}

    def get(self, topic_id: UUID) -> Mapping[str, str] | None:
        """Return the settings of a topic, None if they are not known yet."""
        return self._known.get(topic_id)

    def want(self, name: str, topic_id: UUID) -> None:
        """Start to read the settings of a topic, without waiting."""
        if topic_id not in self._known and topic_id not in self._reading:
            self._reading[topic_id] = asyncio.create_task(self._read(name, topic_id))

    async def load(self, name: str, topic_id: UUID) -> None:
        """Wait until the settings of a topic are known, for as long as ZooKeeper takes.

        A replica with other settings, such as a lower min.insync.replicas, would acknowledge records too early.
        """
        self.want(name, topic_id)
        if topic_id not in self._known:
            await asyncio.shield(self._reading[topic_id])

    async def _read(self, name: str, topic_id: UUID) -> None:
        try:
            self._known[topic_id] = config = await self._config(name)
            if config:
                self._loaded(topic_id, config)
        finally:
            del self._reading[topic_id]

    async def _config(self, name: str) -> Mapping[str, str]:
        """Read the settings after a sync. The controller wrote them before its first request about the topic, but the
        ZooKeeper server of this broker may lag and not have them."""
        path = znodes.topic_config(name)
        while True:
            try:
                await self._zookeeper.sync()
                return usable(name, znodes.read_topic_config(name, (await self._zookeeper.get(path)).data))
            except NoNodeError:
                return {}
            except MalformedZnode as error:
                log.error("topic %s gets the default settings: %s", name, error)
                return {}
            except (ConnectionLost, SessionExpired):
                await self._zookeeper.until_connected()

    def close(self) -> None:
        for reading in self._reading.values():
            reading.cancel()


def usable(topic: str, config: Mapping[str, str]) -> dict[str, str]:
    """Return the valid settings and log the others.

    Operators and other software write these znodes too, and one bad value must not block the controller's requests.
    """
    good = {}
    for name, value in config.items():
        if problem := problem_with(name, value, switches=(UNCLEAN,)):
            log.error("a setting of topic %s is ignored: %s", topic, problem)
        else:
            good[name] = value
    return good
