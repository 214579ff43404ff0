"""The controller's channels against real connections: serial for each broker, side by side, until answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from fencepost.cluster_impl.designs.zk_controller.controller.controller import RegisteredBroker
from fencepost.cluster_impl.designs.zk_controller.controller.runtime import channels as module
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.channels import Channels
from fencepost.cluster_impl.designs.zk_controller.znodes import BrokerEndpoint, BrokerInfo
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import ZK_BROKER
from fencepost.cluster_impl.wire.server import Request, Server
from tests.cluster_impl.coordination.relay import Relay
from tests.waiting import until

Answer = Callable[[Request], object]


async def connect(host: str, port: int, timeout: float) -> Connection:
    return await Connection.open(host, port, ZK_BROKER, "controller", hosts=Hosts(), timeout=timeout)


def registration(broker_id: int, port: int, epoch: int = 1) -> RegisteredBroker:
    endpoint = BrokerEndpoint("INTERNAL", "127.0.0.1", port, "PLAINTEXT")
    return RegisteredBroker(broker_id, epoch, BrokerInfo(5, (endpoint,), timestamp_ms=0))


def order(controller_epoch: int) -> m.UpdateMetadataRequest:
    return m.UpdateMetadataRequest(controller_id=1, controller_epoch=controller_epoch, broker_epoch=1)


class Broker:
    """Listens, and keeps the controller epochs of what it was sent, which number the requests here."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.connections = set[object]()
        self.held: asyncio.Future[Message] | None = None
        """While set, requests are answered when it is done."""
        self.server = Server(ZK_BROKER, {6: self._update_metadata})
        self.port = 0

    async def start(self) -> None:
        self.port = await self.server.listen("127.0.0.1", 0, "INTERNAL")

    def _update_metadata(self, request: Request) -> Message | asyncio.Future[Message]:
        assert isinstance(request.body, m.UpdateMetadataRequest)
        self.seen.append(request.body.controller_epoch)
        self.connections.add(request.connection)
        return m.UpdateMetadataResponse() if self.held is None else self.held


class Controller:
    def __init__(self, socket_timeout: float = 30.0) -> None:
        self.answered: list[tuple[int, int]] = []
        self.channels = Channels(connect, "INTERNAL", socket_timeout, self._answered)

    def _answered(self, broker_id: int, request: Message, _: Message) -> None:
        assert isinstance(request, m.UpdateMetadataRequest)
        self.answered.append((broker_id, request.controller_epoch))


@pytest.mark.requirement("INT-12", "INT-15")
async def test_one_broker_gets_its_requests_one_by_one_over_one_connection() -> None:
    broker, controller = Broker(), Controller()
    await broker.start()
    broker.held = asyncio.get_running_loop().create_future()
    controller.channels.keep({4: registration(4, broker.port)})
    for number in range(5):
        controller.channels.send(4, order(number))
    await until(lambda: broker.seen == [0])
    assert controller.answered == []
    broker.held.set_result(m.UpdateMetadataResponse())
    await until(lambda: len(controller.answered) == 5)
    assert broker.seen == [0, 1, 2, 3, 4]
    assert controller.answered == [(4, number) for number in range(5)]
    assert len(broker.connections) == 1
    controller.channels.close()
    await broker.server.close()


@pytest.mark.requirement("INT-14")
async def test_a_broker_that_hangs_delays_no_other() -> None:
    hanging, other, controller = Broker(), Broker(), Controller()
    await hanging.start()
    await other.start()
    hanging.held = asyncio.get_running_loop().create_future()
    controller.channels.keep({4: registration(4, hanging.port), 5: registration(5, other.port)})
    for number in range(3):
        controller.channels.send(4, order(number))
        controller.channels.send(5, order(number))
    await until(lambda: len(controller.answered) == 3)
    assert other.seen == [0, 1, 2]
    assert hanging.seen == [0]
    controller.channels.close()
    await hanging.server.close()
    await other.server.close()


