"""A broker applies LeaderAndIsr, StopReplica and UpdateMetadata, or refuses them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast
from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.zk_controller.broker.controller_requests import PIECE, ControllerRequests
from fencepost.cluster_impl.designs.zk_controller.broker.metadata import MetadataCache
from fencepost.cluster_impl.designs.zk_controller.broker.request_guards import REQUEST_GUARDS, KnownAssignment
from fencepost.cluster_impl.designs.zk_controller.control_requests import (
    EPOCH_DURING_DELETE,
    FULL,
    LEADER_DURING_DELETE,
)
from fencepost.cluster_impl.replication.control_plane import (
    Change,
    PartitionAssignment,
    PartitionRemoved,
    ReplicaStopped,
    SettingsChanged,
    TopicPartition,
)
from fencepost.cluster_impl.replication.progress import Progress
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.codec import RequestMessage
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import ZK_BROKER
from fencepost.cluster_impl.wire.server import Server

ME, EPOCH = 4, 70
TOPIC, ANOTHER = UUID(int=1), UUID(int=2)
LEADER_AND_ISR_VERSION = 7

AssignedState = m.LeaderAndIsrRequest.LeaderAndIsrPartitionState


class Known:
    """Topics' settings, all known, none set; and a registration that is not under way."""

    epoch = EPOCH

    async def settled(self) -> None:
        return None

    def get(self, topic_id: UUID) -> Mapping[str, str]:
        return {}

    def want(self, name: str, topic_id: UUID) -> None:
        return None

    async def load(self, name: str, topic_id: UUID) -> None:
        return None


