"""Topics' own settings, which are in ZooKeeper and in no request of the controller. Each topic's are read once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from uuid import UUID

from cluster_impl.coordination.errors import ConnectionLost, NoNode, SessionExpired
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.designs.topic_config import UNCLEAN, problem_with
from cluster_impl.designs.zk_controller import znodes

log = logging.getLogger(__name__)

SEGMENT_BYTES = "segment.bytes"
_SMALLEST_SEGMENT, _LARGEST_SEGMENT = 14, 2**31 - 1


class TopicConfigs:
    """By topic id: a topic that is made anew under its name has settings of its own.

    `loaded` is called with what was read. Settings that change later are not seen before a restart.
    """

    def __init__(self, zookeeper: ZooKeeper, loaded: Callable[[UUID, Mapping[str, str]], None]) -> None:
        self._zookeeper = zookeeper
        self._loaded = loaded
        self._known: dict[UUID, Mapping[str, str]] = {}
        self._reading: dict[UUID, asyncio.Task[None]] = {}

    def get(self, topic_id: UUID) -> Mapping[str, str] | None:
        """None if they are not known yet."""
        return self._known.get(topic_id)

    def want(self, name: str, topic_id: UUID) -> None:
        """Have them read, without waiting."""
        if topic_id not in self._known and topic_id not in self._reading:
            self._reading[topic_id] = asyncio.create_task(self._read(name, topic_id))

    async def load(self, name: str, topic_id: UUID) -> None:
        """Return when they are known. Waits for ZooKeeper for as long as that takes, or this node lives.

        A replica that began with other settings, say a lower min.insync.replicas, would acknowledge too much.
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
        """The controller wrote them before it spoke of the topic, maybe through another server than this broker's: one
        that lags would say that there are none."""
        path = znodes.topic_config(name)
        while True:
            try:
                await self._zookeeper.sync()
                return usable(name, znodes.read_topic_config(name, (await self._zookeeper.get(path)).data))
            except NoNode:
                return {}
            except MalformedZnode as error:
                log.error("the settings of topic %s are taken for the defaults: %s", name, error)
                return {}
            except (ConnectionLost, SessionExpired):
                await self._zookeeper.until_connected()

    def close(self) -> None:
        for reading in self._reading.values():
            reading.cancel()


def usable(topic: str, config: Mapping[str, str]) -> dict[str, str]:
    """Without what no topic can have, which is logged: people and other software write these znodes as well, and one
    bad value must not keep this broker from all that the controller orders."""
    good = {}
    for name, value in config.items():
        if problem := _problem_with(name, value):
            log.error("the default is used in place of a setting of topic %s: %s", topic, problem)
        else:
            good[name] = value
    return good


def _problem_with(name: str, value: str) -> str | None:
    if name != SEGMENT_BYTES:
        return problem_with(name, value, switches=(UNCLEAN,))
    if value.isdecimal() and _SMALLEST_SEGMENT <= int(value) <= _LARGEST_SEGMENT:
        return None
    return f"{name}={value} must be a whole number between {_SMALLEST_SEGMENT} and {_LARGEST_SEGMENT}."
