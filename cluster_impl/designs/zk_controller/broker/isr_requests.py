"""How a leader changes ISRs at KIP-343's level: it asks the controller by IsrChange (Initiating ISR Changes).

One request is on its way at a time, and what gathers meanwhile goes into the next: a broker that comes back rejoins
thousands of ISRs at once, and thousands of requests would keep the controller from everything else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from cluster_impl.designs.zk_controller.broker.link import ControllerLink
from cluster_impl.replication.control_plane import IsrAccepted, IsrOutcome, IsrProposal, IsrRefused, IsrUnknown
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

RETRY = 0.05
"""Seconds between attempts while nobody answers as the controller."""
LARGEST = 2000
"""Partitions in one request."""


@dataclass(slots=True, eq=False)
class _Asked:
    """A proposal and who waits for its outcome; after `deadline`, loop time, it is not asked again."""

    proposal: IsrProposal
    deadline: float
    outcome: asyncio.Future[IsrOutcome] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    in_doubt: bool = False
    """An earlier attempt was not answered, so it may have been granted, or may still be on its way."""

    def settle(self, outcome: IsrOutcome) -> None:
        if self.outcome.done():
            return  # whoever waited has gone
        if self.in_doubt and isinstance(outcome, IsrRefused):
            outcome = IsrUnknown(f"it was refused ({outcome.error.name}) after an attempt that nobody answered")
        self.outcome.set_result(outcome)


class IsrRequester:
    """`incarnation` gives this process's own.

    IsrChange names no version, but within a leader epoch nobody else changes the state: asking again after silence does
    no harm, and what was granted is one version on. A refusal of such a repetition says nothing of the first attempt.
    """

    def __init__(self, broker_id: int, incarnation: Callable[[], int], link: ControllerLink) -> None:
        self._broker_id = broker_id
        self._incarnation = incarnation
        self._link = link
        self._waiting: list[_Asked] = []
        self._sending: asyncio.Task[None] | None = None

    async def change(self, proposal: IsrProposal, timeout: float) -> IsrOutcome:
        """Ask the controller, whoever that becomes within `timeout` seconds."""
        asked = _Asked(proposal, asyncio.get_running_loop().time() + timeout)
        self._waiting.append(asked)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())
        return await asked.outcome

    async def _send(self) -> None:
        """Until nothing waits."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = _by_topic(self._waiting[:LARGEST])
            del self._waiting[:LARGEST]
            outcomes = await self._ask(batch, max(asked.deadline for asked in batch) - loop.time())
            again = []
            for asked, outcome in zip(batch, outcomes, strict=True):
                if isinstance(outcome, IsrUnknown) and loop.time() + RETRY < asked.deadline:
                    asked.in_doubt = True
                    again.append(asked)
                else:
                    asked.settle(outcome)
            if again:
                self._waiting[:0] = again
                await asyncio.sleep(RETRY)

    async def _ask(self, batch: Sequence[_Asked], timeout: float) -> Sequence[IsrOutcome]:
        """One attempt; the outcome of each proposal, in their order."""
        try:
            asked, reply = await self._link.request(self._request(batch), 0, max(RETRY, timeout))
        except (ConnectionError, TimeoutError) as failure:
            return [IsrUnknown(str(failure))] * len(batch)
        if reply.top_level_error_code == Error.NOT_CONTROLLER:
            # A controller that was deposed in the middle of a change answers this too, and does not know its fate.
            self._link.mistaken(asked)
            return [IsrUnknown(f"broker {asked} is not the controller")] * len(batch)
        if reply.top_level_error_code:
            return [IsrRefused(Error(reply.top_level_error_code))] * len(batch)
        if len(reply.results) != len(batch):
            return [IsrUnknown(f"broker {asked} answered {len(reply.results)} of {len(batch)} changes")] * len(batch)
        return [_outcome(each.proposal, result) for each, result in zip(batch, reply.results, strict=True)]

    def _request(self, batch: Iterable[_Asked]) -> m.IsrChangeRequest:
        """Partitions of one topic stand together, as `_by_topic` has put them."""
        topics: dict[str, list[m.IsrChangeRequest.PartitionData]] = {}
        for asked in batch:
            proposal = asked.proposal
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
        """Whoever waits still is let go."""
        if self._sending is not None:
            self._sending.cancel()
        for asked in self._waiting:
            asked.outcome.cancel()


def _by_topic(asked: Iterable[_Asked]) -> list[_Asked]:
    topics: dict[str, list[_Asked]] = {}
    for each in asked:
        topics.setdefault(each.proposal.topic, []).append(each)
    return [each for them in topics.values() for each in them]


def _outcome(proposal: IsrProposal, result: m.IsrChangeResponse.Result) -> IsrOutcome:
    error = Error(result.error_code)
    if error is Error.NOT_CONTROLLER:
        return IsrUnknown("the controller was deposed while it changed the ISR")
    if error:
        return IsrRefused(error)
    return IsrAccepted(isr=proposal.isr, leader_epoch=proposal.leader_epoch, version=proposal.version + 1)
