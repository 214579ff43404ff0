"""Where a broker looks for the controller when another process has the controller's id."""

from __future__ import annotations

import asyncio

import pytest

from cluster_impl.designs.zk_controller.broker.heartbeats import Heartbeats, Pace
from cluster_impl.designs.zk_controller.broker.lifecycle import Lifecycle
from cluster_impl.designs.zk_controller.states import BrokerState
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message
from cluster_impl.wire.errors import Error
from cluster_impl.wire.server import CloseConnection, Request
from tests.cluster_impl.designs.zk_controller.broker.scripted import Answer, Scripted, controllers


def controller(heard: asyncio.Event) -> Scripted:
    def active(_: Request) -> Message:
        heard.set()
        return m.MetadataHeartbeatResponse(current_state=BrokerState.ACTIVE)

    return Scripted(active)


def not_the_controller(_: Request) -> Message:
    return m.MetadataHeartbeatResponse(error_code=Error.NOT_CONTROLLER)


def hangs_up(_: Request) -> Message:
    """As a proxy does for a process that is gone."""
    raise CloseConnection("gone")


@pytest.mark.requirement("D343-13", "D343-17")
@pytest.mark.parametrize("elder", [hangs_up, not_the_controller])
def test_heartbeats_find_the_process_that_has_the_controllers_id_now(elder: Answer) -> None:
    async def test() -> None:
        heard_before, heard_now = asyncio.Event(), asyncio.Event()
        before, now = controller(heard_before), controller(heard_now)
        async with controllers(before, now) as known:
            lifecycle = Lifecycle(timeout=30)
            lifecycle.registered(7)
            beating = Heartbeats(9, lifecycle, known.link(), Pace(interval=0.01, timeout=1.0))
            task = asyncio.create_task(beating.run())
            async with asyncio.timeout(10):
                await heard_before.wait()
                known.move(1, to=2)
                before.answer = elder
                await heard_now.wait()
            task.cancel()

    asyncio.run(test())
