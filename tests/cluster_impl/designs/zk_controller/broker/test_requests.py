"""The requests of a broker to scripted controllers on real sockets: ISR changes, heartbeats, shutdown, events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.shared.heartbeats import HeartbeatTiming
from fencepost.cluster_impl.designs.shared.isr_proposals import IsrProposals
from fencepost.cluster_impl.designs.zk_controller.broker.controlled_shutdown import ShutdownLimits, ShutdownRequester
from fencepost.cluster_impl.designs.zk_controller.broker.heartbeats import MetadataHeartbeats
from fencepost.cluster_impl.designs.zk_controller.broker.isr_requests import IsrChangeRequests
from fencepost.cluster_impl.designs.zk_controller.broker.lifecycle import Lifecycle
from fencepost.cluster_impl.designs.zk_controller.broker.log_dir_failures import ATTEMPTS, EventSender
from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.replication.control_plane import (
    NO_EPOCH,
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    TopicPartition,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request
from tests.cluster_impl.designs.zk_controller.broker.scripted import Answer, Controllers, Scripted, controllers

ME, INCARNATION = 4, 70
PROPOSAL = IsrProposal(topic="t", topic_id=UUID(int=1), partition=2, leader_epoch=5, isr=(4, 6), version=8)


def isr_answer(top: Error = Error.NONE, result: Error = Error.NONE) -> m.IsrChangeResponse:
    results = [] if top else [m.IsrChangeResponse.Result(error_code=result)]
    return m.IsrChangeResponse(top_level_error_code=top, results=results)


def proposals(brokers: Controllers) -> IsrProposals:
    return IsrProposals(IsrChangeRequests(ME, lambda: INCARNATION, brokers.link()).send)


def asked_for(*answers: Answer | Message, timeout: float = 1.0) -> tuple[IsrOutcome, Scripted]:
    """The outcome of a proposal; the last answer is given again and again."""
    left = list(answers)

    def answer(request: Request) -> Message | Awaitable[Message | None] | None:
        one = left.pop(0) if len(left) > 1 else left[0]
        return one if isinstance(one, Message) else one(request)

    scripted = Scripted(answer)

    async def main() -> IsrOutcome:
        async with controllers(scripted) as brokers:
            return await proposals(brokers).change(PROPOSAL, timeout)

    return asyncio.run(main()), scripted


def close_connection(request: Request) -> None:
    request.connection.abort()


@pytest.mark.requirement("K343-33", "K343-43", "K343-44", "K343-52")
def test_an_isr_change_names_incarnation_leader_epoch_and_members_and_is_one_version_on() -> None:
    outcome, scripted = asked_for(isr_answer())
    assert outcome == IsrAccepted(isr=(4, 6), leader_epoch=5, version=9)
    [request] = scripted.asked
    assert isinstance(request, m.IsrChangeRequest)
    assert (request.broker_id, request.incarnation_id) == (ME, INCARNATION)
    [partition] = request.topics[0].partitions
    assert (partition.leader_epoch, partition.partition_index, partition.isr_nodes) == (5, 2, [4, 6])


@pytest.mark.requirement("K343-47", "K343-50", "K343-51")
@pytest.mark.parametrize(
    "answer",
    [
        isr_answer(top=Error.INVALID_INCARNATION_ID),
        isr_answer(result=Error.NOT_LEADER_OR_FOLLOWER),
        isr_answer(result=Error.INVALID_REQUEST),
    ],
)
def test_a_refusal_is_final(answer: m.IsrChangeResponse) -> None:
    outcome, scripted = asked_for(answer)
    error = answer.top_level_error_code or answer.results[0].error_code
    assert outcome == IsrRefused(Error(error))
    assert len(scripted.asked) == 1


@pytest.mark.requirement("D343-08")
def test_after_a_lost_reply_the_same_change_is_asked_for_over_a_newer_connection() -> None:
    outcome, scripted = asked_for(close_connection, isr_answer())
    assert isinstance(outcome, IsrAccepted)
    assert scripted.asked[0] == scripted.asked[1]
    assert scripted.connections == [1, 2]


def test_a_refusal_after_a_lost_reply_leaves_the_first_attempt_in_doubt() -> None:
    outcome, _ = asked_for(close_connection, isr_answer(result=Error.INVALID_REQUEST))
    assert isinstance(outcome, IsrUnknown)


@pytest.mark.requirement("K343-46")
async def test_a_broker_that_is_not_the_controller_is_asked_no_more_once_another_one_is_known() -> None:
    former = Scripted(lambda _: isr_answer(top=Error.NOT_CONTROLLER))
    present = Scripted(lambda _: isr_answer())

    async def main() -> IsrOutcome:
        async with controllers(former, present) as brokers:
            changing = asyncio.create_task(proposals(brokers).change(PROPOSAL, timeout=5.0))
            while not former.asked:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            brokers.active = 2
            return await changing

    assert isinstance(await main(), IsrAccepted)


@pytest.mark.requirement("K343-48", "K343-49")
async def test_what_gathers_while_a_request_is_on_its_way_goes_into_the_next_and_is_answered_one_by_one() -> None:
    """Proposals for three topics in turn; those of the second are refused."""
    changes = [replace(PROPOSAL, topic="tuv"[index % 3], partition=index) for index in range(60)]

    def answer(request: Request) -> Message:
        body = request.body
        assert isinstance(body, m.IsrChangeRequest)
        return m.IsrChangeResponse(
            results=[
                m.IsrChangeResponse.Result(error_code=Error.INVALID_REQUEST if topic.topic_name == "u" else Error.NONE)
                for topic in body.topics
                for _ in topic.partitions
            ]
        )

    scripted = Scripted(answer)

    async def main() -> list[IsrOutcome]:
        async with controllers(scripted) as brokers:
            requester = proposals(brokers)
            first = asyncio.create_task(requester.change(changes[0], 5.0))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            rest = await asyncio.gather(*(requester.change(each, 5.0) for each in changes[1:]))
            return [await first, *rest]

    outcomes = await main()
    assert len(scripted.asked) == 2
    for proposal, outcome in zip(changes, outcomes, strict=True):
        assert isinstance(outcome, IsrRefused if proposal.topic == "u" else IsrAccepted)


def test_without_a_controller_the_fate_of_a_change_is_unknown_in_time() -> None:
    outcome, _ = asked_for(isr_answer(top=Error.NOT_CONTROLLER), timeout=0.1)
    assert isinstance(outcome, IsrUnknown)


# MetadataHeartbeats


def beaten(lifecycle: Lifecycle, brokers: Controllers) -> MetadataHeartbeats:
    return MetadataHeartbeats(ME, lifecycle, brokers.link(), HeartbeatTiming(interval=0.02, timeout=0.5))


def granted(request: Request) -> Message:
    body = request.body
    assert isinstance(body, m.MetadataHeartbeatRequest)
    return m.MetadataHeartbeatResponse(
        broker_id=body.broker_id, incarnation_id=body.incarnation_id, current_state=body.target_state
    )


async def until_state(lifecycle: Lifecycle, state: BrokerState) -> None:
    async with asyncio.timeout(20):
        while lifecycle.state is not state:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@pytest.mark.requirement("K343-15", "K343-26", "K343-31", "K343-32")
async def test_heartbeats_make_a_broker_active_and_then_stopping() -> None:
    scripted = Scripted(granted)

    async with controllers(scripted) as brokers:
        lifecycle = Lifecycle(5.0)
        lifecycle.registered(INCARNATION)
        beating = asyncio.create_task(beaten(lifecycle, brokers).run())
        await until_state(lifecycle, BrokerState.ACTIVE)
        lifecycle.stop()
        await until_state(lifecycle, BrokerState.STOPPING)
        beating.cancel()


@pytest.mark.requirement("D343-13")
async def test_heartbeats_follow_the_controller() -> None:
    former = Scripted(lambda _: m.MetadataHeartbeatResponse(error_code=Error.NOT_CONTROLLER))
    present = Scripted(granted)

    async with controllers(former, present) as brokers:
        lifecycle = Lifecycle(5.0)
        lifecycle.registered(INCARNATION)
        beating = asyncio.create_task(beaten(lifecycle, brokers).run())
        while not former.asked:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert lifecycle.state is BrokerState.INITIAL
        brokers.active = 2
        await until_state(lifecycle, BrokerState.ACTIVE)
        beating.cancel()


async def test_a_heartbeat_without_an_answer_holds_up_no_other_and_no_other_controller() -> None:
    async def never(_: Request) -> Message | None:
        await asyncio.Event().wait()
        return None

    former, present = Scripted(lambda request: never(request)), Scripted(granted)

    async with controllers(former, present) as brokers:
        lifecycle = Lifecycle(5.0)
        lifecycle.registered(INCARNATION)
        link = brokers.link()
        beating = asyncio.create_task(
            MetadataHeartbeats(ME, lifecycle, link, HeartbeatTiming(0.02, timeout=60.0)).run()
        )
        while not former.asked:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        brokers.active = 2
        link.controller_is(2)
        await until_state(lifecycle, BrokerState.ACTIVE)
        beating.cancel()


# Controlled shutdown


def left(*partitions: int, error: Error = Error.NONE) -> m.ControlledShutdownResponse:
    return m.ControlledShutdownResponse(
        error_code=error,
        remaining_partitions=[
            m.ControlledShutdownResponse.RemainingPartition(topic_name="t", partition_index=index)
            for index in partitions
        ],
    )


def shut_down(*answers: Message, retries: int = 3) -> tuple[bool, Scripted]:
    remaining = list(answers)
    scripted = Scripted(lambda _: remaining.pop(0) if len(remaining) > 1 else remaining[0])

    async def main() -> bool:
        async with controllers(scripted) as brokers:
            limits = ShutdownLimits(retries, backoff=0.3, timeout=1.0)
            return await ShutdownRequester(ME, lambda: INCARNATION, brokers.link(), limits).run()

    return asyncio.run(main()), scripted


@pytest.mark.requirement("DINT-24", "K343-14")
def test_a_broker_leaves_once_nothing_is_left_that_another_could_lead() -> None:
    granted, scripted = shut_down(left(0, 1), left(1), left())
    assert granted
    assert len(scripted.asked) == 3
    assert scripted.asked[0] == m.ControlledShutdownRequest(broker_id=ME, broker_epoch=INCARNATION)


@pytest.mark.requirement("DINT-24")
async def test_a_broker_that_is_not_registered_does_not_speak_for_its_id() -> None:
    """Its session has expired: the id may be another process's, which was not asked to end."""
    scripted = Scripted(lambda _: left())
    epochs = [NO_EPOCH, NO_EPOCH, INCARNATION]

    async def main() -> bool:
        async with controllers(scripted) as brokers:
            limits = ShutdownLimits(1, backoff=0.5, timeout=1.0)
            epoch = lambda: epochs.pop(0) if len(epochs) > 1 else epochs[0]  # noqa: E731
            return await ShutdownRequester(ME, epoch, brokers.link(), limits).run()

    assert await main()
    assert scripted.asked == [m.ControlledShutdownRequest(broker_id=ME, broker_epoch=INCARNATION)]


