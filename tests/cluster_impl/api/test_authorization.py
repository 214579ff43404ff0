"""Rules in front of the handlers: what is refused does not reach them, and what is allowed does."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest

from fencepost.cluster_impl.api.authorization.guard import authorized, rules
from fencepost.cluster_impl.security.access_control import AccessControl
from fencepost.cluster_impl.security.entries import AccessControlEntry, AclOperation, ResourceType
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.registry import QUORUM_CLIENTS
from fencepost.cluster_impl.wire.server import CloseConnection, Request

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
IDS = {"mine": UUID(int=1), "hers": UUID(int=2)}
NAMES = {topic_id: name for name, topic_id in IDS.items()}
_TOPIC, _GROUP, _CLUSTER = (
    Error.TOPIC_AUTHORIZATION_FAILED,
    Error.GROUP_AUTHORIZATION_FAILED,
    Error.CLUSTER_AUTHORIZATION_FAILED,
)


class Connection:
    host = "127.0.0.1"


class Broker:
    """Alice may do everything with topic and group `mine`, and nothing else. Handlers keep what reaches them."""

    def __init__(self, *more: tuple[ResourceType, str, AclOperation]) -> None:
        allowed = [(TOPIC, "mine", AclOperation.ALL), (GROUP, "mine", AclOperation.ALL), *more]
        entries = {
            AccessControlEntry(kind, name, 3, "User:alice", "*", operation, 3): None
            for kind, name, operation in allowed
        }
        self.access = AccessControl(lambda: entries, {"User:admin"})
        self.reached: list[Message] = []
        self.response: Message | None = None

    def ask(self, body: Message, version: int | None = None, user: str = "alice") -> Any:
        api = QUORUM_CLIENTS[body.API_KEY]
        version = api.max_version if version is None else version
        handlers = authorized({api.key: self._handle}, self.access, NAMES.get)
        request = Request(api, version, 1, None, body, Connection(), 0.0, "CLIENT", f"User:{user}")  # type: ignore[arg-type]
        answer: Any = handlers[api.key](request)
        if asyncio.iscoroutine(answer):
            answer = asyncio.run(answer)
        if answer is not None:
            answer.encode(version)
        return answer

    def _handle(self, request: Request) -> Any:
        self.reached.append(request.body)

        async def later() -> Message:
            return self.response or request.api.response()

        return later()


def test_every_api_of_clients_has_a_rule() -> None:
    without = {api.name for key, api in QUORUM_CLIENTS.items() if key not in rules(NAMES.get)}
    assert without == {"ApiVersions", "SaslHandshake", "SaslAuthenticate"}


def topic_data(name: str) -> m.ProduceRequest.TopicProduceData:
    return m.ProduceRequest.TopicProduceData(
        name=name, partition_data=[m.ProduceRequest.PartitionProduceData(index=0, records=b"")]
    )


@pytest.mark.requirement("D631-43")
def test_records_are_taken_for_the_topics_that_the_sender_may_write_to() -> None:
    broker = Broker()
    answer = broker.ask(m.ProduceRequest(acks=-1, topic_data=[topic_data("hers"), topic_data("mine")]))
    assert [topic.name for topic in broker.reached[0].topic_data] == ["mine"]  # type: ignore[attr-defined]
    assert [(each.name, each.partition_responses[0].error_code) for each in answer.responses] == [("hers", _TOPIC)]
    answer = broker.ask(m.ProduceRequest(acks=1, topic_data=[topic_data("hers")]))
    assert answer.responses[0].partition_responses[0].error_code == _TOPIC
    with pytest.raises(CloseConnection, match="User:alice may not write to hers"):
        broker.ask(m.ProduceRequest(acks=0, topic_data=[topic_data("hers")]))
    assert len(broker.reached) == 1


@pytest.mark.parametrize("version", [12, 17])
@pytest.mark.requirement("D631-43")
def test_records_are_shown_of_the_topics_that_the_sender_may_read(version: int) -> None:
    broker = Broker()
    topics = [
        m.FetchRequest.FetchTopic(
            topic=name, topic_id=topic_id, partitions=[m.FetchRequest.FetchPartition(partition=0)]
        )
        for name, topic_id in IDS.items()
    ]
    answer = broker.ask(m.FetchRequest(topics=topics), version)
    assert [topic.topic for topic in broker.reached[0].topics] == ["mine"]  # type: ignore[attr-defined]
    assert [each.partitions[0].error_code for each in answer.responses] == [_TOPIC]


def test_metadata_shows_the_topics_that_the_sender_may_describe() -> None:
    Topic = m.MetadataResponse.MetadataResponseTopic
    broker = Broker()
    broker.response = m.MetadataResponse(topics=[Topic(name=name, topic_id=topic_id) for name, topic_id in IDS.items()])
    everything = broker.ask(m.MetadataRequest(topics=None, include_topic_authorized_operations=True))
    assert [topic.name for topic in everything.topics] == ["mine"]
    assert everything.topics[0].topic_authorized_operations & 1 << AclOperation.DELETE
    Wanted = m.MetadataRequest.MetadataRequestTopic
    broker.response = m.MetadataResponse(topics=[Topic(name=name, topic_id=topic_id) for name, topic_id in IDS.items()])
    named = broker.ask(m.MetadataRequest(topics=[Wanted(name=name) for name in IDS], allow_auto_topic_creation=True))
    assert [(topic.name, topic.error_code, len(topic.partitions)) for topic in named.topics] == [
        ("mine", Error.NONE, 0), ("hers", _TOPIC, 0)
    ]  # fmt: skip
    assert named.topics[1].topic_id == UUID(int=0)
    assert not broker.reached[-1].allow_auto_topic_creation  # type: ignore[attr-defined]
    broker.response = m.MetadataResponse(topics=[Topic(name="hers", topic_id=IDS["hers"])])
    by_id = broker.ask(m.MetadataRequest(topics=[Wanted(name=None, topic_id=IDS["hers"])]))
    assert [(topic.name, topic.error_code) for topic in by_id.topics] == [("", Error.UNKNOWN_TOPIC_ID)]


@pytest.mark.requirement("D631-43")
def test_topics_are_created_and_deleted_by_users_that_may() -> None:
    broker = Broker()
    Creatable = m.CreateTopicsRequest.CreatableTopic
    created = broker.ask(m.CreateTopicsRequest(topics=[Creatable(name=name) for name in IDS]))
    assert [(topic.name, topic.error_code) for topic in created.topics] == [("hers", _TOPIC)]
    State = m.DeleteTopicsRequest.DeleteTopicState
    doomed = [State(name="hers"), State(topic_id=IDS["hers"]), State(topic_id=IDS["mine"]), State(topic_id=UUID(int=9))]
    deleted = broker.ask(m.DeleteTopicsRequest(topics=doomed))
    assert [(each.name, each.error_code) for each in deleted.responses] == [("hers", _TOPIC), (None, _TOPIC)]
    assert [each.topic_id.int for each in broker.reached[-1].topics] == [1, 9]  # type: ignore[attr-defined]
    deleted = broker.ask(m.DeleteTopicsRequest(topic_names=["hers"]), 5)
    assert [each.error_code for each in deleted.responses] == [_TOPIC]
    assert len(broker.reached) == 2


GROUP_REQUESTS = [
    m.JoinGroupRequest(group_id="hers"),
    m.SyncGroupRequest(group_id="hers"),
    m.HeartbeatRequest(group_id="hers"),
    m.LeaveGroupRequest(group_id="hers"),
]


@pytest.mark.requirement("D631-43")
@pytest.mark.parametrize("body", GROUP_REQUESTS, ids=lambda body: type(body).__name__)
def test_a_group_takes_the_members_that_may_read_it(body: Any) -> None:
    broker = Broker()
    assert broker.ask(body).error_code == _GROUP
    assert broker.reached == []
    body.group_id = "mine"
    assert broker.ask(body).error_code == Error.NONE
    assert len(broker.reached) == 1


def test_offsets_are_committed_and_shown_by_group_and_topic() -> None:
    broker = Broker()

    def commit(group: str) -> list[tuple[str, int]]:
        Topic, Partition = (
            m.OffsetCommitRequest.OffsetCommitRequestTopic,
            m.OffsetCommitRequest.OffsetCommitRequestPartition,
        )
        topics = [Topic(name=name, partitions=[Partition(partition_index=0)]) for name in IDS]
        answer = broker.ask(m.OffsetCommitRequest(group_id=group, topics=topics))
        return [(topic.name, topic.partitions[0].error_code) for topic in answer.topics]

    assert commit("hers") == [("mine", _GROUP), ("hers", _GROUP)]
    assert broker.reached == []
    assert commit("mine") == [("hers", _TOPIC)]
    response = m.OffsetFetchResponse
    shown = [
        response.OffsetFetchResponseTopics(
            name=name, partitions=[response.OffsetFetchResponsePartitions(committed_offset=7)]
        )
        for name in IDS
    ]
    broker.response = response(groups=[response.OffsetFetchResponseGroup(group_id="mine", topics=shown)])
    Wanted = m.OffsetFetchRequest.OffsetFetchRequestGroup
    answer = broker.ask(m.OffsetFetchRequest(groups=[Wanted(group_id="mine", topics=None), Wanted(group_id="hers")]))
    assert [(group.group_id, group.error_code) for group in answer.groups] == [("mine", 0), ("hers", _GROUP)]
    assert [topic.name for topic in answer.groups[0].topics] == ["mine"]
    for version in (1, 7):
        refused = broker.ask(m.OffsetFetchRequest(group_id="hers", topics=[]), version)
        assert version == 1 or refused.error_code == _GROUP


def test_coordinators_and_groups_are_shown_to_users_that_may_describe_them() -> None:
    broker = Broker()
    answer = broker.ask(m.FindCoordinatorRequest(coordinator_keys=["mine", "hers"]))
    assert [(each.key, each.error_code) for each in answer.coordinators] == [("hers", _GROUP)]
    assert broker.ask(m.FindCoordinatorRequest(key="hers"), 3).error_code == _GROUP
    answer = broker.ask(m.DescribeGroupsRequest(groups=["hers"]))
    assert [each.error_code for each in answer.groups] == [_GROUP]
    listed = [m.ListGroupsResponse.ListedGroup(group_id=group) for group in ("mine", "hers")]
    broker.response = m.ListGroupsResponse(groups=listed)
    assert [group.group_id for group in broker.ask(m.ListGroupsRequest()).groups] == ["mine"]
    seeing = Broker((CLUSTER, "kafka-cluster", AclOperation.DESCRIBE))
    seeing.response = m.ListGroupsResponse(groups=listed)
    assert [group.group_id for group in seeing.ask(m.ListGroupsRequest()).groups] == ["mine", "hers"]


Filter = m.DeleteAclsRequest.DeleteAclsFilter
OF_CLUSTERS: list[tuple[Message, Any]] = [
    (m.DescribeAclsRequest(), lambda answer: answer.error_code),
    (m.CreateAclsRequest(creations=[m.CreateAclsRequest.AclCreation()]), lambda answer: answer.results[0].error_code),
    (m.DeleteAclsRequest(filters=[Filter()]), lambda answer: answer.filter_results[0].error_code),
    (m.UpdateFeaturesRequest(), lambda answer: answer.error_code),
    (m.ElectLeadersRequest(topic_partitions=[]), lambda answer: answer.error_code),
    (m.AlterPartitionReassignmentsRequest(), lambda answer: answer.error_code),
    (m.ListPartitionReassignmentsRequest(), lambda answer: answer.error_code),
]


@pytest.mark.parametrize(("body", "error"), OF_CLUSTERS, ids=lambda body: type(body).__name__)
def test_entries_and_features_need_alter_on_the_cluster(body: Message, error: Any) -> None:
    broker = Broker((TOPIC, "*", AclOperation.ALL))
    assert error(broker.ask(body)) == _CLUSTER
    assert broker.reached == []
    broker.ask(body, user="admin")
    assert len(broker.reached) == 1


def test_settings_are_for_users_that_may_describe_or_alter_them() -> None:
    broker = Broker()
    Resource = m.DescribeConfigsRequest.DescribeConfigsResource
    resources = [Resource(resource_type=2, resource_name=name) for name in IDS]
    resources.append(Resource(resource_type=4, resource_name="1"))
    answer = broker.ask(m.DescribeConfigsRequest(resources=resources))
    assert [each.error_code for each in answer.results] == [_TOPIC, _CLUSTER]
    Altered = m.IncrementalAlterConfigsRequest.AlterConfigsResource
    changed = broker.ask(m.IncrementalAlterConfigsRequest(resources=[Altered(resource_type=2, resource_name="hers")]))
    assert [each.error_code for each in changed.responses] == [_TOPIC]


def test_a_producer_id_is_for_users_that_may_write_somewhere() -> None:
    assert Broker().ask(m.InitProducerIdRequest(transactional_id=None)).error_code == Error.NONE
    assert Broker().ask(m.InitProducerIdRequest(transactional_id=None), user="bob").error_code == _CLUSTER


def test_partitions_are_added_by_users_that_may_alter_the_topic() -> None:
    broker = Broker()
    Wanted = m.CreatePartitionsRequest.CreatePartitionsTopic
    answer = broker.ask(m.CreatePartitionsRequest(topics=[Wanted(name=name) for name in IDS]))
    assert [(each.name, each.error_code) for each in answer.results] == [("hers", _TOPIC)]


def test_records_are_deleted_by_users_that_may_delete_the_topic() -> None:
    broker = Broker()
    Topic = m.DeleteRecordsRequest.DeleteRecordsTopic
    at = [m.DeleteRecordsRequest.DeleteRecordsPartition(partition_index=0, offset=5)]
    answer = broker.ask(m.DeleteRecordsRequest(topics=[Topic(name=name, partitions=at) for name in IDS]))
    assert [(each.name, each.partitions[0].error_code) for each in answer.topics] == [("hers", _TOPIC)]


def test_the_quorum_is_described_to_users_that_may_describe_the_cluster() -> None:
    assert Broker().ask(m.DescribeQuorumRequest()).error_code == _CLUSTER
    assert Broker((CLUSTER, "kafka-cluster", AclOperation.DESCRIBE)).ask(m.DescribeQuorumRequest()).error_code == 0
