"""Callers that wait for a commit, or for a confirmation of the leadership."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any


class LostLeadership(Exception):
    """This node no longer leads the epoch; the pending records may have been committed or not."""


class WaitingCallers:
    """Each waits on a future of its own, which is done in the event loop."""

    def __init__(self, node_id: int) -> None:
        self._node_id = node_id
        self._for_commit: list[tuple[int, asyncio.Future[None]]] = []
        self._for_confirmation: set[asyncio.Future[None]] = set()

    def for_commit(self, offset: int) -> asyncio.Future[None]:
        """Return a future that is done once `offset` is committed; it raises LostLeadership."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._for_commit.append((offset, done))
        return done

    def for_confirmation(self) -> asyncio.Future[None]:
        """Return a future that is done once it is given to `confirmed`; it raises LostLeadership."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._for_confirmation.add(done)
        return done

    def committed(self, high_watermark: int) -> None:
        waiting, self._for_commit = self._for_commit, []
        for offset, done in waiting:
            if offset < high_watermark:
                complete(done, None)
            else:
                self._for_commit.append((offset, done))

    def confirmed(self, tokens: Iterable[object]) -> None:
        for token in tokens:
            assert isinstance(token, asyncio.Future)
            self._for_confirmation.discard(token)
            complete(token, None)

    def give_up(self) -> None:
        """Raise LostLeadership in all that wait."""
        waiting = [done for _, done in self._for_commit] + list(self._for_confirmation)
        self._for_commit.clear()
        self._for_confirmation.clear()
        for done in waiting:
            if not done.done():
                done.set_exception(LostLeadership(f"controller {self._node_id} lost its leadership"))


def complete(future: asyncio.Future[Any], value: object) -> None:
    """Set the result unless the caller has left."""
    if not future.done():
        future.set_result(value)
