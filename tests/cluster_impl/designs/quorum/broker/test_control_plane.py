"""The control plane of the quorum design for replicas and client APIs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import UUID

import pytest

from fencepost.cluster_impl.config.values import Voter
from fencepost.cluster_impl.designs.quorum.broker.control_plane import QuorumControlPlane
from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.designs.quorum.broker.lifecycle import HeartbeatAnswer, LeaseLifecycle
from fencepost.cluster_impl.designs.quorum.broker.link import ActiveControllerLink
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from fencepost.cluster_impl.replication.control_plane import (
    ControlPlane,
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    ProducerIdsUnavailable,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import connector
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER
from fencepost.cluster_impl.wire.server import CloseConnection, Request
from tests.cluster_impl.designs.quorum.broker.scripted_controllers import ScriptedController, controllers

PROPOSAL = IsrProposal(topic="t", topic_id=UUID(int=1), partition=0, leader_epoch=3, isr=(4, 5), version=3)


def broker(
    voters: list[Voter], request_timeout: float = 5.0, epoch: int = 7, finder: ControllerFinder | None = None
) -> QuorumControlPlane:
    finder = finder or ControllerFinder(voters)
    lifecycle = LeaseLifecycle()
    lifecycle.answered(lifecycle.next_heartbeat(0), HeartbeatAnswer(Error.NONE, FenceState.FENCED, epoch, 10), 0)
    link, forward_link = (
        ActiveControllerLink(finder, connector(QUORUM_CONTROLLER, "broker-4", Hosts()), 5.0) for _ in range(2)
    )
    return QuorumControlPlane(4, "cluster", lifecycle, MetadataImage(), link, forward_link, finder, request_timeout)


def accepted(request: Request) -> Message:
    partition = m.AlterIsrResponse.PartitionData(leader_id=4, leader_epoch=4, isr=[4, 5], current_isr_version=4)
    return m.AlterIsrResponse(topics=[m.AlterIsrResponse.TopicData(name="t", partitions=[partition])])


def refused(error: Error) -> ScriptedController:
    partition = m.AlterIsrResponse.PartitionData(error_code=error)
    return ScriptedController(
        lambda _: m.AlterIsrResponse(topics=[m.AlterIsrResponse.TopicData(name="t", partitions=[partition])])
    )


def not_active(request: Request) -> Message:
    match request.body:
        case m.CreateTopicsRequest():
            result = m.CreateTopicsResponse.CreatableTopicResult(name="t", error_code=Error.NOT_CONTROLLER)
            return m.CreateTopicsResponse(topics=[result])
        case _:
            return m.AlterIsrResponse(error_code=Error.NOT_CONTROLLER)


def closes(request: Request) -> Message:
    raise CloseConnection("as the test says")


async def never(request: Request) -> Message:
    await asyncio.Event().wait()
    raise AssertionError


def propose(*scripted: ScriptedController, request_timeout: float = 5.0) -> IsrOutcome:
    async def run() -> IsrOutcome:
        async with controllers(*scripted) as voters:
            return await broker(voters, request_timeout).alter_isr(PROPOSAL)

    return asyncio.run(run())


def test_it_is_a_control_plane() -> None:
    plane: ControlPlane = broker([Voter(1, "h", 1)])
    assert plane.broker_id == 4


def test_an_accepted_isr_change_names_the_broker_epoch_and_the_version_it_is_based_on() -> None:
    active = ScriptedController(accepted)
    assert propose(active) == IsrAccepted(isr=(4, 5), leader_epoch=4, version=4)
    request = active.asked[0]
    assert isinstance(request, m.AlterIsrRequest)
    partition = request.topics[0].partitions[0]
    assert (request.broker_id, request.broker_epoch) == (4, 7)
    assert (partition.leader_epoch, partition.current_isr_version, partition.new_isr) == (3, 3, [4, 5])


@pytest.mark.parametrize("wrong", [not_active, closes])
def test_an_isr_change_goes_to_the_next_controller_if_one_is_not_active_or_breaks_off(wrong: object) -> None:
    assert callable(wrong)
    assert isinstance(propose(ScriptedController(wrong), ScriptedController(accepted)), IsrAccepted)


@pytest.mark.parametrize("error", [Error.INVALID_UPDATE_VERSION, Error.FENCED_LEADER_EPOCH, Error.INELIGIBLE_REPLICA])
def test_a_refused_isr_change_is_refused_with_the_controllers_error(error: Error) -> None:
    assert propose(refused(error)) == IsrRefused(error)


def test_a_stale_broker_epoch_refuses_the_whole_request() -> None:
    stale = ScriptedController(lambda _: m.AlterIsrResponse(error_code=Error.STALE_BROKER_EPOCH))
    assert propose(stale) == IsrRefused(Error.STALE_BROKER_EPOCH)


@pytest.mark.parametrize("answer", [not_active, never])
def test_without_an_answer_in_time_the_outcome_of_an_isr_change_is_unknown(answer: object) -> None:
    assert callable(answer)
    assert isinstance(propose(ScriptedController(answer), request_timeout=0.2), IsrUnknown)


def test_proposals_that_come_while_one_is_on_its_way_go_together_in_one_request() -> None:
    """A request for each partition of a broker that returns keeps a controller from its heartbeats."""
    arrived, first = asyncio.Event(), asyncio.Event()

    async def answer(request: Request) -> Message:
        assert isinstance(request.body, m.AlterIsrRequest)
        arrived.set()
        await first.wait()
        topics = []
        for topic in request.body.topics:
            accept = [
                m.AlterIsrResponse.PartitionData(
                    partition_index=each.partition_index, leader_epoch=4, isr=each.new_isr, current_isr_version=4
                )
                for each in topic.partitions
            ]
            topics.append(m.AlterIsrResponse.TopicData(name=topic.name, partitions=accept))
        return m.AlterIsrResponse(topics=topics)

    async def run() -> tuple[list[IsrOutcome], list[Message]]:
        active = ScriptedController(answer)
        async with controllers(active) as voters:
            plane = broker(voters)
            alone = asyncio.ensure_future(plane.alter_isr(PROPOSAL))
            await arrived.wait()
            # The same partition twice is never in one request.
            numbers = [1, 2, 2, 3]
            others = [asyncio.ensure_future(plane.alter_isr(replace(PROPOSAL, partition=n))) for n in numbers]
            await asyncio.sleep(0)
            first.set()
            return [*await asyncio.gather(alone, *others)], [*active.asked]

    outcomes, asked = asyncio.run(run())
    assert outcomes == [IsrAccepted(isr=(4, 5), leader_epoch=4, version=4)] * 5
    assert [
        [each.partition_index for topic in body.topics for each in topic.partitions]
        for body in asked
        if isinstance(body, m.AlterIsrRequest)
    ] == [[0], [1, 2, 3], [2]]


def test_a_proposal_waits_for_the_requests_before_it_no_longer_than_its_time() -> None:
    async def run() -> list[IsrOutcome]:
        async with controllers(ScriptedController(never)) as voters:
            plane = broker(voters, request_timeout=0.2)
            first = asyncio.ensure_future(plane.alter_isr(PROPOSAL))
            await asyncio.sleep(0.05)
            second = asyncio.ensure_future(plane.alter_isr(replace(PROPOSAL, partition=1)))
            async with asyncio.timeout(20):
                return [*await asyncio.gather(first, second)]

    assert all(isinstance(outcome, IsrUnknown) for outcome in asyncio.run(run()))


REQUEST = m.CreateTopicsRequest(topics=[m.CreateTopicsRequest.CreatableTopic(name="t")], timeout_ms=5000)


def forward(*scripted: ScriptedController, timeout_ms: int = 5000) -> Message:
    async def run() -> Message:
        async with controllers(*scripted) as voters:
            request = m.CreateTopicsRequest(topics=REQUEST.topics, timeout_ms=timeout_ms)
            return await broker(voters).forward(request, 7)

    return asyncio.run(run())


def created(request: Request) -> Message:
    return m.CreateTopicsResponse(topics=[m.CreateTopicsResponse.CreatableTopicResult(name="t")])


@pytest.mark.parametrize("wrong", [not_active, closes])
def test_a_forwarded_request_finds_the_controller_that_is_active_now(wrong: object) -> None:
    assert callable(wrong)
    reply = forward(ScriptedController(wrong), ScriptedController(created))
    assert isinstance(reply, m.CreateTopicsResponse)
    assert reply.topics[0].error_code == Error.NONE


async def test_a_description_of_the_quorum_comes_from_the_controller_that_leads_it() -> None:
    def described(error: Error) -> m.DescribeQuorumResponse:
        partition = m.DescribeQuorumResponse.PartitionData(error_code=error, leader_id=2)
        topic = m.DescribeQuorumResponse.TopicData(topic_name="__kafka_metadata", partitions=[partition])
        return m.DescribeQuorumResponse(topics=[topic])

    follower = ScriptedController(lambda _: described(Error.NOT_LEADER_OR_FOLLOWER))
    leader = ScriptedController(lambda _: described(Error.NONE))
    async with controllers(follower, leader) as voters:
        reply = await broker(voters).forward(m.DescribeQuorumRequest(), 1)
    assert reply == described(Error.NONE)


async def test_a_request_that_waits_for_one_controller_goes_to_another_that_is_found_to_be_active() -> None:
    async def run() -> Message:
        silent = ScriptedController(never)
        async with controllers(silent, ScriptedController(created)) as voters:
            finder = ControllerFinder(voters)
            finder.learned(1)
            forwarding = asyncio.create_task(broker(voters, finder=finder).forward(REQUEST, 7))
            async with asyncio.timeout(20):
                while not silent.asked:  # noqa: ASYNC110  # the script is a plain list
                    await asyncio.sleep(0.005)
            finder.learned(2)
            return await forwarding

    reply = await run()
    assert isinstance(reply, m.CreateTopicsResponse)
    assert reply.topics[0].error_code == Error.NONE


async def test_an_isr_change_does_not_wait_behind_a_topic_that_the_controller_has_not_decided_yet() -> None:
    async def run() -> IsrOutcome:
        active = ScriptedController(
            lambda request: never(request) if request.api.name == "CreateTopics" else accepted(request)
        )
        async with controllers(active) as voters:
            plane = broker(voters, request_timeout=1.0)
            forwarding = asyncio.create_task(plane.forward(REQUEST, 7))
            async with asyncio.timeout(20):
                while not active.asked:  # noqa: ASYNC110  # the script is a plain list
                    await asyncio.sleep(0.005)
            outcome = await plane.alter_isr(PROPOSAL)
            assert not forwarding.done()
            forwarding.cancel()
            return outcome

    assert isinstance(await run(), IsrAccepted)


def test_with_no_active_controller_the_client_gets_an_error_when_its_time_is_over() -> None:
    reply = forward(ScriptedController(not_active), timeout_ms=1000)
    assert isinstance(reply, m.CreateTopicsResponse)
    assert reply.topics[0].error_code == Error.NOT_CONTROLLER


def test_with_no_answer_at_all_forwarding_times_out_with_a_message() -> None:
    with pytest.raises(TimeoutError, match="did not answer CreateTopics"):
        forward(ScriptedController(never), timeout_ms=200)


def test_producer_ids_do_not_repeat_within_an_epoch_nor_across_epochs() -> None:
    first, second = (broker([Voter(1, "h", 1)], epoch=epoch) for epoch in (7, 8))
    given = [plane.new_producer_id() for plane in (first, second) for _ in range(1000)]
    assert len(set(given)) == len(given)
    assert all(0 <= producer_id < 2**63 for producer_id in given)


def test_a_broker_without_an_epoch_gives_out_no_producer_id() -> None:
    with pytest.raises(ProducerIdsUnavailable):
        broker([Voter(1, "h", 1)], epoch=-1).new_producer_id()
