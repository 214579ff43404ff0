"""AlterConfigs and IncrementalAlterConfigs, carried out by the broker that was asked (decision 0061).

Settings and their notification are written by one transaction: there is no change without a notification, and none for
a topic that is gone. A setting that another broker changed meanwhile is read and decided again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from fencepost.cluster_impl.api.config_changes import AlterRequest, AlterResponse, response_to
from fencepost.cluster_impl.api.topic_names import problem_with_name
from fencepost.cluster_impl.coordination.errors import (
    BadVersionError,
    ConnectionLost,
    CoordinationError,
    NodeExistsError,
    NoNodeError,
    SessionExpired,
)
from fencepost.cluster_impl.coordination.znodes import ANY_VERSION, Check, Create, MultiOperation, SetData
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.config_requests import ALL_BROKERS, BROKER, TOPIC, Changes, decide

KEPT = 100
"""Notifications that stay, the newest ones. A broker that missed more of them reads all settings again."""

Resource = tuple[int, str]


@dataclass(frozen=True, slots=True)
class _Stored:
    """The settings in a znode and its version, None where there is no znode."""

    config: Mapping[str, str]
    version: int | None


@dataclass(frozen=True, slots=True)
class TopicZnodes:
    """The znodes in which a design keeps topics and their settings.

    `topic` returns the path of a znode that is there as long as the topic, `config` that of its settings, which may be
    the same one. `read` raises MalformedZnode. `switches` as in `topic_settings.problem_with`.
    """

    topic: Callable[[str], str]
    config: Callable[[str], str]
    read: Callable[[str, bytes], Mapping[str, str]]
    write: Callable[[Mapping[str, str]], bytes]
    switches: Collection[str] = ()


class ConfigWriter:
    """`timeout` limits a whole request, in seconds."""

    def __init__(self, zookeeper: ZooKeeper, topics: TopicZnodes, timeout: float) -> None:
        self._zookeeper = zookeeper
        self._topics = topics
        self._timeout = timeout

    async def alter(self, request: AlterRequest) -> AlterResponse:
        """Decide each resource as a whole and write what changes. Raises TimeoutError with a message."""
        try:
            async with asyncio.timeout(self._timeout):
                return await self._alter(request)
        except TimeoutError as error:
            raise TimeoutError(f"ZooKeeper did not answer within {self._timeout:g} s") from error

    async def _alter(self, request: AlterRequest) -> AlterResponse:
        """Attempt until nothing came between. What an earlier attempt has written is no change for the next one."""
        while True:
            try:
                return await self._attempt(request)
            except (BadVersionError, NodeExistsError, NoNodeError):
                continue  # another broker was first, or the topic was deleted
            except (ConnectionLost, SessionExpired):
                await self._zookeeper.until_connected()

    async def _attempt(self, request: AlterRequest) -> AlterResponse:
        await self._zookeeper.sync()
        resources = {(resource.resource_type, resource.resource_name) for resource in request.resources}
        stored = {resource: await self._read(*resource) for resource in sorted(resources) if _may_be_stored(*resource)}
        names = [name for kind, name in stored if kind == TOPIC]
        topics = [name for name in names if await self._zookeeper.exists(self._topics.topic(name)) is not None]
        decided = decide(
            request,
            lambda kind, name: found.config if (found := stored.get((kind, name))) is not None else {},
            topics,
            switches=self._topics.switches,
        )
        if not request.validate_only:
            for decision in decided:
                if decision.changes:
                    resource = decision.outcome.type, decision.outcome.name
                    await self._write(resource, stored[resource], decision.changes)
        return response_to(request, [decision.outcome for decision in decided])

    async def _read(self, kind: int, name: str) -> _Stored:
        path = self._path(kind, name)
        try:
            found = await self._zookeeper.get(path)
        except NoNodeError:
            return _Stored({}, None)
        try:
            of_topic = kind == TOPIC
            config = self._topics.read(name, found.data) if of_topic else config_znodes.read_config(path, found.data)
            return _Stored(config, found.stat.version)
        except MalformedZnode:  # Brokers have said so when they read it, and use no setting of it.
            return _Stored({}, found.stat.version)

    def _path(self, kind: int, name: str) -> str:
        return self._topics.config(name) if kind == TOPIC else config_znodes.config(False, name)

    async def _write(self, resource: Resource, stored: _Stored, changes: Changes) -> None:
        kind, name = resource
        path = self._path(kind, name)
        settings = {key: value for key, value in {**stored.config, **changes}.items() if value is not None}
        data = (self._topics.write if kind == TOPIC else config_znodes.write_config)(settings)
        operations: list[MultiOperation] = [Check(self._topics.topic(name), ANY_VERSION)] if kind == TOPIC else []
        operations.append(Create(path, data) if stored.version is None else SetData(path, data, version=stored.version))
        notification = config_znodes.write_config_change(config_znodes.config_entity(kind == TOPIC, name))
        operations.append(Create(config_znodes.CONFIG_CHANGE_PREFIX, notification, sequence=True))
        await self._zookeeper.multi(operations)
        await self._remove_old_notifications()

    async def _remove_old_notifications(self) -> None:
        """Delete all but the newest; one that cannot be deleted now is deleted after a later change."""
        try:
            for name in sorted(await self._zookeeper.children(config_znodes.CONFIG_CHANGES))[:-KEPT]:
                await self._zookeeper.delete(f"{config_znodes.CONFIG_CHANGES}/{name}")
        except CoordinationError:
            return


def _may_be_stored(kind: int, name: str) -> bool:
    """Return False for what can be no path; such a resource is refused."""
    if kind == TOPIC:
        return problem_with_name(name) is None
    return kind == BROKER and (name == ALL_BROKERS or (name.isascii() and name.isdecimal()))
