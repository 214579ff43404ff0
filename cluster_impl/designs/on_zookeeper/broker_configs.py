"""The settings that this broker was given at run time, its own and those of all brokers (decision 0061)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.config_requests import ALL_BROKERS
from fencepost.cluster_impl.designs.shared.topic_settings import below_topics, problem_with_broker_setting, usable

log = logging.getLogger(__name__)


class BrokerConfigs:
    """`changed` is called with the settings by resource name: the id as text, and the empty name for all brokers."""

    def __init__(
        self, zookeeper: ZooKeeper, broker_id: int, changed: Callable[[Mapping[str, Mapping[str, str]]], None]
    ) -> None:
        self._zookeeper = zookeeper
        self._names = (ALL_BROKERS, str(broker_id))
        self._changed = changed
        self._known: Mapping[str, Mapping[str, str]] = {}

    def below_topics(self) -> dict[str, str]:
        """Return the settings that hold where a topic has none of its own, under the topic's names."""
        return below_topics({key: value for name in self._names for key, value in self._known.get(name, {}).items()})

    def concerns(self, entity: str) -> bool:
        """Return whether a change of this entity changes what holds for this broker."""
        return entity in (config_znodes.config_entity(False, name) for name in self._names)

    async def read(self) -> None:
        """Read them after a sync. Raises CoordinationError."""
        await self._zookeeper.sync()
        paths = [config_znodes.config(False, name) for name in self._names]
        found = await self._zookeeper.get_many(paths)
        known = {}
        for name, path, znode in zip(self._names, paths, found, strict=True):
            if znode is not None and (settings := _usable(path, znode.data)):
                known[name] = settings
        if known != self._known:
            self._known = known
            self._changed(known)


def _usable(path: str, data: bytes) -> dict[str, str]:
    """Return the valid settings and log the others, which an operator may have written."""
    try:
        config = config_znodes.read_config(path, data)
    except MalformedZnode as error:
        log.error("brokers get no settings from there: %s", error)
        return {}
    return usable(path, config, problem_with_broker_setting)
