"""A broker finds the controller when another process has the controller's id."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from fencepost.cluster_impl.coordination.znodes import Stat, Znode
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.shared.heartbeats import HeartbeatTiming
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker.control_plane import ZkControlPlane
from fencepost.cluster_impl.designs.zk_controller.broker.controlled_shutdown import ShutdownLimits, ShutdownRequester
from fencepost.cluster_impl.designs.zk_controller.broker.heartbeats import MetadataHeartbeats
from fencepost.cluster_impl.designs.zk_controller.broker.lifecycle import Lifecycle
from fencepost.cluster_impl.designs.zk_controller.broker.link import BrokerAddresses, ControllerLink
from fencepost.cluster_impl.designs.zk_controller.broker.log_dir_failures import EventSender
from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.replication.control_plane import BrokerView, ClusterView, Endpoint, TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import CloseConnection, Request
from tests.cluster_impl.designs.zk_controller.broker.scripted import (
    Answer,
    Scripted,
    connect,
    controllers,
    serving,
)


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
@pytest.mark.parametrize("original", [hangs_up, not_the_controller])
async def test_heartbeats_find_the_process_that_has_the_controllers_id_now(original: Answer) -> None:
    heard_before, heard_now = asyncio.Event(), asyncio.Event()
    before, now = controller(heard_before), controller(heard_now)
    async with controllers(before, now) as known:
        lifecycle = Lifecycle(timeout=30)
        lifecycle.registered(7)
        beating = MetadataHeartbeats(9, lifecycle, known.link(), HeartbeatTiming(interval=0.01, timeout=1.0))
        task = asyncio.create_task(beating.run())
        async with asyncio.timeout(20):
            await heard_before.wait()
            known.move(1, to=2)
            before.answer = original
            await heard_now.wait()
        task.cancel()


ME = 9


def create_topic(link: ControllerLink) -> Awaitable[object]:
    nothing: Any = None
    control = ZkControlPlane(
        ME, None, nothing, nothing, lambda: 7, nothing, nothing, link, nothing, request_timeout=1.0
    )
    return control.forward(m.CreateTopicsRequest(topics=[m.CreateTopicsRequest.CreatableTopic(name="t")]), 7)


def report_a_failed_disk(link: ControllerLink) -> Awaitable[object]:
    return EventSender(ME, lambda: 7, link, timeout=1.0, retry=0.01).send("a disk", [TopicPartition("t", 0)])


def shut_down(link: ControllerLink) -> Awaitable[object]:
    return ShutdownRequester(ME, lambda: 7, link, ShutdownLimits(2, backoff=0.5, timeout=1.0)).run()


def answer_of(error: Error) -> Answer:
    def answer(request: Request) -> Message:
        match request.body:
            case m.CreateTopicsRequest():
                result = m.CreateTopicsResponse.CreatableTopicResult(name="t", error_code=error)
                return m.CreateTopicsResponse(topics=[result])
            case m.ReplicaStateEventRequest():
                return m.ReplicaStateEventResponse(error_code=error)
        return m.ControlledShutdownResponse(error_code=error)

    return answer


@pytest.mark.requirement("D343-16", "D343-17")
@pytest.mark.parametrize("ask", [create_topic, report_a_failed_disk, shut_down])
async def test_whatever_is_asked_finds_the_process_that_has_the_controllers_id_now(
    ask: Callable[[ControllerLink], Awaitable[object]],
) -> None:
    original, younger = Scripted(answer_of(Error.NOT_CONTROLLER)), Scripted(answer_of(Error.NONE))

    async with controllers(original, younger) as known, asyncio.timeout(20):
        link = known.link()
        asking = asyncio.ensure_future(ask(link))
        while not original.asked:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        known.move(1, to=2)
        await asking
        link.close()
    assert younger.asked


# While ZooKeeper is slow


class Silent:
    """A ZooKeeper that answers the first so many questions, and then nothing."""

    def __init__(self, *answers: Znode) -> None:
        self._answers = list(answers)

    async def get(self, path: str) -> Znode:
        if self._answers:
            return self._answers.pop(0)
        await asyncio.Event().wait()
        raise AssertionError


def registered_at(port: int) -> Znode:
    endpoint = znodes.BrokerEndpoint("INTERNAL", "127.0.0.1", port, "PLAINTEXT")
    return Znode(znodes.write_broker(znodes.BrokerInfo(5, (endpoint,), 0)), Stat(1, 1, 1, 0, 0))


def view(**ports: int) -> ClusterView:
    brokers = {
        int(name.removeprefix("b")): BrokerView(int(name.removeprefix("b")), {"INTERNAL": Endpoint("127.0.0.1", port)})
        for name, port in ports.items()
    }
    return ClusterView("c", -1, brokers, {})


def link_to(zookeeper: Silent, known: ClusterView) -> ControllerLink:
    addresses = BrokerAddresses(cast("ZooKeeper", zookeeper), "INTERNAL", lambda: known)
    return ControllerLink(lambda: 1, addresses, connect)


HEARTBEAT = m.MetadataHeartbeatRequest(broker_id=ME, incarnation_id=7, target_state=BrokerState.ACTIVE)


async def test_a_lookup_that_zookeeper_does_not_answer_leaves_time_for_the_request() -> None:
    async def active(_: Request) -> Message:
        await asyncio.sleep(0.05)
        return m.MetadataHeartbeatResponse(current_state=BrokerState.ACTIVE)

    async with serving(Scripted(lambda request: active(request))) as port:
        link = link_to(Silent(), view(b1=port))
        asked, _ = await link.request(HEARTBEAT, 0, timeout=0.5)
        assert asked == 1
        link.close()


async def test_an_address_that_zookeeper_tells_too_late_for_one_request_is_there_for_the_next() -> None:
    class Slow(Silent):
        async def get(self, path: str) -> Znode:
            await asyncio.sleep(0.15)
            return registered_at(port)

    async with serving(controller(asyncio.Event())) as port:
        link = link_to(Slow(), view())
        with pytest.raises(ConnectionError, match="the address of broker 1 is unknown"):
            await link.request(HEARTBEAT, 0, timeout=0.4)  # of which the lookup has 0.1 s
        asked, _ = await link.request(HEARTBEAT, 0, timeout=0.4)
        assert asked == 1
        link.close()


async def test_an_address_that_is_doubted_is_tried_again_while_zookeeper_knows_no_better() -> None:
    scripted = Scripted(hangs_up)
    async with serving(scripted) as port:
        link = link_to(Silent(registered_at(port)), view())
        with pytest.raises(ConnectionError):
            await link.request(HEARTBEAT, 0, timeout=0.5)
        scripted.answer = controller(asyncio.Event()).answer
        asked, _ = await link.request(HEARTBEAT, 0, timeout=0.5)
        assert asked == 1
        link.close()


async def test_a_request_that_waits_for_anothers_connection_waits_no_longer_than_its_own_time() -> None:
    async def never(host: str, port: int, timeout: float) -> Connection:
        await asyncio.Event().wait()
        raise AssertionError

    addresses = BrokerAddresses(cast("ZooKeeper", Silent()), "INTERNAL", lambda: view(b1=1))
    link = ControllerLink(lambda: 1, addresses, never)
    patient = asyncio.create_task(link.request(HEARTBEAT, 0, timeout=60.0))
    await asyncio.sleep(0)
    async with asyncio.timeout(20):
        with pytest.raises(TimeoutError, match=r"broker 1 .* within 0\.05 s"):
            await link.request(HEARTBEAT, 0, timeout=0.05)
    patient.cancel()
