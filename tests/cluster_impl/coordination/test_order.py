"""Events in kazoo's thread while an operation is just being handed on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.protocol.states import EventType, WatchedEvent

from fencepost.cluster_impl.coordination.session import Session


@pytest.mark.requirement("DINT-15")
async def test_a_change_that_is_reported_before_the_reads_answer_was_waited_for_comes_after_it() -> None:
    """The connection's thread may be that fast: the watch that the read sets must be there when it fires."""
    order: list[str] = []

    session = Session(["127.0.0.1:1"], "", 5.0, lambda *_: None, lambda event: order.append(event.path))

    def send(client: KazooClient) -> Any:
        result = client.handler.async_result()
        result.set("answered")
        session.watch(WatchedEvent(EventType.CHILD, "CONNECTED", "fired"))
        return result

    await session.submit("/read", send, order.append)
    async with asyncio.timeout(20):
        while len(order) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0)
    assert order == ["answered", "fired"]
