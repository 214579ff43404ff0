"""The controller inside a broker: candidate for good, active while it holds /controller."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping

from cluster_impl.coordination.errors import ConnectionLost, SessionExpired
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.zk_controller.controller.channels import Answered, Channels
from cluster_impl.designs.zk_controller.controller.driver import Core, Term
from cluster_impl.designs.zk_controller.controller.elector import Elected, Elector
from cluster_impl.designs.zk_controller.controller.events import Asked
from cluster_impl.designs.zk_controller.controller.moved import ControllerMoved
from cluster_impl.designs.zk_controller.controller.refusals import CONTROLLER_REQUESTS, not_controller
from cluster_impl.designs.zk_controller.superseded import SupersededConnections
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message
from cluster_impl.wire.server import CloseConnection, Handler, Request

log = logging.getLogger(__name__)

PAUSE_AFTER_FAILURE = 1.0
"""Seconds in which another broker may be elected, after a term that ended by a fault of its own."""

CONTACT_SHARE = 0.2
"""Of the session timeout: the time between two confirmations of the session."""


class ControllerHost:
    """Runs on the node's ZooKeeper session, which its owner opens before `start` and closes after `stop`."""

    def __init__(
        self,
        broker_id: int,
        zookeeper: ZooKeeper,
        make_core: Callable[[], Core],
        make_channels: Callable[[Answered], Channels],
        is_registered: Callable[[], bool] = lambda: True,
    ) -> None:
        """`is_registered` says whether this broker's znode is its own: nobody would find another process of its id, so
        it is no candidate without (D343-16). `reconsider` is to be called when it is registered (again)."""
        self._zookeeper = zookeeper
        self._make_core = make_core
        self._make_channels = make_channels
        self._superseded = SupersededConnections()
        self._elector = Elector(zookeeper, broker_id, self._heard, is_registered)
        self._term: Term | None = None
        self._candidacy: asyncio.Task[None] | None = None
        self.listeners: list[Callable[[int], None]] = []
        """Called with the id of each controller that is heard of, -1 when there is none."""
        self.handlers: Mapping[int, Handler] = dict.fromkeys(CONTROLLER_REQUESTS, self._handle)
        """For the INTERNAL listener. Who is not the active controller answers NOT_CONTROLLER."""

    @property
    def is_active(self) -> bool:
        return self._term is not None

    def known_controller(self) -> int:
        """The broker that /controller named when it was read last; -1 if there was none."""
        return self._elector.controller

    def reconsider(self) -> None:
        self._elector.reconsider()

    async def start(self) -> None:
        self._candidacy = asyncio.create_task(self._stand_for_ever())

    async def failed(self) -> None:
        """Returns never; raises what the candidate died of."""
        assert self._candidacy is not None
        await asyncio.shield(self._candidacy)

    async def stop(self) -> None:
        """Resigns, if it is the controller, so that another one is elected at once."""
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

    async def _serve(self, won: Elected) -> None:
        """One term, to its end. Raises ConnectionLost or SessionExpired if it could not begin."""
        await self._zookeeper.confirm()  # else the first heartbeats would be refused, and their senders leave
        log.info("this broker is the controller at epoch %d", won.epoch)
        term = Term(self._make_core(), won, self._zookeeper, self._make_channels)
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

    async def _until_deposed(self, won: Elected) -> None:
        session = self._zookeeper.session_id
        while await self._holds(won, session):
            await self._elector.until_changed()

    async def _stay_in_contact(self) -> None:
        """Keeps `synced_at` young: the term's authority depends on it."""
        while True:
            try:
                await self._zookeeper.confirm()
            except ConnectionLost:
                await self._zookeeper.until_connected()
            else:
                await asyncio.sleep(self._zookeeper.session_timeout * CONTACT_SHARE)

    async def _holds(self, won: Elected, session: int) -> bool:
        """Whether the session lives, and /controller is still its own, at this epoch."""
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
            raise CloseConnection("an IsrChange came that its sender has repeated by a newer connection since")
        if self._term is None:
            return not_controller(body)
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        def reply(response: Message) -> None:
            if not answer.done():  # whoever asked may have left
                answer.set_result(response)

        self._term.ask(Asked(body, request.version, reply, request.received_at))
        return answer

    def _heard(self, controller: int) -> None:
        for listener in list(self.listeners):
            listener(controller)


async def _end(*tasks: asyncio.Task[None]) -> BaseException | None:
    """Ends them; returns what the first of them that ended by itself raised."""
    reason = next((task.exception() for task in tasks if task.done() and not task.cancelled()), None)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return reason
