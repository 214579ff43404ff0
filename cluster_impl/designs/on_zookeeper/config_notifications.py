"""The notifications of changed settings, which every broker follows (decision 0061).

They are the children of /config/changes. A watch says that there are new ones; a broker whose watch ended with its
session, or that finds the newest one it knows removed, reads all settings again.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from fencepost.cluster_impl.coordination.errors import ConnectionLost, NoNodeError, SessionExpired
from fencepost.cluster_impl.coordination.znodes import WatchEvent, WatchKind
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode

log = logging.getLogger(__name__)


class Settings(Protocol):
    """The settings that this broker knows."""

    async def read_again(self, entity: str) -> None:
        """Read those of one entity (`topics/t`, `brokers/4`, `brokers/<default>`)."""
        ...

    async def read_all_again(self) -> None: ...


class ConfigNotifications:
    def __init__(self, zookeeper: ZooKeeper, settings: Settings) -> None:
        self._zookeeper = zookeeper
        self._settings = settings
        self._newest = ""
        """The newest notification that was followed."""
        self._is_lost = True
        """True if changes may have been missed."""
        self._news = asyncio.Event()

    async def start(self) -> None:
        """Set the watch and read the settings. Waits for ZooKeeper as long as it takes."""
        await self._follow()

    async def run(self) -> None:
        """Follow every notification, for ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            await self._follow()

    async def _follow(self) -> None:
        while True:
            try:
                await self._look()
            except (ConnectionLost, SessionExpired):
                self._is_lost = True
                await self._zookeeper.until_connected()
            else:
                return

    async def _look(self) -> None:
        names = sorted(await self._zookeeper.children(config_znodes.CONFIG_CHANGES, self._happened))
        if self._is_lost or (self._newest and names and self._newest < names[0]):
            await self._settings.read_all_again()
        else:
            for name in names:
                if name > self._newest:
                    await self._follow_one(name)
        self._is_lost = False
        self._newest = max(self._newest, *names) if names else self._newest

    async def _follow_one(self, name: str) -> None:
        path = f"{config_znodes.CONFIG_CHANGES}/{name}"
        try:
            entity = config_znodes.read_config_change(path, (await self._zookeeper.get(path)).data)
        except NoNodeError:
            await self._settings.read_all_again()
        except MalformedZnode as error:
            log.error("a notification of changed settings is not followed: %s", error)
        else:
            log.info("the settings of %s have changed", entity)
            await self._settings.read_again(entity)

    def _happened(self, event: WatchEvent) -> None:
        self._is_lost |= event.kind is WatchKind.EXPIRED
        self._news.set()
