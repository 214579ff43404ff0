"""The settings of topics. They are in ZooKeeper and in no request of the controller; each topic's are read once,
and again when a notification says that they have changed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from uuid import UUID

from fencepost.cluster_impl.coordination.errors import ConnectionLost, NoNodeError, SessionExpired
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.topic_settings import UNCLEAN, problem_with, usable

log = logging.getLogger(__name__)


class TopicConfigs:
    """Settings by topic id, as a topic that is created again under its name has its own.

    `loaded` is called with the settings that were read, `changed` after others were read for a topic that had some.
    """

    def __init__(
        self,
        zookeeper: ZooKeeper,
        loaded: Callable[[UUID, Mapping[str, str]], None],
        changed: Callable[[UUID], None] = lambda _: None,
    ) -> None:
        self._zookeeper = zookeeper
        self._loaded = loaded
        self._changed = changed
        self._names: dict[UUID, str] = {}
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

    async def read_again(self, names: Collection[str] | None = None) -> None:
        """Read the settings of these topics again, as far as they are known, or of all known topics."""
        for topic_id, name in list(self._names.items()):
            if names is None or name in names:
                if (reading := self._reading.get(topic_id)) is not None:
                    await asyncio.wait((reading,))  # it may have read what was there before
                config = await self._config(name)
                if topic_id in self._known and config != self._known[topic_id]:
                    self._known[topic_id] = config
                    self._loaded(topic_id, config)
                    self._changed(topic_id)

    async def _read(self, name: str, topic_id: UUID) -> None:
        try:
            self._known[topic_id] = config = await self._config(name)
            self._names[topic_id] = name
            if config:
                self._loaded(topic_id, config)
        finally:
            del self._reading[topic_id]

    async def _config(self, name: str) -> Mapping[str, str]:
        """Read the settings after a sync. The controller wrote them before its first request about the topic, but the
        ZooKeeper server of this broker may lag and not have them."""
        path = config_znodes.topic_config(name)
        while True:
            try:
                await self._zookeeper.sync()
                config = config_znodes.read_topic_config(name, (await self._zookeeper.get(path)).data)
                return usable(f"topic {name}", config, _problem_with)
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


def _problem_with(name: str, value: str | None) -> str | None:
    return problem_with(name, value, switches=(UNCLEAN,))
