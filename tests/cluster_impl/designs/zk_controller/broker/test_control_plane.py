"""When a broker serves, whose fetches count, and how requests reach the controller."""

from __future__ import annotations

import time
from pathlib import Path
from typing import cast
from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.on_zookeeper.producer_ids import ProducerIds
from fencepost.cluster_impl.designs.zk_controller.broker.broker_settings import BrokerSettings
from fencepost.cluster_impl.designs.zk_controller.broker.control_plane import ZkControlPlane
from fencepost.cluster_impl.designs.zk_controller.broker.lifecycle import Lifecycle
from fencepost.cluster_impl.designs.zk_controller.broker.link import ControllerLink
from fencepost.cluster_impl.designs.zk_controller.broker.log_dir_failures import LogDirFailures
from fencepost.cluster_impl.designs.zk_controller.broker.metadata import MetadataCache
from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.replication.control_plane import IsrAccepted, IsrOutcome, IsrProposal, TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.zk_controller.broker.scripted import Scripted, controllers

ME, EPOCH = 4, 70


class Failures:
    def __init__(self) -> None:
        self.known: list[tuple[str, list[TopicPartition]]] = []

    def failed(self, reason: str, lost: list[TopicPartition]) -> None:
        self.known.append((reason, lost))


class Granting:
    async def change(self, proposal: IsrProposal, timeout: float) -> IsrOutcome:
        return IsrAccepted(isr=proposal.isr, leader_epoch=proposal.leader_epoch, version=proposal.version + 1)


class Given:
    """A broker at a level with heartbeats, or one below it."""

    def __init__(self, *, heartbeats: bool, link: ControllerLink | None = None, settings: object = None) -> None:
        self.lifecycle = Lifecycle(timeout=60.0)
        self.cache = MetadataCache("c")
        self.epoch = EPOCH
        self.failures = Failures()
        self.control = ZkControlPlane(
            ME,
            self.lifecycle if heartbeats else None,
            self.cache,
            cast("BrokerSettings", settings),
            lambda: self.epoch,
            Granting(),
            cast("ProducerIds", None),
            cast("ControllerLink", link),
            cast("LogDirFailures", self.failures),
            request_timeout=1.0,
        )

    def answered(self) -> None:
        self.lifecycle.registered(self.epoch)
        heartbeat = self.lifecycle.next_heartbeat(time.monotonic())
        assert heartbeat is not None
        self.lifecycle.answered(heartbeat, Error.NONE, BrokerState.ACTIVE, time.monotonic())

    def informed(self, **brokers: int) -> None:
        live = [
            m.UpdateMetadataRequest.UpdateMetadataBroker(id=int(id.removeprefix("b")), broker_epoch=epoch)
            for id, epoch in brokers.items()
        ]
        self.cache.update(m.UpdateMetadataRequest(controller_id=5, broker_epoch=self.epoch, live_brokers=live))


def test_a_broker_serves_once_it_is_active_and_has_metadata() -> None:
    given = Given(heartbeats=True)
    given.answered()
    assert not given.control.serving()
    given.informed()
    assert given.control.serving()


def test_a_new_incarnation_does_not_hand_out_what_its_predecessor_knew() -> None:
    given = Given(heartbeats=True)
    given.answered()
    given.informed()
    given.epoch = EPOCH + 1
    given.answered()
    assert not given.control.serving()
    given.informed()
    assert given.control.serving()


@pytest.mark.requirement("K343-57", "DINT-16", "INT-42")
def test_a_legacy_broker_serves_from_its_first_metadata_on_whatever_becomes_of_its_session() -> None:
    given = Given(heartbeats=False)
    assert not given.control.serving()
    given.informed()
    assert given.control.serving()
    given.epoch = -1
    assert given.control.serving()


@pytest.mark.requirement("K343-17")
def test_what_was_begun_is_completed() -> None:
    assert Given(heartbeats=True).control.completes_begun()


@pytest.mark.requirement("DINT-26")
def test_fetches_count_at_the_epoch_in_the_metadata_and_ones_own_is_the_znodes() -> None:
    given = Given(heartbeats=True)
    given.informed(b4=12, b5=71, b6=-1)
    registered = given.control.registered_epoch
    assert [registered(broker) for broker in (ME, 5, 6, 7)] == [EPOCH, 71, None, None]
    given.epoch = -1
    assert registered(ME) is None


def test_a_failed_log_dir_is_passed_on_with_what_was_in_it() -> None:
    given = Given(heartbeats=True)
    lost = [TopicPartition("t", 0)]
    given.control.log_dir_failed(Path("/data"), lost)
    assert given.failures.known == [("the log dir /data has failed", lost)]


def created(error: Error) -> Message:
    return m.CreateTopicsResponse(
        topics=[m.CreateTopicsResponse.CreatableTopicResult(name="t", topic_id=UUID(int=1), error_code=error)]
    )


async def test_a_broker_that_is_no_longer_the_controller_is_asked_again_until_one_is() -> None:
    answers = [created(Error.NOT_CONTROLLER), created(Error.NOT_CONTROLLER), created(Error.NONE)]
    scripted = Scripted(lambda _: answers.pop(0))

    async def main() -> Message:
        async with controllers(scripted) as brokers:
            control = Given(heartbeats=True, link=brokers.link()).control
            topic = m.CreateTopicsRequest.CreatableTopic(name="t", num_partitions=1, replication_factor=1)
            return await control.forward(m.CreateTopicsRequest(topics=[topic], timeout_ms=5000), 7)

    reply = await main()
    assert isinstance(reply, m.CreateTopicsResponse)
    assert reply.topics[0].error_code == Error.NONE


async def test_without_a_controller_a_request_fails_in_its_own_time() -> None:
    scripted = Scripted(lambda request: request.connection.abort())

    async with controllers(scripted) as brokers:
        control = Given(heartbeats=True, link=brokers.link()).control
        with pytest.raises((ConnectionError, TimeoutError)):
            await control.forward(m.CreateTopicsRequest(timeout_ms=200), 7)


@pytest.mark.requirement("DINT-29")
async def test_a_change_of_settings_is_written_by_the_broker_that_is_asked() -> None:
    class Settings:
        @property
        def writer(self) -> Settings:
            return self

        async def alter(self, request: Message) -> Message:
            return m.AlterConfigsResponse(throttle_time_ms=len(cast("m.AlterConfigsRequest", request).resources))

    control = Given(heartbeats=True, settings=Settings()).control
    request = m.AlterConfigsRequest(resources=[m.AlterConfigsRequest.AlterConfigsResource()])
    assert await control.forward(request, 1) == m.AlterConfigsResponse(throttle_time_ms=1)
