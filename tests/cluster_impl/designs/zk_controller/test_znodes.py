"""The literals are what Apache Kafka 3.9.1 writes, seen with kazoo."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper import znodes as shared
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.znodes import (
    BrokerEndpoint,
    BrokerInfo,
    LeaderAndIsr,
    LogDirEvent,
    PartitionReplicas,
    TopicInfo,
)
from fencepost.cluster_impl.replication.control_plane import TopicPartition

pytestmark = pytest.mark.requirement("DINT-19")

BROKER = (
    b'{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
    b'"endpoints":["PLAINTEXT://127.0.0.1:9092"],"jmx_port":-1,"port":9092,"host":"127.0.0.1","version":5,'
    b'"timestamp":"1795281936626"}'
)
TOPIC = (
    b'{"partitions":{"0":[2,1],"1":[1,2]},"topic_id":"2zmF9t45TkSOEq7bjSrUcA","adding_replicas":{},'
    b'"removing_replicas":{"0":[1]},"version":3}'
)
TOPIC_ID = UUID("db3985f6-de39-4e44-8e12-aedb8d2ad470")
STATE = b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1,2]}'
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def same_json(left: bytes, right: bytes) -> bool:
    return bool(json.loads(left) == json.loads(right))


def test_the_controller_is_written_and_read_as_kafka_does() -> None:
    data = b'{"version":2,"brokerid":2,"timestamp":"1795281936483","kraftControllerEpoch":-1}'
    assert same_json(znodes.write_controller(2, 1795281936483), data)
    assert znodes.read_controller(data) == 2


def test_the_controller_epoch_and_the_cluster_id_are_written_and_read_as_kafka_does() -> None:
    assert znodes.write_controller_epoch(12) == b"12"
    assert znodes.read_controller_epoch(b"12") == 12
    data = b'{"version":"1","id":"kLzNHycRTra-dYloK2h5rQ"}'
    assert same_json(shared.write_cluster_id("kLzNHycRTra-dYloK2h5rQ"), data)
    assert shared.read_cluster_id(data) == "kLzNHycRTra-dYloK2h5rQ"


@pytest.mark.requirement("INT-52")
def test_a_registration_is_written_and_read_as_kafka_does() -> None:
    info = BrokerInfo(5, (BrokerEndpoint("PLAINTEXT", "127.0.0.1", 9092, "PLAINTEXT"),), 1795281936626)
    assert znodes.read_broker(1, BROKER) == info
    written = json.loads(znodes.write_broker(info))
    assert written == {key: value for key, value in json.loads(BROKER).items() if key != "features"}


@pytest.mark.requirement("K343-60")
def test_versions_4_and_5_of_a_registration_have_the_same_members() -> None:
    at = (BrokerEndpoint("A", "h", 1, "PLAINTEXT"), BrokerEndpoint("B", "::1", 2, "SASL_PLAINTEXT"))
    four, five = (json.loads(znodes.write_broker(BrokerInfo(version, at, 7, "r1"))) for version in (4, 5))
    assert four.keys() == five.keys()
    assert znodes.read_broker(1, json.dumps(four).encode()) == BrokerInfo(4, at, 7, "r1")


@pytest.mark.requirement("K343-61")
@pytest.mark.parametrize(
    ("data", "listener", "rack"),
    [
        (b'{"jmx_port":-1,"timestamp":"1460677527837","host":"10.1.1.1","version":1,"port":9002}', "PLAINTEXT", None),
        (b'{"version":2,"host":"h","port":1,"timestamp":"1","endpoints":["SSL://10.1.1.1:9002"]}', "SSL", None),
        (b'{"version":3,"timestamp":"1","endpoints":["SSL://10.1.1.1:9002"],"rack":"r1"}', "SSL", "r1"),
    ],
)
def test_registrations_before_version_4_are_read_as_older_kafka_wrote_them(
    data: bytes, listener: str, rack: str | None
) -> None:
    info = znodes.read_broker(1, data)
    assert info.endpoints == (BrokerEndpoint(listener, "10.1.1.1", 9002, listener),)
    assert info.rack == rack
    assert info.version < 4


def test_a_topic_is_written_and_read_as_kafka_does() -> None:
    info = TopicInfo(TOPIC_ID, {0: PartitionReplicas((2, 1), removing=(1,)), 1: PartitionReplicas((1, 2))})
    assert znodes.read_topic("t", TOPIC) == info
    assert same_json(znodes.write_topic(info), TOPIC)


def test_a_topic_of_old_software_has_no_id_and_no_reassignment() -> None:
    assert znodes.read_topic("t", b'{"version":1,"partitions":{"0":[1]}}') == TopicInfo(
        None, {0: PartitionReplicas((1,))}
    )


def test_a_state_is_written_and_read_as_kafka_does() -> None:
    state = LeaderAndIsr(leader=1, leader_epoch=0, isr=(1, 2), controller_epoch=1, version=4)
    assert znodes.write_state(state) == STATE
    assert znodes.read_state(T0, STATE, 4) == state


def test_what_is_asked_for_under_admin_is_written_and_read_as_kafka_does() -> None:
    reassignment = b'{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2]}]}'
    assert znodes.read_reassignments(reassignment) == {T0: (2,)}
    assert same_json(znodes.write_reassignments({T0: [2]}), reassignment)
    election = b'{"version":1,"partitions":[{"topic":"t","partition":1}]}'
    assert znodes.read_partitions(znodes.PREFERRED_REPLICA_ELECTION, election) == [T1]
    assert same_json(znodes.write_partitions([T1]), election)


def test_notifications_settings_and_producer_ids_are_written_and_read_as_kafka_does() -> None:
    event = b'{"version":1,"broker":3,"event":1}'
    assert znodes.read_log_dir_events("/x", event) == [LogDirEvent(3)]
    assert same_json(znodes.write_log_dir_event(LogDirEvent(3)), event)
    config = b'{"version":1,"config":{"min.insync.replicas":"1"}}'
    assert config_znodes.read_topic_config("t", config) == {"min.insync.replicas": "1"}
    assert same_json(config_znodes.write_config({"min.insync.replicas": "1"}), config)
    block = b'{"version":1,"broker":1,"block_start":"0","block_end":"999"}'
    assert shared.read_producer_id_block(block) == shared.ProducerIdBlock(1, 0, 999)
    assert same_json(shared.write_producer_id_block(shared.ProducerIdBlock(1, 0, 999)), block)


def test_paths_are_kafkas() -> None:
    assert znodes.broker(1) == "/brokers/ids/1"
    assert znodes.topic("t") == "/brokers/topics/t"
    assert znodes.state(T1) == "/brokers/topics/t/partitions/1/state"
    assert config_znodes.topic_config("t") == "/config/topics/t"
    assert znodes.topic_to_delete("t") == "/admin/delete_topics/t"


def test_a_path_says_what_it_belongs_to() -> None:
    assert znodes.partition_of_state("/brokers/topics/t/partitions/1/state") == T1
    assert znodes.partition_of_state("/brokers/topics/t") is None
    assert znodes.topic_of("/brokers/topics/t") == "t"
    assert znodes.topic_of("/brokers/topics") is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it holds no JSON"),
        (b"[]", "it holds no JSON object"),
        (b'{"version":2}', "its version is 2, and only 1 is known here"),
        (b'{"version":"one"}', "its member version is 'one', not a whole number"),
        (b'{"version":1,"leader":1,"leader_epoch":0,"controller_epoch":1}', "the member isr is missing"),
        (b'{"version":1,"leader":true,"leader_epoch":0,"isr":[]}', "its member leader is True, not a whole number"),
        (
            b'{"version":1,"leader":1,"leader_epoch":0,"isr":["1"],"controller_epoch":1}',
            "its member isr is ['1'], not a list of whole numbers",
        ),
    ],
)
def test_what_is_no_state_is_refused_with_a_message(data: bytes, message: str) -> None:
    with pytest.raises(MalformedZnode) as refusal:
        znodes.read_state(T0, data, 0)
    assert message in str(refusal.value)
    assert str(refusal.value).startswith("/brokers/topics/t/partitions/0/state cannot be read")


@pytest.mark.parametrize(
    "data",
    [
        b'{"version":3,"partitions":[]}',
        b'{"version":3,"partitions":{"x":[1]}}',
        b'{"version":3,"partitions":{"0":1}}',
        b'{"version":3,"partitions":{"0":[]}}',
        b'{"version":3,"partitions":{"0":[1,1]}}',
        b'{"version":3,"partitions":{},"topic_id":"short"}',
        b'{"version":9,"partitions":{}}',
    ],
)
def test_what_is_no_topic_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedZnode):
        znodes.read_topic("t", data)


@pytest.mark.parametrize("endpoint", ["host:1", "A://host", "A://host:x", "B://host:1"])
def test_what_is_no_endpoint_is_refused(endpoint: str) -> None:
    data = {"version": 5, "endpoints": [endpoint], "listener_security_protocol_map": {"A": "PLAINTEXT"}}
    with pytest.raises(MalformedZnode):
        znodes.read_broker(1, json.dumps(data).encode())


def test_a_reassignment_of_a_partition_says_where_it_comes_from_and_goes_to() -> None:
    moving = PartitionReplicas((4, 2, 1), adding=(4,), removing=(1,))
    assert (moving.target, moving.origin, moving.is_reassigned) == ((4, 2), (2, 1), True)
    assert not PartitionReplicas((1, 2)).is_reassigned
