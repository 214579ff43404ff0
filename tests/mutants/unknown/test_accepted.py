"""An accepted request is done: all of it, and nothing else."""

from __future__ import annotations

from pathlib import Path

from fencepost.cluster_impl.designs.quorum.controller import (
    acls,
    create_partitions,
    elect_leaders,
    settings,
)
from fencepost.cluster_impl.security.entries import AccessControlEntry
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.controller_model import Model
from tests.cluster_impl.static_cluster import static_cluster
from tests.waiting import eventually

TOPIC = 2
MIN_ISR, RETENTION = "min.insync.replicas", "retention.ms"
SET, DELETE = 0, 1


def with_topic() -> Model:
    """Brokers 4, 5 and 6, and the topic t on 4 and 5."""
    model = Model()
    model.join(4, 5, 6)
    model.topic("t", 4, 5)
    return model


def alter(model: Model, topic: str, **changes: str | None) -> None:
    one = m.IncrementalAlterConfigsRequest.AlterableConfig
    configs = [
        one(name=name.replace("_", "."), config_operation=DELETE if value is None else SET, value=value)
        for name, value in changes.items()
    ]
    resource = m.IncrementalAlterConfigsRequest.AlterConfigsResource(
        resource_type=TOPIC, resource_name=topic, configs=configs
    )
    model.run(settings.alter_configs(model.state, m.IncrementalAlterConfigsRequest(resources=[resource])))


def test_alter_configs_replaces_all_settings_of_a_resource() -> None:
    model = with_topic()
    alter(model, "t", min_insync_replicas="2", retention_ms="5")
    config = m.AlterConfigsRequest.AlterableConfig(name=RETENTION, value="6")
    resource = m.AlterConfigsRequest.AlterConfigsResource(resource_type=TOPIC, resource_name="t", configs=[config])
    model.run(settings.alter_configs(model.state, m.AlterConfigsRequest(resources=[resource])))
    assert model.image.config_of("t") == {RETENTION: "6"}


def test_the_removal_of_a_setting_leaves_the_others() -> None:
    model = with_topic()
    alter(model, "t", min_insync_replicas="2", retention_ms="5")
    alter(model, "t", min_insync_replicas=None)
    assert model.image.config_of("t") == {RETENTION: "5"}


def test_a_refused_resource_leaves_the_others_of_its_request_alone() -> None:
    model = with_topic()
    config = m.IncrementalAlterConfigsRequest.AlterableConfig(name=MIN_ISR, config_operation=SET, value="2")
    resource = m.IncrementalAlterConfigsRequest.AlterConfigsResource
    request = m.IncrementalAlterConfigsRequest(
        resources=[
            resource(resource_type=TOPIC, resource_name="t", configs=[config]),
            resource(resource_type=TOPIC, resource_name="absent", configs=[config]),
        ]
    )
    reply = model.run(settings.alter_configs(model.state, request))
    assert [result.error_code for result in reply.responses] == [Error.NONE, Error.UNKNOWN_TOPIC_OR_PARTITION]
    assert model.image.config_of("t") == {MIN_ISR: "2"}


def test_every_filter_of_delete_acls_deletes() -> None:
    model = with_topic()
    entries = [AccessControlEntry(TOPIC, name, 3, "User:alice", "*", 3, 3) for name in ("t", "u")]
    model.image.acls = dict.fromkeys(entries)
    filters = [
        m.DeleteAclsRequest.DeleteAclsFilter(
            resource_type_filter=TOPIC,
            resource_name_filter=name,
            pattern_type_filter=3,
            principal_filter=None,
            host_filter=None,
            operation=1,
            permission_type=1,
        )
        for name in ("t", "u")
    ]
    model.run(acls.delete_acls(model.state, m.DeleteAclsRequest(filters=filters)))
    assert not model.image.acls


def test_an_election_moves_the_partitions_that_it_names_alone() -> None:
    model = Model()
    model.join(4, 5)
    both = [
        m.CreateTopicsRequest.CreatableReplicaAssignment(partition_index=index, broker_ids=[4, 5]) for index in (0, 1)
    ]
    topic = m.CreateTopicsRequest.CreatableTopic
    model.create(topic(name="t", num_partitions=-1, replication_factor=-1, assignments=both))
    for partition in list(model.image.all_partitions()):
        model.append(
            [
                m.IsrChangeRecord(
                    topic_id=partition.topic_id,
                    partition_id=partition.index,
                    isr=[5, 4],
                    leader=5,
                    leader_epoch=partition.leader_epoch + 1,
                )
            ]
        )
    named = m.ElectLeadersRequest.TopicPartitions(topic="t", partitions=[0])
    request = m.ElectLeadersRequest(election_type=0, topic_partitions=[named])
    model.run(elect_leaders.elect_leaders(model.state, request, model.now))
    assert [partition.leader for partition in model.image.all_partitions()] == [4, 5]


def test_new_partitions_are_where_the_request_assigns_them() -> None:
    model = with_topic()
    assigned = m.CreatePartitionsRequest.CreatePartitionsAssignment(broker_ids=[6, 4])
    topic = m.CreatePartitionsRequest.CreatePartitionsTopic(name="t", count=2, assignments=[assigned])
    model.run(create_partitions.create_partitions(model.state, m.CreatePartitionsRequest(topics=[topic]), model.now))
    created = model.image.partition("t", 1)
    assert created is not None and created.replicas == (6, 4)


def test_offsets_are_deleted_of_the_partitions_that_are_named_alone(tmp_path: Path) -> None:
    with static_cluster(tmp_path, 1) as cluster:
        cluster.create("t", [[1], [1]])
        find = m.FindCoordinatorRequest(key="g")
        eventually(lambda: cluster.ask(1, find, 3).error_code == Error.NONE, "there is a coordinator")
        one = m.OffsetCommitRequest.OffsetCommitRequestPartition
        topic = m.OffsetCommitRequest.OffsetCommitRequestTopic
        both = topic(name="t", partitions=[one(partition_index=index, committed_offset=5) for index in (0, 1)])
        cluster.ask(1, m.OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=-1, topics=[both]), 8)
        named = m.OffsetDeleteRequest.OffsetDeleteRequestTopic(
            name="t", partitions=[m.OffsetDeleteRequest.OffsetDeleteRequestPartition(partition_index=0)]
        )
        assert cluster.ask(1, m.OffsetDeleteRequest(group_id="g", topics=[named]), 0).error_code == Error.NONE
        left = cluster.ask(1, m.OffsetFetchRequest(group_id="g", topics=None), 5)
        assert [[offset.partition_index for offset in topic.partitions] for topic in left.topics] == [[1]]
