"""AlterConfigs and IncrementalAlterConfigs, carried out by the broker that was asked (decision 0061).

Settings and their notification are written by one transaction: there is no change without a notification, and none for
a topic that is gone. A setting that another broker changed meanwhile is read and decided again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.cluster_impl.api.config_changes import AlterRequest, AlterResponse, response_to
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
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.config_requests import ALL_BROKERS, BROKER, TOPIC, Changes, decide
from fencepost.cluster_impl.designs.shared.topic_names import problem_with_name
from fencepost.cluster_impl.designs.shared.topic_settings import UNCLEAN
from fencepost.cluster_impl.designs.zk_controller import znodes

KEPT = 100
"""Notifications that stay, the newest ones. A broker that missed more of them reads all settings again."""

Resource = tuple[int, str]


@dataclass(frozen=True, slots=True)
class _Stored:
    """The settings in a znode and its version, None where there is no znode."""

    config: Mapping[str, str]
    version: int | None


class ConfigWriter:
    """`timeout` limits a whole request, in seconds."""

    def __init__(self, zookeeper: ZooKeeper, timeout: float) -> None:
        self._zookeeper = zookeeper
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
        resources = {(each.resource_type, each.resource_name) for each in request.resources}
        stored = {each: await self._read(*each) for each in sorted(resources) if _may_be_stored(*each)}
        names = [name for kind, name in stored if kind == TOPIC]
        topics = [name for name in names if await self._zookeeper.exists(znodes.topic(name)) is not None]
        decided = decide(
            request,
            lambda kind, name: found.config if (found := stored.get((kind, name))) is not None else {},
            topics,
            switches=(UNCLEAN,),
        )
        if not request.validate_only:
            for each in decided:
                if each.changes:
                    resource = each.outcome.type, each.outcome.name
                    await self._write(resource, stored[resource], each.changes)
        return response_to(request, [each.outcome for each in decided])

    async def _read(self, kind: int, name: str) -> _Stored:
        path = znodes.config(kind == TOPIC, name)
        try:
            found = await self._zookeeper.get(path)
        except NoNodeError:
            return _Stored({}, None)
        try:
            return _Stored(znodes.read_config(path, found.data), found.stat.version)
        except MalformedZnode:  # Brokers have said so when they read it, and use no setting of it.
            return _Stored({}, found.stat.version)

    async def _write(self, resource: Resource, stored: _Stored, changes: Changes) -> None:
        kind, name = resource
        path = znodes.config(kind == TOPIC, name)
        settings = {key: value for key, value in {**stored.config, **changes}.items() if value is not None}
        data = znodes.write_config(settings)
        operations: list[MultiOperation] = [Check(znodes.topic(name), ANY_VERSION)] if kind == TOPIC else []
        operations.append(Create(path, data) if stored.version is None else SetData(path, data, version=stored.version))
        notification = znodes.write_config_change(znodes.config_entity(kind == TOPIC, name))
        operations.append(Create(znodes.CONFIG_CHANGE_PREFIX, notification, sequence=True))
        await self._zookeeper.multi(operations)
        await self._remove_old_notifications()

    async def _remove_old_notifications(self) -> None:
        """Delete all but the newest; one that cannot be deleted now is deleted after a later change."""
        try:
            for each in sorted(await self._zookeeper.children(znodes.CONFIG_CHANGES))[:-KEPT]:
                await self._zookeeper.delete(f"{znodes.CONFIG_CHANGES}/{each}")
        except CoordinationError:
            return


def _may_be_stored(kind: int, name: str) -> bool:
    """Return False for what can be no path; such a resource is refused."""
    if kind == TOPIC:
        return problem_with_name(name) is None
    return kind == BROKER and (name == ALL_BROKERS or (name.isascii() and name.isdecimal()))
