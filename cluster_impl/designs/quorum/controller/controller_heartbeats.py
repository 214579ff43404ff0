"""The heartbeats of a controller, and their handling by the active one (KIP-631, ControllerHeartbeat)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.quorum.features import SUPPORTED, support_of
from fencepost.cluster_impl.designs.quorum.raft.node import RaftNode
from fencepost.cluster_impl.designs.quorum.raft.peer import PeerBook
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

_VERSION = 0

Answer = Callable[[m.ControllerHeartbeatRequest], Awaitable[m.ControllerHeartbeatResponse]]


def controller_heartbeat(
    state: ControllerState, request: m.ControllerHeartbeatRequest, now: float
) -> ControllerResult[m.ControllerHeartbeatResponse]:
    """Decide one heartbeat of a controller."""
    if request.controller_id not in state.controller_ids or request.last_snapshot_offset < 0:
        return ControllerResult(m.ControllerHeartbeatResponse(error_code=Error.INVALID_REQUEST))
    state.controller_features[request.controller_id] = support_of(request.features)
    start = state.snapshots.heard(request.controller_id, request.last_snapshot_offset, state.stable_offset + 1, now)
    if start:
        log.info("controller %d is to make a snapshot", request.controller_id)
    return ControllerResult(m.ControllerHeartbeatResponse(start_snapshot=start))


class ControllerHeartbeats:
    """Reports the newest snapshot of this controller to the active one, and makes a new one when it is requested.

    The active controller reports to itself. `interval` is in seconds; `peers` are connections of their own, so that no
    heartbeat waits behind a fetch. A controller without a vote reports nothing.
    """

    def __init__(
        self, controller_id: int, interval: float, raft: RaftNode, peers: PeerBook, own_answer: Answer
    ) -> None:
        self._id = controller_id
        self._interval = interval
        self._raft = raft
        self._peers = peers
        self._own_answer = own_answer
        self._beating: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to send heartbeats in a task. The Raft node runs."""
        self._beating = asyncio.create_task(self._run())

    async def close(self) -> None:
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.wait({self._beating})
        self._peers.close()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._interval)
            leader_id = self._raft.leader_id
            if leader_id is None or self._id not in self._raft.voters.ids:
                continue
            request = m.ControllerHeartbeatRequest(
                controller_id=self._id,
                last_snapshot_offset=self._raft.snapshot_offset,
                features=[
                    m.ControllerHeartbeatRequest.SupportedFeature(
                        name=name, min_version=has.lowest, max_version=has.highest
                    )
                    for name, has in SUPPORTED.items()
                ],
            )
            try:
                response = await self._ask(leader_id, request)
            except (ConnectionError, TimeoutError) as error:
                log.debug("no answer to a heartbeat of this controller: %s", error)
                continue
            if response.error_code == Error.NONE and response.start_snapshot:
                self._raft.start_snapshot()

    async def _ask(self, leader_id: int, request: m.ControllerHeartbeatRequest) -> m.ControllerHeartbeatResponse:
        if leader_id == self._id:
            return await self._own_answer(request)
        return await self._peers.peer(leader_id).request(request, _VERSION)
