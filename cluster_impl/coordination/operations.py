"""The operations on ZooKeeper, without the session that sends them."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from fencepost.cluster_impl.coordination import translation
from fencepost.cluster_impl.coordination.errors import TooLarge
from fencepost.cluster_impl.coordination.multi_read import MultiChildren, MultiGet, multi_read
from fencepost.cluster_impl.coordination.session import Receive, Send
from fencepost.cluster_impl.coordination.watches import ABSENT, Watched
from fencepost.cluster_impl.coordination.znodes import (
    Create,
    CreatedZnode,
    MultiOperation,
    MultiResult,
    SetData,
    Stat,
    Watch,
    Znode,
)

MAX_REQUEST_BYTES = 1_000_000
"""A little less than the servers' default limit (jute.maxbuffer)."""


class Operations(ABC):
    """Every operation raises CoordinationError: ConnectionLost if it was not sent, or if it is in doubt."""

    async def get(self, path: str, watch: Watch | None = None) -> Znode:
        """Return data and stat. `watch` reports the next change or deletion; it is not set if NoNodeError is raised."""

        def receive(answer: tuple[bytes, Any]) -> Znode:
            znode = Znode(answer[0], translation.stat(answer[1]))
            self._arm(Watched.DATA, path, watch, znode.stat.mzxid)
            return znode

        read: Znode = await self._submit(path, lambda client: client.get_async(path, self._kazoo_watch(watch)), receive)
        return read

    async def get_many(self, paths: Sequence[str]) -> list[Znode | None]:
        """Return data and stat of several znodes by one request, without watches; None where there is no znode."""

        def receive(answers: Sequence[tuple[bytes, Any] | None]) -> list[Znode | None]:
            return [None if answer is None else Znode(answer[0], translation.stat(answer[1])) for answer in answers]

        znodes: list[Znode | None] = await self._submit(
            paths[0], lambda client: multi_read(client, MultiGet, paths), receive
        )
        return znodes

    async def children_of_many(self, paths: Sequence[str]) -> list[list[str] | None]:
        """Return the names of the children of several znodes by one request; None where there is no znode."""
        children: list[list[str] | None] = await self._submit(
            paths[0], lambda client: multi_read(client, MultiChildren, paths), lambda answers: answers
        )
        return children

    async def exists(self, path: str, watch: Watch | None = None) -> Stat | None:
        """Return the stat, or None. `watch` reports the next creation, change or deletion of the znode."""

        def receive(answer: Any) -> Stat | None:
            found = translation.stat(answer) if answer is not None else None
            self._arm(Watched.DATA, path, watch, found.mzxid if found is not None else ABSENT)
            return found

        stat: Stat | None = await self._submit(
            path, lambda client: client.exists_async(path, self._kazoo_watch(watch)), receive
        )
        return stat

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        """Return the names of the children. `watch` reports the next child that is created or deleted, and the deletion
        of the znode itself."""

        def receive(answer: tuple[list[str], Any]) -> list[str]:
            self._arm(Watched.CHILDREN, path, watch, translation.stat(answer[1]).pzxid)
            return answer[0]

        names: list[str] = await self._submit(
            path, lambda client: client.get_children_async(path, self._kazoo_watch(watch), include_data=True), receive
        )
        return names

    async def sync(self, path: str = "/") -> None:
        """Make later reads see everything that was committed before: a server may lag behind its leader."""
        await self._submit(path, lambda client: client.sync_async(path), lambda _: None)

    async def confirm(self) -> None:
        """Have the leader of the servers confirm the session: a server without a leader may still answer reads."""
        await self._submit("/", lambda client: client.sync_async("/"), lambda _: None, confirms=True)

    async def create(
        self, path: str, data: bytes, *, ephemeral: bool = False, sequence: bool = False, make_parents: bool = False
    ) -> CreatedZnode:
        _check_size(path, data)
        created: CreatedZnode = await self._submit(
            path,
            lambda client: client.create_async(
                path, data, ephemeral=ephemeral, sequence=sequence, makepath=make_parents, include_data=True
            ),
            lambda answer: CreatedZnode(answer[0], translation.stat(answer[1])),
        )
        return created

    async def set(self, path: str, data: bytes, version: int) -> Stat:
        """Change the data if the znode has this version; -1 stands for any."""
        _check_size(path, data)
        stat: Stat = await self._submit(
            path, lambda client: client.set_async(path, data, version), lambda answer: translation.stat(answer)
        )
        return stat

    async def delete(self, path: str, version: int = -1) -> None:
        await self._submit(path, lambda client: client.delete_async(path, version), lambda _: None)

    async def multi(self, operations: Sequence[MultiOperation]) -> list[MultiResult]:
        """Execute all operations or none. Raises the error of the first one that failed, with its `index`."""
        path = operations[0].path if operations else "/"
        _check_size(path, *(operation.data for operation in operations if isinstance(operation, Create | SetData)))
        results: list[MultiResult] = await self._submit(
            path,
            lambda client: translation.transaction(client, operations).commit_async(),
            lambda answers: translation.multi_results(operations, answers),
        )
        return results

    @abstractmethod
    def _submit(self, path: str, send: Send, receive: Receive, *, confirms: bool = False) -> asyncio.Future[Any]:
        """Send an operation, in order; in front of all unsent ones if it `confirms` the session."""

    @abstractmethod
    def _kazoo_watch(self, watch: Watch | None) -> Callable[[Any], None] | None:
        """Return the function that kazoo calls for a watch."""

    @abstractmethod
    def _arm(self, watched: Watched, path: str, watch: Watch | None, seen: int) -> None:
        """Note that the watch is set, by a reader to which transaction `seen` was the last."""


def _check_size(path: str, *data: bytes) -> None:
    size = sum(map(len, data))
    if size > MAX_REQUEST_BYTES:
        raise TooLarge(f"{size} bytes for {path} are more than ZooKeeper's limit of {MAX_REQUEST_BYTES}", path)