class Recorder:
    """A data plane that records its changes, and fails those of partitions in `offline`."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.offline: set[TopicPartition] = set()

    def apply(self, changes: Sequence[Change]) -> Mapping[TopicPartition, Error]:
        self.changes += changes
        known = (change.topic_partition for change in changes)
        return {partition: Error.KAFKA_STORAGE_ERROR for partition in known if partition in self.offline}

    def progress(self, name: TopicPartition) -> Progress | None:
        return None


class Given:
    def __init__(self) -> None:
        self.assignments: dict[TopicPartition, KnownAssignment] = {}
        known: Any = Known()
        self.cache = MetadataCache("c")
        self.data_plane = Recorder()
        self.below: Mapping[str, str] = {}
        self.kept: list[Collection[TopicPartition]] = []
        self.requests = ControllerRequests(
            ME, known, known, self.cache, self.data_plane, self.assignments, self._keep_only, lambda: self.below
        )

    def _keep_only(self, kept: Collection[TopicPartition]) -> None:
        self.kept.append(kept)

    def assign(
        self,
        *states: AssignedState,
        topic_id: UUID = TOPIC,
        controller_epoch: int = 2,
        broker_epoch: int = EPOCH,
        kind: int = 0,
    ) -> tuple[int, list[int]]:
        """LeaderAndIsr; the top-level error and those of the partitions."""
        topic = m.LeaderAndIsrRequest.LeaderAndIsrTopicState(
            topic_name="t", topic_id=topic_id, partition_states=list(states)
        )
        body = m.LeaderAndIsrRequest(
            controller_epoch=controller_epoch, broker_epoch=broker_epoch, topic_states=[topic], type=kind
        )
        answer = asyncio.run(self.requests.leader_and_isr(body, LEADER_AND_ISR_VERSION))
        return answer.error_code, [each.error_code for topic in answer.topics for each in topic.partition_errors]

    def stopped(
        self, *, leader_epoch: int, delete: bool = False, controller_epoch: int = 2, broker_epoch: int = EPOCH
    ) -> tuple[int, list[int]]:
        topic = m.StopReplicaRequest.StopReplicaTopicState(
            topic_name="t",
            partition_states=[
                m.StopReplicaRequest.StopReplicaPartitionState(
                    partition_index=0, leader_epoch=leader_epoch, delete_partition=delete
                )
            ],
        )
        answer = self.requests.stop_replica(
            m.StopReplicaRequest(controller_epoch=controller_epoch, broker_epoch=broker_epoch, topic_states=[topic])
        )
        return answer.error_code, [each.error_code for each in answer.partition_errors]

    def informed(
        self, *, controller_epoch: int = 2, broker_epoch: int = EPOCH, controller_id: int = 5
    ) -> m.UpdateMetadataResponse:
        return self.requests.update_metadata(
            m.UpdateMetadataRequest(
                controller_id=controller_id, controller_epoch=controller_epoch, broker_epoch=broker_epoch
            )
        )


@pytest.fixture
def given() -> Given:
    return Given()


def state(
    leader: int = ME, leader_epoch: int = 5, version: int = 8, replicas: Sequence[int] = (4, 5), partition: int = 0
) -> AssignedState:
    return AssignedState(
        partition_index=partition,
        controller_epoch=2,
        leader=leader,
        leader_epoch=leader_epoch,
        isr=list(replicas),
        partition_epoch=version,
        replicas=list(replicas),
    )


@pytest.mark.requirement("INT-22", "DINT-08")
def test_leader_and_isr_is_passed_on_with_the_leader_epoch_as_leader_term_and_the_zk_version_as_version(
    given: Given,
) -> None:
    assert given.assign(state()) == (0, [0])
    [assigned] = given.data_plane.changes
    assert isinstance(assigned, PartitionAssignment)
    assert (assigned.leader, assigned.leader_epoch, assigned.leader_term_epoch, assigned.version) == (ME, 5, 5, 8)


@pytest.mark.requirement("INT-21")
def test_a_repeated_request_is_answered_as_before(given: Given) -> None:
    assert given.assign(state()) == given.assign(state()) == (0, [0])


@pytest.mark.requirement("DINT-05", "DINT-06")
@pytest.mark.parametrize(
    ("controller_epoch", "broker_epoch", "error"),
    [
        (1, EPOCH, Error.STALE_CONTROLLER_EPOCH),
        (2, EPOCH - 1, Error.STALE_BROKER_EPOCH),
        (2, EPOCH + 1, Error.STALE_BROKER_EPOCH),
        (2, -1, Error.STALE_BROKER_EPOCH),
        (1, EPOCH - 1, Error.STALE_BROKER_EPOCH),
    ],
)
def test_a_request_of_another_time_is_refused_as_a_whole_and_changes_nothing(
    given: Given, controller_epoch: int, broker_epoch: int, error: Error
) -> None:
    given.assign(state())
    given.informed(controller_id=5)
    before, view = list(given.data_plane.changes), given.cache.view
    by, to = controller_epoch, broker_epoch
    assert given.assign(state(leader=5, leader_epoch=9), controller_epoch=by, broker_epoch=to)[0] == error
    assert given.stopped(leader_epoch=9, delete=True, controller_epoch=by, broker_epoch=to)[0] == error
    assert given.informed(controller_epoch=by, broker_epoch=to, controller_id=6).error_code == error
    assert given.data_plane.changes == before
    assert given.cache.view is view
    assert given.requests.controller_epoch == 2


def test_the_guards_of_whole_requests_stand_in_kafkas_order() -> None:
    assert [guard.error for guard in REQUEST_GUARDS] == [Error.STALE_BROKER_EPOCH, Error.STALE_CONTROLLER_EPOCH]


def test_a_newer_controller_shuts_the_older_one_out_also_by_a_request_without_partitions(given: Given) -> None:
    assert given.informed(controller_epoch=3).error_code == Error.NONE
    assert given.assign(state(), controller_epoch=2)[0] == Error.STALE_CONTROLLER_EPOCH


@pytest.mark.requirement("DINT-07")
def test_an_older_leader_epoch_is_passed_over_and_the_others_of_the_request_are_not(given: Given) -> None:
    given.assign(state(leader_epoch=5))
    fresh = state()
    fresh.partition_index = 1
    assert given.assign(state(leader=5, leader_epoch=4), fresh) == (0, [Error.STALE_CONTROLLER_EPOCH, Error.NONE])
    assert [change.partition for change in given.data_plane.changes] == [0, 1]


def test_a_partition_that_is_on_other_brokers_only_is_refused(given: Given) -> None:
    assert given.assign(state(leader=5, replicas=(5, 6))) == (0, [Error.UNKNOWN_TOPIC_OR_PARTITION])
    assert given.data_plane.changes == []


@pytest.mark.requirement("DINT-23")
def test_leader_epochs_of_a_topic_that_was_made_anew_begin_again(given: Given) -> None:
    given.assign(state(leader_epoch=5))
    assert given.assign(state(leader_epoch=0), topic_id=ANOTHER) == (0, [0])
    assert given.data_plane.changes[-1].topic_id == ANOTHER


@pytest.mark.requirement("DINT-30")
def test_what_a_full_request_does_not_name_is_deleted(given: Given) -> None:
    given.assign(state())
    assert not given.kept
    assert given.assign(state(partition=1), kind=FULL) == (0, [0])
    assert given.kept == [{TopicPartition("t", 1)}]
    assert set(given.assignments) == {TopicPartition("t", 1)}


def test_a_request_of_many_partitions_leaves_the_loop_its_turn_and_keeps_its_order(given: Given) -> None:
    states = []
    for index in range(3 * PIECE + 1):
        states.append(state())
        states[-1].partition_index = index
    assert given.assign(*states) == (0, [0] * len(states))
    assert [change.partition for change in given.data_plane.changes] == list(range(len(states)))


@pytest.mark.requirement("RSE-04", "DRSE-10")
def test_a_replica_in_a_failed_log_dir_is_answered_with_a_storage_error(given: Given) -> None:
    given.data_plane.offline.add(TopicPartition("t", 0))
    assert given.assign(state()) == (0, [Error.KAFKA_STORAGE_ERROR])


@pytest.mark.requirement("INT-24")
def test_stop_replica_stops_at_the_present_leader_epoch_or_a_later_one(given: Given) -> None:
    given.assign(state(leader_epoch=5))
    assert given.stopped(leader_epoch=4) == (0, [Error.FENCED_LEADER_EPOCH])
    assert given.stopped(leader_epoch=5) == (0, [0])
    assert given.data_plane.changes[1:] == [ReplicaStopped(topic="t", topic_id=TOPIC, partition=0)]


@pytest.mark.requirement("INT-24")
def test_stop_replica_deletes_whatever_the_leader_epoch_when_the_topic_is_deleted(given: Given) -> None:
    given.assign(state(leader_epoch=5))
    assert given.stopped(leader_epoch=EPOCH_DURING_DELETE, delete=True) == (0, [0])
    assert given.data_plane.changes[-1] == PartitionRemoved(topic="t", topic_id=TOPIC, partition=0)


@pytest.mark.requirement("DINT-23")
def test_a_replica_of_which_nothing_was_said_since_the_start_is_deleted_as_well(given: Given) -> None:
    assert given.stopped(leader_epoch=EPOCH_DURING_DELETE, delete=True) == (0, [0])
    assert given.data_plane.changes == [PartitionRemoved(topic="t", topic_id=None, partition=0)]


def test_old_versions_name_no_topic_ids_and_get_their_answers_flat(given: Given) -> None:
    ungrouped = state()
    ungrouped.topic_name = "t"
    body = m.LeaderAndIsrRequest(controller_epoch=2, broker_epoch=EPOCH, ungrouped_partition_states=[ungrouped])
    answer = asyncio.run(given.requests.leader_and_isr(body, 1))
    assert [(each.topic_name, each.error_code) for each in answer.partition_errors] == [("t", 0)]
    old = m.StopReplicaRequest(controller_epoch=2, broker_epoch=EPOCH, delete_partitions=True)
    old.topics = [m.StopReplicaRequest.StopReplicaTopicV1(name="t", partition_indexes=[0])]
    assert [each.error_code for each in given.requests.stop_replica(old).partition_errors] == [0]
    assert isinstance(given.data_plane.changes[-1], PartitionRemoved)


# The metadata


def update(*partitions: tuple[int, int], topic_id: UUID = TOPIC, kind: int = 0) -> m.UpdateMetadataRequest:
    """Partitions as index and leader."""
    states = [
        m.UpdateMetadataRequest.UpdateMetadataPartitionState(
            partition_index=index, leader=leader, leader_epoch=5, isr=[4, 5], replicas=[4, 5], offline_replicas=[5]
        )
        for index, leader in partitions
    ]
    topic = m.UpdateMetadataRequest.UpdateMetadataTopicState(topic_name="t", topic_id=topic_id, partition_states=states)
    endpoint = m.UpdateMetadataRequest.UpdateMetadataEndpoint(port=9090, host="node-5", listener="INTERNAL")
    broker = m.UpdateMetadataRequest.UpdateMetadataBroker(id=5, endpoints=[endpoint], broker_epoch=71)
    return m.UpdateMetadataRequest(
        controller_id=5, type=kind, topic_states=[topic] if states else [], live_brokers=[broker]
    )


@pytest.mark.requirement("INT-23", "DINT-26")
def test_metadata_shows_partitions_brokers_and_their_incarnations() -> None:
    cache = MetadataCache("c")
    assert not cache.known
    cache.update(update((0, 4)))
    assert cache.known
    assert cache.view.controller_id == 5
    assert cache.view.brokers[5].endpoints["INTERNAL"].host == "node-5"
    assert cache.view.topics["t"].partitions[0].offline_replicas == {5}
    assert cache.broker_epochs == {5: 71}


def test_metadata_changes_only_where_a_request_names_it_but_brokers_come_whole() -> None:
    cache = MetadataCache("c")
    cache.update(update((0, 4), (1, 4)))
    cache.update(m.UpdateMetadataRequest(controller_id=6))
    assert cache.view.brokers == {}
    assert sorted(cache.view.topics["t"].partitions) == [0, 1]


def test_a_full_update_forgets_what_it_does_not_name() -> None:
    cache = MetadataCache("c")
    cache.update(update((0, 4), (1, 4)))
    cache.update(update((1, 4), kind=FULL))
    assert sorted(cache.view.topics["t"].partitions) == [1]
    cache.update(update(kind=FULL))
    assert cache.view.topics == {}


def test_a_topic_goes_with_its_last_deleted_partition() -> None:
    cache = MetadataCache("c")
    cache.update(update((0, 4), (1, 4)))
    cache.update(update((0, LEADER_DURING_DELETE)))
    assert sorted(cache.view.topics["t"].partitions) == [1]
    cache.update(update((1, LEADER_DURING_DELETE)))
    assert cache.view.topics == {}


@pytest.mark.requirement("DINT-23")
def test_nothing_of_a_topic_is_kept_when_one_is_made_anew_under_its_name() -> None:
    cache = MetadataCache("c")
    cache.update(update((0, 4), (1, 4)))
    cache.configured(TOPIC, {"min.insync.replicas": "2"})
    assert cache.view.topics["t"].config == {"min.insync.replicas": "2"}
    cache.update(update((0, 4)))
    assert cache.view.topics["t"].config == {"min.insync.replicas": "2"}
    cache.update(update((0, 4), topic_id=ANOTHER))
    assert (sorted(cache.view.topics["t"].partitions), cache.view.topics["t"].config) == ([0], {})


# Late copies


class Controller:
    """Asks a broker over real connections; `give_up` begins a new one, as after a request that was not answered."""

    def __init__(self, given: Given, epoch: int = 2) -> None:
        self._server = Server(ZK_BROKER, given.requests.handlers)
        self._epoch = epoch
        self._port = 0
        self.connections: list[Connection] = []

    async def __aenter__(self) -> Controller:
        self._port = await self._server.listen("127.0.0.1", 0, "INTERNAL")
        await self.give_up()
        return self

    async def __aexit__(self, *_: object) -> None:
        for connection in self.connections:
            connection.close()
        await self._server.close()

    async def give_up(self) -> None:
        opened = await Connection.open("127.0.0.1", self._port, ZK_BROKER, "test", hosts=Hosts(), timeout=5)
        self.connections.append(opened)

    async def ask(
        self, request: m.LeaderAndIsrRequest | m.StopReplicaRequest | m.UpdateMetadataRequest, by: int
    ) -> int:
        request.controller_id, request.broker_epoch = 5, EPOCH
        request.controller_epoch = request.controller_epoch or self._epoch
        version = ZK_BROKER[request.API_KEY].max_version
        answer = await self.connections[by].request(cast("RequestMessage[Any]", request), version, timeout=5)
        assert isinstance(answer, m.LeaderAndIsrResponse | m.StopReplicaResponse | m.UpdateMetadataResponse)
        return answer.error_code


def order(topic_id: UUID, leader_epoch: int) -> m.LeaderAndIsrRequest:
    topic = m.LeaderAndIsrRequest.LeaderAndIsrTopicState(
        topic_name="t", topic_id=topic_id, partition_states=[state(leader_epoch=leader_epoch)]
    )
    return m.LeaderAndIsrRequest(topic_states=[topic])


def deletion() -> m.StopReplicaRequest:
    one = m.StopReplicaRequest.StopReplicaPartitionState(
        partition_index=0, leader_epoch=EPOCH_DURING_DELETE, delete_partition=True
    )
    return m.StopReplicaRequest(
        topic_states=[m.StopReplicaRequest.StopReplicaTopicState(topic_name="t", partition_states=[one])]
    )


@pytest.mark.requirement("INT-21", "DINT-23")
@pytest.mark.parametrize("copy", [deletion, lambda: order(TOPIC, 9), lambda: update((0, 9))])
async def test_the_late_copy_of_a_request_that_was_repeated_changes_nothing(
    given: Given, copy: Callable[[], m.LeaderAndIsrRequest | m.StopReplicaRequest | m.UpdateMetadataRequest]
) -> None:
    """It comes by a connection that its sender has given up; the topic was made anew since."""

    async with Controller(given) as controller:
        assert await controller.ask(order(TOPIC, 5), by=0) == Error.NONE
        await controller.give_up()
        assert await controller.ask(deletion(), by=1) == Error.NONE
        assert await controller.ask(order(ANOTHER, 0), by=1) == Error.NONE
        assert await controller.ask(update((0, ME)), by=1) == Error.NONE
        before, view = list(given.data_plane.changes), given.cache.view
        with pytest.raises(ConnectionError):
            await controller.ask(copy(), by=0)
        assert (given.data_plane.changes, given.cache.view) == (before, view)


async def test_another_controllers_connections_supersede_nothing(given: Given) -> None:
    """A proxy may hand them on in another order than they were opened in."""

    async with Controller(given) as controller:
        await controller.give_up()
        older = update((0, ME))
        older.controller_epoch = 1
        assert await controller.ask(older, by=1) == Error.NONE
        assert await controller.ask(update((0, ME)), by=0) == Error.NONE


@pytest.mark.requirement("DINT-29")
def test_changed_settings_reach_the_replicas_that_this_broker_holds_with_its_own_below_them() -> None:
    given = Given()
    given.assign(state())
    given.assign(state(partition=1), topic_id=ANOTHER)
    given.below = {"retention.ms": "7"}
    given.requests.settings_changed(TOPIC)
    changed = SettingsChanged(topic="t", topic_id=TOPIC, partition=0, config={"retention.ms": "7"})
    assert given.data_plane.changes[2:] == [changed]
    given.requests.settings_changed()
    assert {each.topic_partition.partition for each in given.data_plane.changes[3:]} == {0, 1}
