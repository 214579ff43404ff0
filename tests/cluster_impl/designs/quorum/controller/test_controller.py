"""A controller over a Raft node whose commits and confirmations the test controls: when a response may be sent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from typing import Any, cast
from uuid import UUID

import pytest

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.designs.quorum.controller import requests as controller_requests
from fencepost.cluster_impl.designs.quorum.controller import topics
from fencepost.cluster_impl.designs.quorum.controller.controller import QuorumController
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.quorum.raft.core import NotLeader
from fencepost.cluster_impl.designs.quorum.raft.waiting import LostLeadership
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.records import decode_record
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER
from fencepost.cluster_impl.wire.server import Request


class Quorum:
    """Raft for a controller: the test decides when records are committed and leadership is confirmed."""

    def __init__(self) -> None:
        self.log: list[bytes] = []
        self.epoch = 1
        self.stable = 0
        self.leading = True
        self.rounds = 0
        self._changed = asyncio.Condition()
        self._confirmed = 0

    @property
    def end_offset(self) -> int:
        return len(self.log)

    def append(self, records: Sequence[bytes], epoch: int) -> int:
        if not self.leading or epoch != self.epoch:
            raise NotLeader("not the leader")
        self.log += records
        return len(self.log) - 1

    async def committed(self, offset: int, epoch: int) -> None:
        await self._until(lambda: offset < self.stable, epoch)

    async def confirm_leadership(self) -> None:
        self.rounds += 1
        mine = self.rounds
        await self._until(lambda: self._confirmed >= mine, self.epoch)

    async def _until(self, condition: Any, epoch: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: condition() or not self.leading or epoch != self.epoch)
        if not condition():
            raise LostLeadership("lost the leadership")

    async def commit(self, controller: QuorumController) -> None:
        controller.on_commit([(offset, self.log[offset]) for offset in range(self.stable, len(self.log))])
        self.stable = len(self.log)
        await self.notify()

    async def confirm(self) -> None:
        self._confirmed = self.rounds
        await self.notify()

    async def notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()


class Cluster:
    """Controller 1 of three with its Raft node; active after `elect`."""

    def __init__(self, lease: float = 60.0) -> None:
        self.quorum = Quorum()
        self.controller = QuorumController(1, frozenset({1, 2, 3}), lease, self.quorum, 2, 0.0)
        self.requests = controller_requests.ControllerRequests(self.controller, TopicDefaults(1, 1))

    def elect(self) -> None:
        self.controller.on_leader(1, self.quorum.epoch)
        self.controller.on_elected(self.quorum.epoch)

    async def depose(self, successor: int) -> None:
        """Let another controller take over; uncommitted records are truncated."""
        del self.quorum.log[self.quorum.stable :]
        self.quorum.leading = False
        self.controller.on_resigned()
        self.controller.on_leader(successor, self.quorum.epoch + 1)
        await self.quorum.notify()

    def ask(self, body: Message, version: int = 0) -> asyncio.Task[Message]:
        api = QUORUM_CONTROLLER[body.API_KEY]
        request = Request(api, version, 1, None, body, cast("Any", None), time.monotonic(), "CONTROLLER")
        answer = self.requests.handlers[api.key](request)
        return asyncio.create_task(cast("Coroutine[Any, Any, Message]", answer))

    def beat(self, target: FenceState, epoch: int = -1, reached: int = 1000) -> asyncio.Task[Message]:
        body = m.BrokerHeartbeatRequest(
            target_state=target, broker_id=4, broker_epoch=epoch, cur_metadata_offset=reached
        )
        return self.ask(body)

    async def join(self) -> int:
        """Register broker 4 and make it active; return its epoch."""
        registering = self.beat(FenceState.INITIAL)
        await settled()
        await self.quorum.commit(self.controller)
        epoch = heartbeat(await registering).broker_epoch
        activating = self.beat(FenceState.ACTIVE, epoch)
        await settled()
        await self.quorum.confirm()
        assert heartbeat(await activating).next_state == FenceState.ACTIVE
        return epoch


async def settled() -> None:
    """Let every task run until it waits."""
    for _ in range(20):
        await asyncio.sleep(0)


def heartbeat(reply: Message) -> m.BrokerHeartbeatResponse:
    assert isinstance(reply, m.BrokerHeartbeatResponse)
    return reply


@pytest.mark.requirement("K631-06")
async def test_a_controller_goes_on_after_a_record_that_is_no_metadata() -> None:
    """A change of voters is a record that Raft appends by itself, among those of the active controller."""
    cluster = Cluster()
    cluster.elect()
    epoch = await cluster.join()
    cluster.quorum.log.append(b"voters")
    cluster.quorum.stable += 1
    creating = cluster.ask(
        m.CreateTopicsRequest(
            topics=[m.CreateTopicsRequest.CreatableTopic(name="t", num_partitions=1, replication_factor=1)],
            timeout_ms=1000,
        ),
        7,
    )
    await settled()
    await cluster.quorum.commit(cluster.controller)
    created = await creating
    assert isinstance(created, m.CreateTopicsResponse)
    assert created.topics[0].error_code == Error.NONE
    cluster.quorum.log.append(b"voters")
    cluster.quorum.stable += 1
    registering = cluster.beat(FenceState.INITIAL)
    await settled()
    await cluster.quorum.commit(cluster.controller)
    granted = heartbeat(await registering).broker_epoch
    assert granted > epoch
    assert cast("m.BrokerRecord", decode_record(cluster.quorum.log[granted])).broker_epoch == granted


@pytest.mark.requirement("K631-16")
async def test_a_granted_epoch_is_not_shown_before_its_record_is_committed() -> None:
    cluster = Cluster()
    cluster.elect()
    reply = cluster.beat(FenceState.INITIAL)
    await settled()
    assert len(cluster.quorum.log) == 1
    assert not reply.done()
    await cluster.quorum.commit(cluster.controller)
    assert heartbeat(await reply).broker_epoch == 0


@pytest.mark.requirement("D631-03")
async def test_a_renewal_waits_for_a_majority_asked_after_it_arrived() -> None:
    cluster = Cluster()
    cluster.elect()
    epoch = await cluster.join()
    rounds = cluster.quorum.rounds
    reply = cluster.beat(FenceState.ACTIVE, epoch)
    await settled()
    assert cluster.quorum.rounds == rounds + 1
    assert not reply.done()
    await cluster.quorum.confirm()
    assert heartbeat(await reply).error_code == Error.NONE


@pytest.mark.parametrize(
    ("target", "epoch_off_by"),
    [(FenceState.ACTIVE, 0), (FenceState.ACTIVE, 1), (FenceState.FENCED, 0), (FenceState.SHUTDOWN, 0)],
    ids=["renewal", "refusal", "new epoch", "shutdown"],
)
async def test_a_deposed_controller_answers_nothing_but_not_controller(target: FenceState, epoch_off_by: int) -> None:
    cluster = Cluster()
    cluster.elect()
    epoch = await cluster.join()
    reply = cluster.beat(target, epoch + epoch_off_by)
    await settled()
    await cluster.depose(successor=2)
    answer = heartbeat(await reply)
    assert (answer.error_code, answer.active_controller_id) == (Error.NOT_CONTROLLER, 2)
    assert answer.lease_end_time_ms == 0


async def test_a_refusal_that_rests_on_uncommitted_state_waits_for_its_commit() -> None:
    cluster = Cluster()
    cluster.elect()
    epoch = await cluster.join()
    duplicate, original = cluster.beat(FenceState.INITIAL), cluster.beat(FenceState.ACTIVE, epoch)
    await settled()
    await cluster.quorum.confirm()
    await settled()
    assert not original.done()
    await cluster.quorum.commit(cluster.controller)
    assert heartbeat(await original).error_code == Error.STALE_BROKER_EPOCH
    assert heartbeat(await duplicate).error_code == Error.NONE


@pytest.mark.requirement("K631-18")
async def test_what_was_not_committed_is_gone_when_the_controller_is_elected_again() -> None:
    cluster = Cluster()
    cluster.elect()
    epoch = await cluster.join()
    lost = cluster.beat(FenceState.INITIAL)
    await settled()
    await cluster.depose(successor=2)
    assert heartbeat(await lost).error_code == Error.NOT_CONTROLLER
    cluster.quorum.leading = True
    cluster.quorum.epoch = 3
    cluster.elect()
    reply = cluster.beat(FenceState.ACTIVE, epoch)
    await settled()
    await cluster.quorum.confirm()
    answer = heartbeat(await reply)
    assert (answer.error_code, answer.next_state) == (Error.NONE, FenceState.ACTIVE)


@pytest.mark.requirement("K631-13", "K631-57")
async def test_a_standby_holds_the_committed_metadata_and_names_the_active_controller() -> None:
    cluster = Cluster()
    cluster.controller.on_leader(3, 1)
    answer = heartbeat(await cluster.beat(FenceState.INITIAL))
    assert (answer.error_code, answer.active_controller_id) == (Error.NOT_CONTROLLER, 3)
    assert answer.next_state == FenceState.FENCED
    others: list[Message] = [
        m.AlterIsrRequest(broker_id=4),
        m.ControllerHeartbeatRequest(controller_id=2),
    ]
    for body in others:
        reply = await cluster.ask(body)
        assert isinstance(reply, m.AlterIsrResponse | m.ControllerHeartbeatResponse)
        assert reply.error_code == Error.NOT_CONTROLLER
    assert cluster.quorum.log == []


@pytest.mark.requirement("K631-24", "K631-25", "K631-60")
async def test_the_active_controller_starts_one_snapshot_when_its_leadership_is_confirmed() -> None:
    cluster = Cluster()
    cluster.elect()
    await cluster.join()

    async def beat(controller_id: int, offset: int = 0) -> m.ControllerHeartbeatResponse:
        asked = cluster.ask(m.ControllerHeartbeatRequest(controller_id=controller_id, last_snapshot_offset=offset))
        await settled()
        assert not asked.done()
        await cluster.quorum.confirm()
        reply = await asked
        assert isinstance(reply, m.ControllerHeartbeatResponse)
        return reply

    assert await beat(2) == m.ControllerHeartbeatResponse(start_snapshot=False)
    topics = [m.CreateTopicsRequest.CreatableTopic(name="t", num_partitions=3, replication_factor=1)]
    creating = cluster.ask(m.CreateTopicsRequest(topics=topics, timeout_ms=5000))
    await settled()
    await cluster.quorum.commit(cluster.controller)
    await creating
    assert await beat(2) == m.ControllerHeartbeatResponse(start_snapshot=True)
    assert (await beat(4)).error_code == Error.INVALID_REQUEST
    assert (await beat(3, -1)).error_code == Error.INVALID_REQUEST


@pytest.mark.requirement("K631-60")
async def test_a_controller_that_was_deposed_starts_no_snapshot() -> None:
    cluster = Cluster()
    cluster.elect()
    asked = cluster.ask(m.ControllerHeartbeatRequest(controller_id=2))
    await settled()
    await cluster.depose(successor=3)
    assert await asked == m.ControllerHeartbeatResponse(error_code=Error.NOT_CONTROLLER)


@pytest.mark.requirement("K631-17")
async def test_an_isr_change_is_answered_only_after_its_commit() -> None:
    cluster = Cluster()
    cluster.elect()
    epoch = await cluster.join()
    creating = cluster.ask(create("t"))
    await settled()
    await cluster.quorum.commit(cluster.controller)
    await creating
    partition = m.AlterIsrRequest.PartitionData(partition_index=0, leader_epoch=0, new_isr=[4], current_isr_version=0)
    topics = [m.AlterIsrRequest.TopicData(name="t", partitions=[partition])]
    changing = cluster.ask(m.AlterIsrRequest(broker_id=4, broker_epoch=epoch, topics=topics))
    await settled()
    assert not changing.done()
    await cluster.quorum.commit(cluster.controller)
    reply = await changing
    assert isinstance(reply, m.AlterIsrResponse)
    assert reply.topics[0].partitions[0].current_isr_version == 1


def create(name: str, timeout_ms: int = 60_000) -> m.CreateTopicsRequest:
    topic = m.CreateTopicsRequest.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    return m.CreateTopicsRequest(topics=[topic], timeout_ms=timeout_ms)


async def error_of(creating: asyncio.Task[Message]) -> int:
    reply = await creating
    if isinstance(reply, m.DeleteTopicsResponse):
        return reply.responses[0].error_code
    assert isinstance(reply, m.CreateTopicsResponse)
    return reply.topics[0].error_code


async def test_a_topic_that_is_not_committed_in_the_clients_time_is_answered_as_timed_out() -> None:
    cluster = Cluster()
    cluster.elect()
    await cluster.join()
    assert await error_of(cluster.ask(create("t", timeout_ms=20))) == Error.REQUEST_TIMED_OUT


async def test_a_topic_whose_commit_is_overtaken_by_a_successor_is_answered_as_not_the_controller() -> None:
    cluster = Cluster()
    cluster.elect()
    await cluster.join()
    creating = cluster.ask(create("t"))
    await settled()
    await cluster.depose(successor=2)
    assert await error_of(creating) == Error.NOT_CONTROLLER


@pytest.mark.requirement("D631-26")
async def test_a_topic_waits_until_a_new_controller_has_heard_enough_brokers(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = 0

    def counted(*arguments: Any) -> Any:
        nonlocal attempts
        attempts += 1
        return topics.create_topics(*arguments)

    monkeypatch.setattr(controller_requests, "create_topics", counted)

    cluster = Cluster()
    cluster.elect()
    epoch = await cluster.join()
    await cluster.depose(successor=2)
    cluster.quorum.leading = True
    cluster.elect()
    creating = cluster.ask(create("t"))
    async with asyncio.timeout(60):
        while attempts < 2:  # noqa: ASYNC110  # the count is a plain number
            await asyncio.sleep(0.005)
    assert len(cluster.quorum.log) == 1
    heard = cluster.beat(FenceState.ACTIVE, epoch)
    await settled()
    await cluster.quorum.confirm()
    await heard
    async with asyncio.timeout(60):
        while len(cluster.quorum.log) == 1:  # noqa: ASYNC110  # the log is a plain list
            await asyncio.sleep(0.005)
    await cluster.quorum.commit(cluster.controller)
    assert await error_of(creating) == Error.NONE


async def test_a_topic_for_which_no_broker_is_heard_in_the_clients_time_is_answered_as_timed_out() -> None:
    cluster = Cluster()
    cluster.elect()
    await cluster.join()
    await cluster.depose(successor=2)
    cluster.quorum.leading = True
    cluster.elect()
    assert await error_of(cluster.ask(create("t", timeout_ms=20))) == Error.REQUEST_TIMED_OUT
    assert len(cluster.quorum.log) == 1


def delete(name: str) -> m.DeleteTopicsRequest:
    return m.DeleteTopicsRequest(topics=[m.DeleteTopicsRequest.DeleteTopicState(name=name)], timeout_ms=60_000)


async def created(cluster: Cluster, name: str) -> UUID:
    creating = cluster.ask(create(name))
    await settled()
    await cluster.quorum.commit(cluster.controller)
    assert await error_of(creating) == Error.NONE
    record = decode_record(cluster.quorum.log[-2])
    assert isinstance(record, m.TopicRecord)
    return record.topic_id


@pytest.mark.requirement("K631-62", "K631-68", "D631-41")
async def test_a_deletion_is_answered_when_the_topic_is_gone_and_marked_before() -> None:
    cluster = Cluster()
    cluster.elect()
    await cluster.join()
    topic_id = await created(cluster, "t")
    deleting = cluster.ask(delete("t"), version=6)
    await settled()
    assert decode_record(cluster.quorum.log[-1]) == m.TopicRecord(name="t", topic_id=topic_id, deleting=True)
    await cluster.quorum.commit(cluster.controller)
    await settled()
    assert decode_record(cluster.quorum.log[-1]) == m.DeleteTopicRecord(name=topic_id)
    assert not deleting.done()
    await cluster.quorum.commit(cluster.controller)
    await cluster.quorum.confirm()
    assert await error_of(deleting) == Error.NONE


@pytest.mark.requirement("K631-62", "D631-41")
async def test_the_next_active_controller_completes_a_deletion() -> None:
    cluster = Cluster()
    cluster.elect()
    await cluster.join()
    topic_id = await created(cluster, "t")
    deleting = cluster.ask(delete("t"), version=6)
    await settled()
    offset = cluster.quorum.end_offset - 1
    cluster.controller.on_commit([(offset, cluster.quorum.log[offset])])
    cluster.quorum.stable = offset + 1
    await cluster.depose(successor=2)
    assert await error_of(deleting) == Error.NOT_CONTROLLER
    assert cluster.quorum.end_offset == offset + 1
    cluster.quorum.leading = True
    cluster.elect()
    await settled()
    assert decode_record(cluster.quorum.log[-1]) == m.DeleteTopicRecord(name=topic_id)


async def test_a_lease_that_is_not_renewed_ends_without_any_request() -> None:
    cluster = Cluster(lease=0.5)
    cluster.elect()
    await cluster.join()
    async with asyncio.timeout(60):
        while len(cluster.quorum.log) < 2:  # noqa: ASYNC110  # the log is a plain list
            await asyncio.sleep(0.005)
    assert decode_record(cluster.quorum.log[1]) == m.DeleteBrokerRecord(id=4)
