"""What can be asked of ZooKeeper, whoever sends it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from cluster_impl.coordination import translation
from cluster_impl.coordination.errors import TooLarge
from cluster_impl.coordination.multi_read import MultiChildren, MultiGet, multi_read
from cluster_impl.coordination.session import Receive, Send
from cluster_impl.coordination.watches import ABSENT, Watched
from cluster_impl.coordination.znodes import (
    Create,
    Created,
    MultiOperation,
    MultiResult,
    Set,
    Stat,
    Watch,
    Znode,
)

MAX_REQUEST_BYTES = 1_000_000
"""The servers' default limit (jute.maxbuffer) is a little more than this."""


class Operations(ABC):
    """Every operation raises CoordinationError; one that is refused unsent, or in doubt, ConnectionLost."""

    async def get(self, path: str, watch: Watch | None = None) -> Znode:
        """`watch` is told of the next change of the data or the end of the znode; not set when NoNode is raised."""

        def receive(answer: tuple[bytes, Any]) -> Znode:
            znode = Znode(answer[0], translation.stat(answer[1]))
            self._arm(Watched.DATA, path, watch, znode.stat.mzxid)
            return znode

        found: Znode = await self._submit(path, lambda client: client.get_async(path, self._told(watch)), receive)
        return found

    async def get_many(self, paths: Sequence[str]) -> list[Znode | None]:
        """In one request, without watches; None where there is no znode."""

        def receive(answers: Sequence[tuple[bytes, Any] | None]) -> list[Znode | None]:
            return [None if answer is None else Znode(answer[0], translation.stat(answer[1])) for answer in answers]

        found: list[Znode | None] = await self._submit(
            paths[0], lambda client: multi_read(client, MultiGet, paths), receive
        )
        return found

    async def children_of_many(self, paths: Sequence[str]) -> list[list[str] | None]:
        """Their names, in one request, without watches; None where there is no znode."""
        found: list[list[str] | None] = await self._submit(
            paths[0], lambda client: multi_read(client, MultiChildren, paths), lambda answers: answers
        )
        return found

    async def exists(self, path: str, watch: Watch | None = None) -> Stat | None:
        """`watch` is told when the znode is created, changed or deleted."""

        def receive(answer: Any) -> Stat | None:
            found = translation.stat(answer) if answer is not None else None
            self._arm(Watched.DATA, path, watch, found.mzxid if found is not None else ABSENT)
            return found

        stat: Stat | None = await self._submit(
            path, lambda client: client.exists_async(path, self._told(watch)), receive
        )
        return stat

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        """Their names. `watch` is told of the next child that comes or goes, and of the end of the znode itself."""

        def receive(answer: tuple[list[str], Any]) -> list[str]:
            self._arm(Watched.CHILDREN, path, watch, translation.stat(answer[1]).pzxid)
            return answer[0]

        names: list[str] = await self._submit(
            path, lambda client: client.get_children_async(path, self._told(watch), include_data=True), receive
        )
        return names

    async def sync(self, path: str = "/") -> None:
        """Afterwards reads see all that was committed before, also by others: a server may lag behind its leader."""
        await self._submit(path, lambda client: client.sync_async(path), lambda _: None)

    async def confirm(self) -> None:
        """Has the session confirmed by the leader of the servers: one that lost its leader may still answer reads."""
        await self._submit("/", lambda client: client.sync_async("/"), lambda _: None, confirms=True)

    async def create(
        self, path: str, data: bytes, *, ephemeral: bool = False, sequence: bool = False, make_parents: bool = False
    ) -> Created:
        _check_size(path, data)
        created: Created = await self._submit(
            path,
            lambda client: client.create_async(
                path, data, ephemeral=ephemeral, sequence=sequence, makepath=make_parents, include_data=True
            ),
            lambda answer: Created(answer[0], translation.stat(answer[1])),
        )
        return created

    async def set(self, path: str, data: bytes, version: int) -> Stat:
        """Only if the znode has that version; -1 stands for any."""
        _check_size(path, data)
        stat: Stat = await self._submit(
            path, lambda client: client.set_async(path, data, version), lambda answer: translation.stat(answer)
        )
        return stat

    async def delete(self, path: str, version: int = -1) -> None:
        await self._submit(path, lambda client: client.delete_async(path, version), lambda _: None)

    async def multi(self, operations: Sequence[MultiOperation]) -> list[MultiResult]:
        """All or none. Raises what the first that failed met, with its `index`."""
        path = operations[0].path if operations else "/"
        _check_size(path, *(each.data for each in operations if isinstance(each, Create | Set)))
        results: list[MultiResult] = await self._submit(
            path,
            lambda client: translation.transaction(client, operations).commit_async(),
            lambda answers: translation.multi_results(operations, answers),
        )
        return results

    @abstractmethod
    def _submit(self, path: str, send: Send, receive: Receive, *, confirms: bool = False) -> asyncio.Future[Any]:
        """Sends it, in order; before all others if it `confirms` the session."""

    @abstractmethod
    def _told(self, watch: Watch | None) -> Callable[[Any], None] | None:
        """What kazoo is to call for a watch."""

    @abstractmethod
    def _arm(self, watched: Watched, path: str, watch: Watch | None, seen: int) -> None:
        """The watch is set, by who saw this transaction as the last."""


def _check_size(path: str, *data: bytes) -> None:
    size = sum(map(len, data))
    if size > MAX_REQUEST_BYTES:
        raise TooLarge(f"{size} bytes for {path} are more than the {MAX_REQUEST_BYTES} that ZooKeeper takes", path)
