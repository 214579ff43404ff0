"""AddRaftVoter (80) and RemoveRaftVoter (81): one voter joins or leaves the quorum at a time (KIP-631, Nodes).

The requests are those of KIP-853; the draft names none. A new voter first catches up without a vote, so that the larger
quorum does not wait for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import cast

from fencepost.cluster_impl.designs.quorum.raft.core import NotLeader, VoterChangeRefused
from fencepost.cluster_impl.designs.quorum.raft.node import RaftNode
from fencepost.cluster_impl.designs.quorum.raft.voters import Address, VoterSet
from fencepost.cluster_impl.designs.quorum.raft.waiting import LostLeadership
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Handler, Request

log = logging.getLogger(__name__)

LOOK_EVERY_S = 0.05
"""Seconds between two looks at the progress of a controller that is to become a voter."""
REMOVE_TIMEOUT_S = 30.0
"""The request to remove a voter has no timeout of its own."""

Outcome = tuple[Error, str | None]


class VoterRequests:
    """The handlers of one controller."""

    def __init__(self, raft: RaftNode, cluster_id: str) -> None:
        self._raft = raft
        self._cluster_id = cluster_id
        self.handlers: Mapping[int, Handler] = {
            m.AddRaftVoterRequest.API_KEY: self._add_requested,
            m.RemoveRaftVoterRequest.API_KEY: self._remove_requested,
        }

    async def _add_requested(self, request: Request) -> m.AddRaftVoterResponse:
        body = cast("m.AddRaftVoterRequest", request.body)
        addresses = [(at.host, at.port) for at in body.listeners]
        if not addresses or body.voter_id < 0:
            error, message = Error.INVALID_REQUEST, "A voter needs an id and the address of a listener."
            return m.AddRaftVoterResponse(error_code=error, error_message=message)
        adding = partial(self._add, body.voter_id, addresses[0])
        error, why = await self._outcome(body.cluster_id, adding, body.timeout_ms / 1000)
        return m.AddRaftVoterResponse(error_code=error, error_message=why)

    async def _remove_requested(self, request: Request) -> m.RemoveRaftVoterResponse:
        body = cast("m.RemoveRaftVoterRequest", request.body)
        error, why = await self._outcome(body.cluster_id, partial(self._remove, body.voter_id), REMOVE_TIMEOUT_S)
        return m.RemoveRaftVoterResponse(error_code=error, error_message=why)

    async def _outcome(
        self, cluster_id: str | None, change: Callable[[], Awaitable[Outcome]], timeout: float
    ) -> Outcome:
        if cluster_id not in (None, self._cluster_id):
            return Error.INCONSISTENT_CLUSTER_ID, f"This is the cluster {self._cluster_id}."
        try:
            async with asyncio.timeout(timeout):
                return await change()
        except (NotLeader, LostLeadership) as error:
            return Error.NOT_LEADER_OR_FOLLOWER, f"Ask the active controller: {error}."
        except VoterChangeRefused as error:
            return Error.REQUEST_TIMED_OUT, f"Ask again: {error}."
        except TimeoutError:
            return Error.REQUEST_TIMED_OUT, "The voters did not change in time; they may still."

    async def _add(self, node_id: int, address: Address) -> Outcome:
        voters = self._raft.voters
        if node_id in voters.ids:
            return Error.DUPLICATE_VOTER, f"Controller {node_id} is a voter already."
        end = self._raft.last_stable_offset
        while True:
            if self._raft.caught_up(node_id, end):
                break
            await asyncio.sleep(LOOK_EVERY_S)
        return await self._commit(VoterSet.of({**self._raft.voters.addresses, node_id: address}))

    async def _remove(self, node_id: int) -> Outcome:
        addresses = self._raft.voters.addresses
        if node_id not in addresses:
            return Error.VOTER_NOT_FOUND, f"Controller {node_id} is no voter."
        return await self._commit(VoterSet.of({other: at for other, at in addresses.items() if other != node_id}))

    async def _commit(self, voters: VoterSet) -> Outcome:
        offset, epoch = self._raft.change_voters(voters)
        await self._raft.committed(offset, epoch)
        log.info("the voters %s are committed", sorted(voters.ids))
        return Error.NONE, None
