"""The AlterIsr requests of a broker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.designs.quorum.broker.lifecycle import LeaseLifecycle
from fencepost.cluster_impl.designs.quorum.broker.link import ActiveControllerLink
from fencepost.cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    TopicPartition,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

RETRY = 0.05
"""Seconds between attempts while no active controller answers."""
MOST = 1_000
"""The partitions of one request: a controller that decides on it answers no heartbeat meanwhile."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    proposal: IsrProposal
    deadline: float
    outcome: asyncio.Future[IsrOutcome]


class IsrRequests:
    """Takes the ISR proposals of a broker to the active controller.

    One request is on its way at a time; the proposals that come meanwhile go together in the next one. When a broker
    returns, each of its partitions has a proposal, and a request for each would keep the controller from heartbeats.
    `timeout` bounds, in seconds, the wait for the outcome of a proposal.
    """

    def __init__(
        self,
        broker_id: int,
        lifecycle: LeaseLifecycle,
        link: ActiveControllerLink,
        finder: ControllerFinder,
        timeout: float,
    ) -> None:
        self._broker_id = broker_id
        self._lifecycle = lifecycle
        self._link = link
        self._finder = finder
        self._timeout = timeout
        self._waiting: list[_Waiting] = []
        self._sender: asyncio.Task[None] | None = None

    async def ask(self, proposal: IsrProposal) -> IsrOutcome:
        """Send the proposal to the active controller, and retry within the timeout, also at a new controller.

        A retry after an unknown outcome is safe: if the change was made, its version has moved. But a refusal of a
        retry says nothing about the first attempt, which may have been made or may still arrive, so the outcome stays
        unknown.
        """
        deadline = time.monotonic() + self._timeout
        in_doubt = False
        while True:
            outcome = await self._attempt(proposal, max(time.monotonic() + RETRY, deadline))
            if in_doubt and isinstance(outcome, IsrRefused):
                return IsrUnknown(f"it was refused ({outcome.error.name}) after an attempt without a response")
            if not isinstance(outcome, IsrUnknown) or time.monotonic() + RETRY >= deadline:
                return outcome
            in_doubt = True
            await asyncio.sleep(RETRY)

    async def _attempt(self, proposal: IsrProposal, deadline: float) -> IsrOutcome:
        waiting = _Waiting(proposal, deadline, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send_all())
        return await waiting.outcome

    async def _send_all(self) -> None:
        while batch := self._next():
            try:
                outcomes = await self._send([each.proposal for each in batch], max(each.deadline for each in batch))
            except Exception as failure:  # The callers get it.
                for each in batch:
                    if not each.outcome.done():
                        each.outcome.set_exception(failure)
                continue
            for each in batch:
                if not each.outcome.done():
                    each.outcome.set_result(outcomes[each.proposal.topic_partition])

    def _next(self) -> list[_Waiting]:
        """Take the proposals for the next request, of each partition one. Those whose time is up get their outcome."""
        now = time.monotonic()
        chosen: dict[TopicPartition, _Waiting] = {}
        left: list[_Waiting] = []
        for each in self._waiting:
            if each.outcome.done():
                continue
            if each.deadline <= now:
                each.outcome.set_result(IsrUnknown("the requests before it had no response in time"))
            elif len(chosen) < MOST and each.proposal.topic_partition not in chosen:
                chosen[each.proposal.topic_partition] = each
            else:
                left.append(each)
        self._waiting = left
        return [*chosen.values()]

    async def _send(self, proposals: Sequence[IsrProposal], deadline: float) -> Mapping[TopicPartition, IsrOutcome]:
        """Send one request; return the outcome of each proposal."""

        def all_are(outcome: IsrOutcome) -> Mapping[TopicPartition, IsrOutcome]:
            return {each.topic_partition: outcome for each in proposals}

        topics: dict[str, list[m.AlterIsrRequest.PartitionData]] = {}
        for each in proposals:
            partition = m.AlterIsrRequest.PartitionData(
                partition_index=each.partition,
                leader_epoch=each.leader_epoch,
                new_isr=list(each.isr),
                current_isr_version=each.version,
            )
            topics.setdefault(each.topic, []).append(partition)
        request = m.AlterIsrRequest(
            broker_id=self._broker_id,
            broker_epoch=self._lifecycle.epoch,
            topics=[m.AlterIsrRequest.TopicData(name=name, partitions=of) for name, of in topics.items()],
        )
        try:
            controller_id, reply = await self._link.request(request, 0, deadline - time.monotonic())
        except (ConnectionError, TimeoutError) as failure:
            return all_are(IsrUnknown(str(failure)))
        if reply.error_code == Error.NOT_CONTROLLER:
            self._finder.failed(controller_id)
            return all_are(IsrUnknown(f"controller {controller_id} is not active"))
        if reply.error_code:
            return all_are(IsrRefused(Error(reply.error_code)))
        answers = {
            TopicPartition(topic.name, answer.partition_index): _outcome(answer, controller_id)
            for topic in reply.topics
            for answer in topic.partitions
        }
        return {**all_are(IsrUnknown(f"controller {controller_id} did not say")), **answers}


def _outcome(answer: m.AlterIsrResponse.PartitionData, controller_id: int) -> IsrOutcome:
    if answer.error_code == Error.NOT_CONTROLLER:
        return IsrUnknown(f"controller {controller_id} is behind this broker")
    if answer.error_code:
        return IsrRefused(Error(answer.error_code))
    return IsrAccepted(isr=tuple(answer.isr), leader_epoch=answer.leader_epoch, version=answer.current_isr_version)