def test_a_shutdown_that_is_not_granted_ends_within_its_bound() -> None:
    granted, scripted = shut_down(left(error=Error.NOT_CONTROLLER), retries=1)
    assert not granted
    assert len(scripted.asked) >= 2


# Events of log dirs


def known(*answers: Message) -> Scripted:
    remaining = list(answers)
    scripted = Scripted(lambda _: remaining.pop(0) if len(remaining) > 1 else remaining[0])

    async def main() -> None:
        async with controllers(scripted) as brokers:
            sender = EventSender(ME, lambda: INCARNATION, brokers.link(), timeout=1.0, retry=0.01)
            await sender.send("a disk", [TopicPartition("t", 0), TopicPartition("u", 1), TopicPartition("t", 2)])

    asyncio.run(main())
    return scripted


@pytest.mark.requirement("RSE-07", "RSE-11", "RSE-19", "RSE-25")
def test_an_event_names_the_epoch_the_reason_and_every_lost_replica() -> None:
    [request] = known(m.ReplicaStateEventResponse()).asked
    assert isinstance(request, m.ReplicaStateEventRequest)
    assert (request.broker_id, request.broker_epoch, request.event_type) == (ME, INCARNATION, 1)
    assert request.event_reason == "a disk"
    assert {topic.topic: [each.partition_id for each in topic.partitions or ()] for topic in request.topics or ()} == {
        "t": [0, 2],
        "u": [1],
    }


def test_an_event_is_sent_again_when_the_controller_has_moved() -> None:
    refused = m.ReplicaStateEventResponse(error_code=Error.NOT_CONTROLLER)
    assert len(known(refused, refused, m.ReplicaStateEventResponse()).asked) == 3


@pytest.mark.requirement("RSE-30")
def test_an_event_that_no_controller_takes_is_given_up() -> None:
    assert len(known(m.ReplicaStateEventResponse(error_code=Error.NOT_CONTROLLER)).asked) == ATTEMPTS


def test_an_event_of_an_earlier_incarnation_is_not_repeated() -> None:
    assert len(known(m.ReplicaStateEventResponse(error_code=Error.STALE_BROKER_EPOCH)).asked) == 1
