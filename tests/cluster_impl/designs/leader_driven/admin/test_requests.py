"""The five requests, answered over a cluster in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Sequence
from typing import Any, TypeVar
from uuid import UUID

import pytest

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.coordination.steps import Create, Operation, Outcome, Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.administrator import Administrator
from fencepost.cluster_impl.designs.leader_driven.admin.partition_requests import PartitionRequests
from fencepost.cluster_impl.designs.leader_driven.admin.reading import stat_of
from fencepost.cluster_impl.designs.leader_driven.admin.topic_requests import TopicRequests
from fencepost.cluster_impl.designs.shared.topic_requests import MAX_PARTITIONS
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.leader_driven.admin.final_state import check_final_state
from tests.cluster_impl.designs.leader_driven.admin.model_cluster import ModelCluster

T = TypeVar("T")

StoredTopic = m.CreateTopicsRequest.CreatableTopic
Assignment = m.CreateTopicsRequest.CreatableReplicaAssignment
Config = m.CreateTopicsRequest.CreatableTopicConfig
More = m.CreatePartitionsRequest.CreatePartitionsTopic
MoreAssignment = m.CreatePartitionsRequest.CreatePartitionsAssignment
Doomed = m.DeleteTopicsRequest.DeleteTopicState
Moving = m.AlterPartitionReassignmentsRequest.ReassignableTopic
MovingPartition = m.AlterPartitionReassignmentsRequest.ReassignablePartition
Listed = m.ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics

TEST_TIMEOUT_S = 0.5


class MemoryExecutor:
    """The session of one command, and brokers that act while it waits."""

    def __init__(self, model: ModelCluster, session: int) -> None:
        self._model = model
        self._session = session

    async def run(self, steps: Steps[T]) -> T:
        self._model.act()
        await asyncio.sleep(0)
        result = self._model.tree.run(steps, self._session)
        for broker_id in self._model.brokers:
            backlog = len(self._model.tree.names(znodes.state(broker_id)))
            self._model.longest_backlog = max(self._model.longest_backlog, backlog)
        return result

    async def gone(self, paths: Collection[str], within: float) -> None:
        deadline = asyncio.get_running_loop().time() + min(within, TEST_TIMEOUT_S)
        while any(self._model.tree.exists(path) for path in paths):
            self._model.act()
            if asyncio.get_running_loop().time() >= deadline:
                return
            await asyncio.sleep(0.001)


class Requests:
    def __init__(self) -> None:
        self.model = ModelCluster()
        self.capacity = 100
        self._sessions = 1000

    def answer(self, ask: Coroutine[Any, Any, T]) -> T:
        async def asked() -> T:
            try:
                return await ask
            finally:
                self.administrator.close()

        result = asyncio.run(asked())
        self.model.settle()
        return result

    @property
    def topics(self) -> TopicRequests:
        return TopicRequests(self._new())

    @property
    def partitions(self) -> PartitionRequests:
        return PartitionRequests(self._new())

    def _new(self) -> Administrator:
        self.administrator = Administrator(self._executor, self.model.monitor, TopicDefaults(2, 3), self.capacity)
        return self.administrator

    def _executor(self) -> MemoryExecutor:
        self._sessions += 1
        return MemoryExecutor(self.model, self._sessions)

    def create(self, *topics: StoredTopic, check: bool = False, timeout_ms: int = 5000) -> list[Any]:
        request = m.CreateTopicsRequest(topics=list(topics), validate_only=check, timeout_ms=timeout_ms)
        return self.answer(self.topics.create(request)).topics

    def delete(self, *names: str, version: int = 5, ids: tuple[UUID, ...] = (), timeout_ms: int = 5000) -> list[Any]:
        doomed = [*(Doomed(name=name) for name in names), *(Doomed(name=None, topic_id=topic_id) for topic_id in ids)]
        request = m.DeleteTopicsRequest(topic_names=list(names), topics=doomed, timeout_ms=timeout_ms)
        return self.answer(self.topics.delete(request, version)).responses

    def extend(self, *topics: More, check: bool = False) -> list[Any]:
        request = m.CreatePartitionsRequest(topics=list(topics), timeout_ms=5000, validate_only=check)
        return self.answer(self.partitions.create(request)).results

    def reassign(
        self, topic: str, *moves: tuple[int, list[int] | None], may_change_factor: bool = True
    ) -> list[tuple[int, int]]:
        partitions = [MovingPartition(partition_index=index, replicas=replicas) for index, replicas in moves]
        request = m.AlterPartitionReassignmentsRequest(
            timeout_ms=5000,
            topics=[Moving(name=topic, partitions=partitions)],
            allow_replication_factor_change=may_change_factor,
        )
        response = self.answer(self.partitions.reassign(request))
        assert response.error_code == Error.NONE
        assert response.allow_replication_factor_change is may_change_factor
        [answered] = response.responses
        assert answered.name == topic
        return [(each.partition_index, each.error_code) for each in answered.partitions]

    def moving(self, *topics: tuple[str, list[int]]) -> dict[str, list[tuple[int, list[int], list[int], list[int]]]]:
        listed = [Listed(name=name, partition_indexes=indexes) for name, indexes in topics] or None
        response = self.answer(self.partitions.list_reassignments(m.ListPartitionReassignmentsRequest(topics=listed)))
        assert response.error_code == Error.NONE
        return {
            topic.name: [
                (each.partition_index, each.replicas, each.adding_replicas, each.removing_replicas)
                for each in topic.partitions
            ]
            for topic in response.topics
        }


@pytest.fixture
def requests() -> Requests:
    return Requests()


def simple(name: str, partitions: int = 1, factor: int = 1, **config: str | None) -> StoredTopic:
    configs = [Config(name=key.replace("_", "."), value=value) for key, value in config.items()]
    return StoredTopic(name=name, num_partitions=partitions, replication_factor=factor, configs=configs)


def assigned(name: str, *layout: list[int], numbers: tuple[int, int] = (-1, -1), first: int = 0) -> StoredTopic:
    assignments = [Assignment(partition_index=at, broker_ids=each) for at, each in enumerate(layout, first)]
    return StoredTopic(name=name, num_partitions=numbers[0], replication_factor=numbers[1], assignments=assignments)


def codes(results: list[Any]) -> list[int]:
    return [each.error_code for each in results]


@pytest.mark.requirement("DLD-18", "DLD-17", "DLD-23")
def test_topics_are_created_each_on_its_own_with_defaults_where_nothing_is_said(requests: Requests) -> None:
    results = requests.create(
        simple("t", -1, -1, min_insync_replicas="2"), assigned("u", [4], [5]), simple("v", 1, 7), simple("w", 0, 1)
    )
    assert codes(results) == [0, 0, Error.INVALID_REPLICATION_FACTOR, Error.INVALID_PARTITIONS]
    assert (results[0].num_partitions, results[0].replication_factor) == (2, 3)
    assert [(each.name, each.value) for each in results[0].configs] == [("min.insync.replicas", "2")]
    assert results[0].topic_id == znodes.topic_id("t", _czxid(requests, "t"))
    assert results[2].error_message == "Replication factor 7 cannot be met: 3 brokers are live."
    check_final_state(requests.model)


def _czxid(requests: Requests, topic: str) -> int:
    stat = requests.model.tree.run(stat_of(znodes.topic(topic)))
    assert stat is not None
    return stat.czxid


def test_many_topics_at_once_fill_no_queue(requests: Requests) -> None:
    requests.capacity = 8
    results = requests.create(*(simple(f"t{number}", 3, 3) for number in range(30)), timeout_ms=60_000)
    assert set(codes(results)) == {0}
    assert 3 <= requests.model.longest_backlog <= 4
    check_final_state(requests.model)
    assert set(codes(requests.delete(*(f"t{number}" for number in range(30)), timeout_ms=60_000))) == {0}
    assert requests.model.tree.names(znodes.TOPICS) == []


def test_a_creation_that_is_only_to_be_checked_writes_nothing(requests: Requests) -> None:
    requests.create(simple("old"))
    before = requests.model.tree.paths()
    results = requests.create(simple("t", 3, 2), simple("old", 1, 9), simple("u", 1, 4), check=True)
    assert codes(results) == [0, Error.TOPIC_ALREADY_EXISTS, Error.INVALID_REPLICATION_FACTOR]
    assert (results[0].num_partitions, results[0].replication_factor) == (3, 2)
    assert requests.model.tree.paths() == before


@pytest.mark.parametrize(
    ("topic", "error"),
    [
        (simple("no name"), Error.INVALID_TOPIC_EXCEPTION),
        (assigned("t", [4], numbers=(1, -1)), Error.INVALID_REQUEST),
        (assigned("t", [4], first=1), Error.INVALID_REPLICA_ASSIGNMENT),
        (assigned("t", [4, 4]), Error.INVALID_REPLICA_ASSIGNMENT),
        (assigned("t", [7]), Error.INVALID_REPLICA_ASSIGNMENT),
        (simple("t", flush_ms="1"), Error.INVALID_CONFIG),
        (simple("t", min_insync_replicas=None), Error.INVALID_CONFIG),
    ],
)
def test_a_topic_that_cannot_be_is_refused_as_kafka_refuses_it(
    requests: Requests, topic: StoredTopic, error: Error
) -> None:
    [result] = requests.create(topic)
    assert result.error_code == error
    assert result.error_message
    check_final_state(requests.model)


def test_a_topic_named_twice_in_a_request_is_refused_twice(requests: Requests) -> None:
    assert codes(requests.create(simple("t"), simple("t"))) == [Error.INVALID_REQUEST] * 2
    requests.create(simple("t"))
    assert codes(requests.delete("t", "t")) == [Error.INVALID_REQUEST] * 2
    assert codes(requests.extend(More(name="t", count=2), More(name="t", count=3))) == [Error.INVALID_REQUEST] * 2


@pytest.mark.requirement("DLD-32")
def test_a_creation_that_takes_longer_than_the_client_waits_is_answered_in_time(requests: Requests) -> None:
    requests.model.brokers[4].takes_requests = False
    [result] = requests.create(assigned("t", [4]), timeout_ms=20)
    assert result.error_code == Error.REQUEST_TIMED_OUT
    assert result.error_message == "The creation of topic t is under way."


@pytest.mark.requirement("DLD-32")
def test_a_client_that_does_not_wait_at_all_still_gets_what_is_wrong_at_once(requests: Requests) -> None:
    results = requests.create(simple("t"), simple("u", 1, 9), timeout_ms=0)
    assert codes(results) == [Error.REQUEST_TIMED_OUT, Error.INVALID_REPLICATION_FACTOR]


@pytest.mark.requirement("DLD-32")
async def test_a_command_goes_on_after_its_answer(requests: Requests) -> None:
    administrator = requests._new()

    async def ask() -> int:
        request = m.CreateTopicsRequest(topics=[simple("t", 2, 2)], timeout_ms=0)
        [result] = (await TopicRequests(administrator).create(request)).topics
        for _ in range(10_000):
            if requests.model.tree.names(znodes.TOPICS) and not requests.model.tree.names(znodes.ADMIN):
                break
            await asyncio.sleep(0.001)
        return result.error_code

    assert await ask() == Error.REQUEST_TIMED_OUT
    check_final_state(requests.model)
    assert requests.model.tree.names(znodes.topic("t")) == ["0", "1"]


@pytest.mark.requirement("DLD-18")
def test_a_topic_that_another_command_holds_is_answered_when_the_time_is_over(requests: Requests) -> None:
    requests.create(simple("t"))
    requests.model.tree.execute([Create(znodes.admin_lock("t"), b"{}", ephemeral=True)], session=77)
    assert codes(requests.delete("t", timeout_ms=30)) == [Error.REQUEST_TIMED_OUT]
    assert requests.model.tree.names(znodes.TOPICS) == ["t"]


def test_topics_are_deleted_by_name_and_by_id(requests: Requests) -> None:
    first, second = requests.create(simple("t", 2, 2), simple("u"))
    assert codes(requests.delete("t", "none")) == [0, Error.UNKNOWN_TOPIC_OR_PARTITION]
    [result] = requests.delete(ids=(second.topic_id,), version=6)
    assert (result.name, result.topic_id, result.error_code) == ("u", second.topic_id, 0)
    assert codes(requests.delete(ids=(first.topic_id,), version=6)) == [Error.UNKNOWN_TOPIC_ID]
    check_final_state(requests.model)
    assert requests.model.tree.names(znodes.TOPICS) == []


def test_partitions_are_added_or_refused_as_kafka_does(requests: Requests) -> None:
    requests.create(assigned("t", [4, 5]), assigned("u", [4, 5]))
    wanted = [MoreAssignment(broker_ids=[5, 6]), MoreAssignment(broker_ids=[6, 4])]
    results = requests.extend(
        More(name="t", count=3, assignments=wanted),
        More(name="u", count=1, assignments=None),
        More(name="none", count=2, assignments=None),
    )
    assert codes(results) == [0, Error.INVALID_PARTITIONS, Error.UNKNOWN_TOPIC_OR_PARTITION]
    assert requests.model.tree.data(znodes.replicas(TopicPartition("t", 2))) == b"[6,4]"
    check_final_state(requests.model)
    assert codes(requests.extend(More(name="u", count=2, assignments=None), check=True)) == [0]
    assert requests.model.tree.names(znodes.topic("u")) == ["0"]
    bad = More(name="u", count=2, assignments=[MoreAssignment(broker_ids=[4])])
    assert codes(requests.extend(bad)) == [Error.INVALID_REPLICA_ASSIGNMENT]


@pytest.mark.requirement("DLD-30", "LD-14")
def test_reassignments_are_written_down_listed_and_refused(requests: Requests) -> None:
    requests.create(assigned("t", [4, 5], [5, 6], [6, 4]))
    for broker in requests.model.brokers.values():
        broker.notices = False
    answered = requests.reassign("t", (0, [6, 5]), (1, [9]), (2, None), (7, [4]))
    assert answered == [
        (0, Error.NONE),
        (1, Error.INVALID_REPLICA_ASSIGNMENT),
        (2, Error.NO_REASSIGNMENT_IN_PROGRESS),
        (7, Error.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert requests.moving() == {"t": [(0, [4, 5, 6], [6], [4])]}
    assert requests.moving(("t", [1]), ("u", [0])) == {}
    assert requests.moving(("t", [0, 1])) == {"t": [(0, [4, 5, 6], [6], [4])]}
    assert requests.reassign("t", (0, [5, 4]), (1, [6, 5])) == [(0, Error.REASSIGNMENT_IN_PROGRESS), (1, 0)]
    assert requests.reassign("t", (0, None)) == [(0, Error.INVALID_REQUEST)]
    assert requests.reassign("t", (2, [5]), may_change_factor=False) == [(2, Error.INVALID_REPLICATION_FACTOR)]
    for broker in requests.model.brokers.values():
        broker.notices = True
    check_final_state(requests.model)
    assert requests.moving() == {}


def test_partitions_in_the_making_and_on_their_way_out_are_not_listed_as_moving(requests: Requests) -> None:
    requests.create(assigned("t", [4]))
    requests.model.brokers[4].notices = False
    requests.model.tree.create(znodes.reassigned(TopicPartition("t", 0)), b"[]")
    requests.model.tree.create(znodes.reassigned(TopicPartition("t", 1)), b"[5]")
    assert requests.moving() == {}


def test_a_znode_that_cannot_be_read_is_named_in_the_message(requests: Requests) -> None:
    requests.create(assigned("t", [4]))
    requests.model.tree.overwrite(znodes.topic("t"), b"what?")
    [result] = requests.delete("t")
    assert result.error_code == Error.UNKNOWN_SERVER_ERROR
    assert "/brokers/topics/t cannot be read" in (result.error_message or "")


@pytest.mark.parametrize("name", ["..", ".", "a/b", "", "x" * 250])
def test_a_name_that_no_topic_can_have_is_refused_before_any_znode_is_asked_for(requests: Requests, name: str) -> None:
    asked: list[str] = []
    tree = requests.model.tree
    execute = tree.execute

    def watched(batch: Sequence[Operation], session: int = 0) -> list[Outcome]:
        asked.extend(operation.path for operation in batch)
        return execute(batch, session)

    tree.execute = watched  # type: ignore[method-assign]
    assert codes(requests.delete(name)) == [Error.INVALID_TOPIC_EXCEPTION]
    assert codes(requests.extend(More(name=name, count=3, assignments=None))) == [Error.INVALID_TOPIC_EXCEPTION]
    assert requests.reassign(name, (0, [5])) == [(0, Error.INVALID_TOPIC_EXCEPTION)]
    assert codes(requests.create(simple(name))) == [Error.INVALID_TOPIC_EXCEPTION]
    assert asked == []


@pytest.mark.parametrize("partitions", [MAX_PARTITIONS + 2, 2**31 - 1])
def test_one_request_cannot_make_more_partitions_than_brokers_can_carry(partitions: int) -> None:
    requests = Requests()
    [result] = requests.create(StoredTopic(name="t", num_partitions=partitions, replication_factor=1))
    assert result.error_code == Error.POLICY_VIOLATION
    requests.create(StoredTopic(name="t", num_partitions=1, replication_factor=1))
    [result] = requests.extend(More(name="t", count=partitions))
    assert result.error_code == Error.POLICY_VIOLATION


def elect(requests: Requests, *indexes: int, kind: int = 0) -> list[int]:
    named = [m.ElectLeadersRequest.TopicPartitions(topic="t", partitions=list(indexes))] if indexes else None
    request = m.ElectLeadersRequest(election_type=kind, topic_partitions=named, timeout_ms=200)
    response = requests.answer(requests.partitions.elect(request))
    if response.error_code:
        return [response.error_code]
    return [each.error_code for topic in response.replica_election_results for each in topic.partition_result]


@pytest.mark.requirement("DLD-51")
def test_an_election_says_of_each_partition_why_nothing_is_elected() -> None:
    requests = Requests()
    requests.create(assigned("t", [4, 5, 6]))
    assert elect(requests, 0, 7) == [Error.ELECTION_NOT_NEEDED, Error.UNKNOWN_TOPIC_OR_PARTITION]
    assert elect(requests) == []
    assert elect(requests, 0, kind=1) == [Error.ELECTION_NOT_NEEDED]
    assert elect(requests, 0, kind=5) == [Error.INVALID_REQUEST]
    leader = requests.model.leader(TopicPartition("t", 0))
    assert leader is not None
    requests.model.stop(leader)
    requests.model.settle()
    assert elect(requests, 0) == [Error.PREFERRED_LEADER_NOT_AVAILABLE]
