"""The ISR proposals of a leader on their way to the controller, many in one request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from fencepost.cluster_impl.designs.shared.heartbeats import ControllerRequester, Reply
from fencepost.cluster_impl.replication.control_plane import (
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    TopicPartition,
)
from fencepost.cluster_impl.wire.codec import RequestMessage
from fencepost.cluster_impl.wire.errors import Error

RETRY = 0.05
"""Seconds between attempts while no controller answers."""
MOST = 1_000
"""The partitions of one request: a controller that decides on it answers no heartbeat meanwhile."""

SendProposals = Callable[[Sequence[IsrProposal], float], Awaitable[Mapping[TopicPartition, IsrOutcome]]]
"""Sends one request, waits the given seconds at most, and returns the outcome of each proposal."""


def by_topic(proposals: Sequence[IsrProposal]) -> Mapping[str, Sequence[IsrProposal]]:
    topics: dict[str, list[IsrProposal]] = {}
    for proposal in proposals:
        topics.setdefault(proposal.topic, []).append(proposal)
    return topics


async def outcomes_of(
    proposals: Sequence[IsrProposal],
    request: RequestMessage[Reply],
    link: ControllerRequester,
    timeout: float,
    *,
    error_code: Callable[[Reply], int],
    mistaken: Callable[[int], None],
    outcomes: Callable[[Reply], Mapping[TopicPartition, IsrOutcome]],
) -> Mapping[TopicPartition, IsrOutcome]:
    """Send one request with these proposals, wait `timeout` seconds at most, and return the outcome of each.

    `error_code` and `outcomes` read a response; `mistaken` is called with a node that is not the controller.
    """

    def all_are(outcome: IsrOutcome) -> Mapping[TopicPartition, IsrOutcome]:
        return {proposal.topic_partition: outcome for proposal in proposals}

    try:
        node_id, reply = await link.request(request, 0, timeout)
    except (ConnectionError, TimeoutError) as failure:
        return all_are(IsrUnknown(str(failure)))
    error = Error(error_code(reply))
    if error is Error.NOT_CONTROLLER:
        # A controller that was deposed during the change answers this too, so the outcome is unknown.
        mistaken(node_id)
        return all_are(IsrUnknown(f"node {node_id} is not the controller"))
    if error:
        return all_are(IsrRefused(error))
    return {**all_are(IsrUnknown(f"node {node_id} left it out of its response")), **outcomes(reply)}


@dataclass(frozen=True, slots=True)
class _Attempt:
    proposal: IsrProposal
    deadline: float
    outcome: asyncio.Future[IsrOutcome]


class IsrProposals:
    """Takes the ISR proposals of a broker to the controller by `send`.

    One request is on its way at a time; the proposals that come meanwhile go together in the next one, a partition
    once. When a broker returns, each of its partitions has a proposal, and a request for each would keep the controller
    from heartbeats.
    """

    def __init__(self, send: SendProposals) -> None:
        self._send = send
        self._waiting: list[_Attempt] = []
        self._sender: asyncio.Task[None] | None = None

    async def change(self, proposal: IsrProposal, timeout: float) -> IsrOutcome:
        """Send the proposal, and again for `timeout` seconds while its outcome is unknown, also to a new controller.

        `send` has to make sure that a change that was made is not made twice. A refusal of a retry says nothing about
        the first attempt, which may have been made or may still arrive, so the outcome stays unknown.
        """
        deadline = time.monotonic() + timeout
        in_doubt = False
        while True:
            outcome = await self._attempt(proposal, max(time.monotonic() + RETRY, deadline))
            if in_doubt and isinstance(outcome, IsrRefused):
                return IsrUnknown(f"it was refused ({outcome.error.name}) after an attempt without a response")
            if not isinstance(outcome, IsrUnknown) or time.monotonic() + RETRY >= deadline:
                return outcome
            in_doubt = True
            await asyncio.sleep(RETRY)

    def close(self) -> None:
        """Cancel the proposals without an outcome."""
        if self._sender is not None:
            self._sender.cancel()
        for attempt in self._waiting:
            attempt.outcome.cancel()

    async def _attempt(self, proposal: IsrProposal, deadline: float) -> IsrOutcome:
        attempt = _Attempt(proposal, deadline, asyncio.get_running_loop().create_future())
        self._waiting.append(attempt)
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send_all())
        return await attempt.outcome

    async def _send_all(self) -> None:
        while batch := self._next():
            timeout = max(attempt.deadline for attempt in batch) - time.monotonic()
            try:
                outcomes = await self._send([attempt.proposal for attempt in batch], timeout)
                for attempt in batch:
                    if not attempt.outcome.done():
                        attempt.outcome.set_result(outcomes[attempt.proposal.topic_partition])
            except Exception as failure:  # The callers get it.
                for attempt in batch:
                    if not attempt.outcome.done():
                        attempt.outcome.set_exception(failure)
            finally:
                for attempt in batch:
                    attempt.outcome.cancel()

    def _next(self) -> list[_Attempt]:
        """Take the proposals for the next request, of each partition one. Those whose time is up get their outcome."""
        now = time.monotonic()
        chosen: dict[TopicPartition, _Attempt] = {}
        left: list[_Attempt] = []
        for attempt in self._waiting:
            if attempt.outcome.done():
                continue
            if attempt.deadline <= now:
                attempt.outcome.set_result(IsrUnknown("the requests before it had no response in time"))
            elif len(chosen) < MOST and attempt.proposal.topic_partition not in chosen:
                chosen[attempt.proposal.topic_partition] = attempt
            else:
                left.append(attempt)
        self._waiting = left
        return [*chosen.values()]
