"""How a leader changes an ISR at KIP-343's level: it asks the controller by IsrChange (Initiating ISR Changes)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from cluster_impl.designs.zk_controller.broker.link import ControllerLink
from cluster_impl.replication.control_plane import IsrAccepted, IsrOutcome, IsrProposal, IsrRefused, IsrUnknown
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

RETRY = 0.05
"""Seconds between attempts while nobody answers as the controller."""


class IsrRequester:
    """`incarnation` gives this process's own."""

    def __init__(self, broker_id: int, incarnation: Callable[[], int], link: ControllerLink) -> None:
        self._broker_id = broker_id
        self._incarnation = incarnation
        self._link = link

    async def change(self, proposal: IsrProposal, timeout: float) -> IsrOutcome:
        """Ask the controller, whoever that becomes within `timeout` seconds.

        IsrChange names no version, but within a leader epoch nobody else changes the state: asking again after silence
        does no harm, and what was granted is one version on. A refusal of such a repetition says nothing of the first
        attempt, which may have been granted, or may still be on its way.
        """
        deadline = time.monotonic() + timeout
        in_doubt = False
        while True:
            outcome = await self._ask(proposal, max(RETRY, deadline - time.monotonic()))
            if in_doubt and isinstance(outcome, IsrRefused):
                return IsrUnknown(f"it was refused ({outcome.error.name}) after an attempt that nobody answered")
            if not isinstance(outcome, IsrUnknown) or time.monotonic() + RETRY >= deadline:
                return outcome
            in_doubt = True
            await asyncio.sleep(RETRY)

    async def _ask(self, proposal: IsrProposal, timeout: float) -> IsrOutcome:
        partition = m.IsrChangeRequest.PartitionData(
            leader_epoch=proposal.leader_epoch, partition_index=proposal.partition, isr_nodes=list(proposal.isr)
        )
        request = m.IsrChangeRequest(
            broker_id=self._broker_id,
            incarnation_id=self._incarnation(),
            topics=[m.IsrChangeRequest.TopicData(topic_name=proposal.topic, partitions=[partition])],
        )
        try:
            asked, reply = await self._link.request(request, 0, timeout)
        except (ConnectionError, TimeoutError) as failure:
            return IsrUnknown(str(failure))
        error = Error(reply.top_level_error_code or reply.results[0].error_code)
        if error is Error.NOT_CONTROLLER:
            # A controller that was deposed in the middle of a change answers this too, and does not know its fate.
            return IsrUnknown(f"broker {asked} is not the controller")
        if error:
            return IsrRefused(error)
        return IsrAccepted(isr=proposal.isr, leader_epoch=proposal.leader_epoch, version=proposal.version + 1)
