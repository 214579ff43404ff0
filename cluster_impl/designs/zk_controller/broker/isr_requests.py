"""ISR changes at the level of KIP-343: the leader sends IsrChange to the controller (Initiating ISR Changes).

One request is in flight at a time; proposals that arrive meanwhile go into the next one. A broker that returns rejoins
thousands of ISRs at once, and thousands of requests would block the controller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from fencepost.cluster_impl.designs.zk_controller.broker.link import ControllerLink
from fencepost.cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

RETRY = 0.05
"""Seconds between attempts while no controller answers."""
LARGEST = 2000
"""Partitions in one request."""


@dataclass(slots=True, eq=False)
class _PendingProposal:
    """A proposal and the future of its outcome; after `deadline`, in loop time, it is not sent again."""

    proposal: IsrProposal
    deadline: float
    outcome: asyncio.Future[IsrOutcome] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    in_doubt: bool = False
    """An earlier attempt had no response, so it may have been granted, or may still arrive."""

    def settle(self, outcome: IsrOutcome) -> None:
        if self.outcome.done():
            return  # the caller was cancelled
        if self.in_doubt and isinstance(outcome, IsrRefused):
            outcome = IsrUnknown(f"it was refused ({outcome.error.name}) after an attempt without a response")
        self.outcome.set_result(outcome)


class IsrRequester:
    """Sends the proposals of this broker. `incarnation` returns the incarnation of this process.

    IsrChange names no version, but within a leader epoch only the leader changes the state. So a request without a
    response can be repeated, and a granted change raises the version by one. If the repetition is refused, the outcome
    of the first attempt stays unknown.
    """

    def __init__(self, broker_id: int, incarnation: Callable[[], int], link: ControllerLink) -> None:
        self._broker_id = broker_id
        self._incarnation = incarnation
        self._link = link
        self._waiting: list[_PendingProposal] = []
        self._sending: asyncio.Task[None] | None = None

    async def change(self, proposal: IsrProposal, timeout: float) -> IsrOutcome:
        """Send a proposal to the controller, and to the next one if it changes, for `timeout` seconds."""
        pending = _PendingProposal(proposal, asyncio.get_running_loop().time() + timeout)
        self._waiting.append(pending)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())
        return await pending.outcome

    async def _send(self) -> None:
        """Send requests until no proposal waits."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = _by_topic(self._waiting[:LARGEST])
            del self._waiting[:LARGEST]
            outcomes = await self._ask(batch, max(pending.deadline for pending in batch) - loop.time())
            again = []
            for pending, outcome in zip(batch, outcomes, strict=True):
                if isinstance(outcome, IsrUnknown) and loop.time() + RETRY < pending.deadline:
                    pending.in_doubt = True
                    again.append(pending)
                else:
                    pending.settle(outcome)
            if again:
                self._waiting[:0] = again
                await asyncio.sleep(RETRY)

    async def _ask(self, batch: Sequence[_PendingProposal], timeout: float) -> Sequence[IsrOutcome]:
        """Make one attempt; return the outcomes of the proposals in their order."""
        try:
            sender, reply = await self._link.request(self._request(batch), 0, max(RETRY, timeout))
        except (ConnectionError, TimeoutError) as failure:
            return [IsrUnknown(str(failure))] * len(batch)
        if reply.top_level_error_code == Error.NOT_CONTROLLER:
            # A controller that was deposed during the change answers this too, and the outcome of the change is
            # unknown.
            self._link.mistaken(sender)
            return [IsrUnknown(f"broker {sender} is not the controller")] * len(batch)
        if reply.top_level_error_code:
            return [IsrRefused(Error(reply.top_level_error_code))] * len(batch)
        if len(reply.results) != len(batch):
            return [IsrUnknown(f"broker {sender} answered {len(reply.results)} of {len(batch)} changes")] * len(batch)
        return [outcome_of(each.proposal, result) for each, result in zip(batch, reply.results, strict=True)]

    def _request(self, batch: Iterable[_PendingProposal]) -> m.IsrChangeRequest:
        """Return the request; `_by_topic` has grouped the proposals by topic."""
        topics: dict[str, list[m.IsrChangeRequest.PartitionData]] = {}
        for pending in batch:
            proposal = pending.proposal
            partition = m.IsrChangeRequest.PartitionData(
                leader_epoch=proposal.leader_epoch, partition_index=proposal.partition, isr_nodes=list(proposal.isr)
            )
            topics.setdefault(proposal.topic, []).append(partition)
        return m.IsrChangeRequest(
            broker_id=self._broker_id,
            incarnation_id=self._incarnation(),
            topics=[m.IsrChangeRequest.TopicData(topic_name=name, partitions=them) for name, them in topics.items()],
        )

    def close(self) -> None:
        """Cancel the proposals that wait."""
        if self._sending is not None:
            self._sending.cancel()
        for pending in self._waiting:
            pending.outcome.cancel()


def _by_topic(pending: Iterable[_PendingProposal]) -> list[_PendingProposal]:
    topics: dict[str, list[_PendingProposal]] = {}
    for each in pending:
        topics.setdefault(each.proposal.topic, []).append(each)
    return [each for them in topics.values() for each in them]


def outcome_of(proposal: IsrProposal, result: m.IsrChangeResponse.Result) -> IsrOutcome:
    error = Error(result.error_code)
    if error is Error.NOT_CONTROLLER:
        return IsrUnknown("the controller was deposed while it changed the ISR")
    if error:
        return IsrRefused(error)
    return IsrAccepted(isr=proposal.isr, leader_epoch=proposal.leader_epoch, version=proposal.version + 1)