@pytest.mark.requirement("INT-18")
async def test_what_is_not_answered_is_sent_again_in_its_place_until_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_BACKOFF", 0.01)

    broker, controller = Broker(), Controller()
    await broker.start()
    async with Relay("127.0.0.1", broker.port) as relay:
        relay.cut()
        controller.channels.keep({4: registration(4, relay.listening_at)})
        for number in range(3):
            controller.channels.send(4, order(number))
        await until(lambda: relay.refused > 3)
        assert (broker.seen, controller.answered) == ([], [])
        relay.heal()
        await until(lambda: len(controller.answered) == 3)
        broker.held = asyncio.get_running_loop().create_future()
        controller.channels.send(4, order(3))
        await until(lambda: broker.seen[-1] == 3)
        relay.cut()
        broker.held = None
        relay.heal()
        await until(lambda: len(controller.answered) == 4)
        assert [number for _, number in controller.answered] == [0, 1, 2, 3]
        assert set(broker.seen) == {0, 1, 2, 3}
        assert broker.seen == sorted(broker.seen)
        assert broker.seen.count(3) == 2
    controller.channels.close()
    await broker.server.close()


def test_the_pause_before_a_request_is_sent_again_is_300_ms() -> None:
    assert module.RETRY_BACKOFF == 0.3


@pytest.mark.requirement("INT-16")
async def test_a_broker_that_answers_nothing_is_asked_again_after_the_socket_timeout() -> None:
    broker, controller = Broker(), Controller(socket_timeout=0.05)
    await broker.start()
    broker.held = asyncio.get_running_loop().create_future()
    controller.channels.keep({4: registration(4, broker.port)})
    controller.channels.send(4, order(7))
    await until(lambda: broker.seen == [7, 7])
    assert controller.answered == []
    assert len(broker.connections) == 2
    controller.channels.close()
    await broker.server.close()


@pytest.mark.requirement("INT-17", "INT-19")
async def test_the_retries_end_when_the_broker_is_registered_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_BACKOFF", 0.01)

    controller = Controller()
    async with Relay("127.0.0.1", 1) as gone, Relay("127.0.0.1", 1) as kept:
        gone.cut()
        kept.cut()
        brokers = {4: registration(4, gone.listening_at), 5: registration(5, kept.listening_at)}
        controller.channels.keep(brokers)
        controller.channels.send(4, order(7))
        controller.channels.send(5, order(7))
        await until(lambda: min(gone.refused, kept.refused) > 1)
        controller.channels.keep({5: brokers[5]})
        controller.channels.send(4, order(8))
        tried, meanwhile = gone.refused, kept.refused
        await until(lambda: kept.refused > meanwhile + 10)
        assert gone.refused <= tried + 1  # one may have been on its way
        controller.channels.close()


async def test_nothing_that_waited_for_one_process_is_sent_to_the_next_with_its_id() -> None:
    original, younger, controller = Broker(), Broker(), Controller()
    await original.start()
    await younger.start()
    original.held = asyncio.get_running_loop().create_future()
    controller.channels.keep({4: registration(4, original.port, epoch=1)})
    for number in range(3):
        controller.channels.send(4, order(number))
    await until(lambda: original.seen == [0])
    controller.channels.keep({4: registration(4, younger.port, epoch=2)})
    controller.channels.send(4, order(9))
    original.held.set_result(m.UpdateMetadataResponse())
    await until(lambda: controller.answered == [(4, 9)])
    assert (original.seen, younger.seen) == ([0], [9])
    controller.channels.close()
    await original.server.close()
    await younger.server.close()


async def test_a_request_that_cannot_be_sent_at_all_is_passed_over_and_said(caplog: pytest.LogCaptureFixture) -> None:
    broker, controller = Broker(), Controller()
    await broker.start()
    controller.channels.keep({4: registration(4, broker.port)})
    controller.channels.send(4, order(0))
    controller.channels.send(4, order(2**40))
    controller.channels.send(4, order(1))
    await until(lambda: controller.answered == [(4, 0), (4, 1)])
    controller.channels.close()
    await broker.server.close()
    assert "UpdateMetadataRequest for broker 4 is passed over" in caplog.text
