"""ISR proposals on their way to a controller: what goes into one request, and what becomes of the callers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.shared.isr_proposals import MOST, IsrProposals
from fencepost.cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    TopicPartition,
)
from fencepost.cluster_impl.wire.errors import Error

PROPOSAL = IsrProposal(topic="t", topic_id=UUID(int=1), partition=0, leader_epoch=3, isr=(4, 5), version=3)
ACCEPTED = IsrAccepted(isr=(4, 5), leader_epoch=3, version=4)


class Controller:
    """Answers each request with the next of `answers`, or raises it; the last one is given again and again."""

    def __init__(self, *answers: IsrOutcome | Exception) -> None:
        self.answers = [*answers]
        self.asked: list[list[TopicPartition]] = []
        self.answering = asyncio.Event()
        self.answering.set()

    async def send(self, proposals: Sequence[IsrProposal], timeout: float) -> Mapping[TopicPartition, IsrOutcome]:
        self.asked.append([each.topic_partition for each in proposals])
        await self.answering.wait()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return {each.topic_partition: answer for each in proposals}


async def test_a_request_has_a_bounded_number_of_partitions() -> None:
    controller = Controller(ACCEPTED)
    queue = IsrProposals(controller.send)
    changes = [replace(PROPOSAL, partition=index) for index in range(MOST + 1)]
    assert await asyncio.gather(*(queue.change(each, 5.0) for each in changes)) == [ACCEPTED] * len(changes)
    assert [len(each) for each in controller.asked] == [MOST, 1]


async def test_a_proposal_of_unknown_outcome_is_sent_again() -> None:
    controller = Controller(IsrUnknown("lost"), ACCEPTED)
    assert await IsrProposals(controller.send).change(PROPOSAL, 5.0) == ACCEPTED


async def test_a_refusal_after_a_lost_response_leaves_the_first_attempt_in_doubt() -> None:
    controller = Controller(IsrUnknown("lost"), IsrRefused(Error.INVALID_UPDATE_VERSION))
    assert isinstance(await IsrProposals(controller.send).change(PROPOSAL, 5.0), IsrUnknown)


async def test_an_unexpected_failure_reaches_the_callers_and_stops_no_later_proposal() -> None:
    controller = Controller(ValueError("a bug"), ACCEPTED)
    queue = IsrProposals(controller.send)
    with pytest.raises(ValueError, match="a bug"):
        await queue.change(PROPOSAL, 5.0)
    assert await queue.change(PROPOSAL, 5.0) == ACCEPTED


async def test_closing_leaves_no_caller_waiting() -> None:
    controller = Controller(ACCEPTED)
    controller.answering.clear()
    queue = IsrProposals(controller.send)
    sent = asyncio.create_task(queue.change(PROPOSAL, 5.0))
    while not controller.asked:  # noqa: ASYNC110
        await asyncio.sleep(0)
    waiting = asyncio.create_task(queue.change(replace(PROPOSAL, partition=1), 5.0))
    await asyncio.sleep(0)
    queue.close()
    async with asyncio.timeout(20):
        outcomes = await asyncio.gather(sent, waiting, return_exceptions=True)
    assert [type(each) for each in outcomes] == [asyncio.CancelledError] * 2
