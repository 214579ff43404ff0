"""The controller inside a broker: always a candidate, and active while it holds /controller."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping

from fencepost.cluster_impl.coordination.errors import ConnectionLost, SessionExpired
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.zk_controller.controller.controller import Controller
from fencepost.cluster_impl.designs.zk_controller.controller.events import ControllerMoved, ReceivedRequest
from fencepost.cluster_impl.designs.zk_controller.controller.refusals import CONTROLLER_REQUESTS, not_controller
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.channels import Channels, ResponseListener
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.elector import Elector, WonElection
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.term import ControllerTerm
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import ControllerConfig
from fencepost.cluster_impl.designs.zk_controller.superseded import SupersededConnections
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connect
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.server import CloseConnection, Handler, Request

log = logging.getLogger(__name__)

PAUSE_AFTER_FAILURE = 1.0
"""Seconds without candidacy after a term that ended by an error, so that another broker is elected."""

CONTACT_SHARE = 0.2
"""The time between two confirmations of the session, as a share of the session timeout."""


class ControllerHost:
    """Runs on the node's ZooKeeper session, which the node opens before `start` and closes after `stop`."""

    def __init__(
        self,
        broker_id: int,
        zookeeper: ZooKeeper,
        make_controller: Callable[[], Controller],
        make_channels: Callable[[ResponseListener], Channels],
        is_registered: Callable[[], bool] = lambda: True,
    ) -> None:
        """Create a host. Call `reconsider` after each registration.

        `is_registered` returns whether this process holds the znode of its broker id. Without it the host is not a
        candidate, as the brokers would connect to another process (D343-16).
        """
        self._zookeeper = zookeeper
        self._make_controller = make_controller
        self._make_channels = make_channels
        self._superseded = SupersededConnections()
        self._elector = Elector(zookeeper, broker_id, self._controller_changed, is_registered)
        self._term: ControllerTerm | None = None
        self._candidacy: asyncio.Task[None] | None = None
        self.listeners: list[Callable[[int], None]] = []
        """Called with the id of each new controller, -1 if there is none."""
        self.handlers: Mapping[int, Handler] = dict.fromkeys(CONTROLLER_REQUESTS, self._handle)
        """For the INTERNAL listener. A host that is not active answers NOT_CONTROLLER."""

    @property
    def is_active(self) -> bool:
        return self._term is not None

    def known_controller(self) -> int:
        """Return the broker that /controller named when it was read last; -1 if there was none."""
        return self._elector.controller

    def reconsider(self) -> None:
        self._elector.reconsider()

    async def start(self) -> None:
        self._candidacy = asyncio.create_task(self._stand_for_ever())

    async def failed(self) -> None:
        """Wait for ever; raise the error that ends the candidacy."""
        assert self._candidacy is not None
        await asyncio.shield(self._candidacy)

    async def stop(self) -> None:
        """Resign if this is the controller, so that another one is elected at once."""
        if self._candidacy is not None:
            self._candidacy.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._candidacy
        self._elector.forget()

    async def _stand_for_ever(self) -> None:
        while True:
            await self._zookeeper.until_connected()
            try:
                won = await self._elector.stand()
                if won is None:
                    await self._elector.until_changed()
                else:
                    await self._serve(won)
            except (ConnectionLost, SessionExpired) as error:
                log.info("the election is tried again: %s", error)

    async def _serve(self, won: WonElection) -> None:
        """Run one term to its end. Raises ConnectionLost or SessionExpired if it could not begin."""
        await self._zookeeper.confirm()  # else the first heartbeats would be refused
        log.info("this broker is the controller at epoch %d", won.epoch)
        term = ControllerTerm(self._make_controller(), won, self._zookeeper, self._make_channels)
        self._term = term
        serving = asyncio.create_task(term.run())
        deposed = asyncio.create_task(self._until_deposed(won))
        in_contact = asyncio.create_task(self._stay_in_contact())
        try:
            await asyncio.wait({serving, deposed, in_contact}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._term = None
            reason = await _end(serving, deposed, in_contact)
            log.info("this broker is not the controller any more (epoch %d)", won.epoch)
            await self._elector.resign(won)
        if reason is not None and not isinstance(reason, (ControllerMoved, SessionExpired)):
            log.error("the term at epoch %d ended by a fault", won.epoch, exc_info=reason)
            await asyncio.sleep(PAUSE_AFTER_FAILURE)

    async def _until_deposed(self, won: WonElection) -> None:
        session = self._zookeeper.session_id
        while await self._holds(won, session):
            await self._elector.until_changed()

    async def _stay_in_contact(self) -> None:
        """Confirm the session again and again: the authority of the term depends on `synced_at`."""
        while True:
            try:
                await self._zookeeper.confirm()
            except ConnectionLost:
                await self._zookeeper.until_connected()
            else:
                await asyncio.sleep(self._zookeeper.session_timeout * CONTACT_SHARE)

    async def _holds(self, won: WonElection, session: int) -> bool:
        """Return whether the session lives and still holds /controller at this epoch."""
        while self._zookeeper.session_id == session:
            try:
                return await self._elector.holds(won)
            except ConnectionLost:
                await self._zookeeper.until_connected()
            except SessionExpired:
                break
        return False

    def _handle(self, request: Request) -> Message | Awaitable[Message]:
        body = request.body
        if isinstance(body, m.IsrChangeRequest) and self._superseded.is_superseded(
            (body.broker_id, body.incarnation_id), request.connection.number
        ):
            raise CloseConnection(
                "a late copy of an IsrChange arrived, which its sender has repeated on a newer connection"
            )
        if self._term is None:
            return not_controller(body)
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        def reply(response: Message) -> None:
            if not answer.done():  # the sender may have disconnected
                answer.set_result(response)

        self._term.ask(ReceivedRequest(body, request.version, reply, request.received_at))
        return answer

    def _controller_changed(self, controller: int) -> None:
        for listener in list(self.listeners):
            listener(controller)


async def _end(*tasks: asyncio.Task[None]) -> BaseException | None:
    """Cancel the tasks; return the error of the first one that had ended, if any."""
    reason = next((task.exception() for task in tasks if task.done() and not task.cancelled()), None)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return reason


def controller_host(
    config: ControllerConfig, zookeeper: ZooKeeper, connect: Connect, is_registered: Callable[[], bool]
) -> ControllerHost:
    """Return the controller host of a broker; `connect` opens its channels to brokers."""

    def make_channels(on_response: ResponseListener) -> Channels:
        return Channels(connect, config.listener, config.design.controller_socket_timeout, on_response)

    return ControllerHost(config.controller_id, zookeeper, lambda: Controller(config), make_channels, is_registered)
