"""Registries, metadata records and name tables."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Malformed
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.records import RECORD_TYPES, decode_record, encode_record
from fencepost.cluster_impl.wire.registry import (
    KAFKA,
    LEADER_DRIVEN_BROKER,
    QUORUM_CLIENTS,
    QUORUM_CONTROLLER,
    ZK_BROKER,
)
from fencepost.cluster_impl.wire.schema import Definition
from tests.cluster_impl.wire.random_messages import random_message


def test_the_advertised_ranges_are_coherent_for_real_clients() -> None:
    ranges = {api.name: (api.min_version, api.max_version) for api in KAFKA.values()}
    assert ranges == {
        "ApiVersions": (0, 4),
        "Metadata": (0, 12),
        "Produce": (0, 11),
        "Fetch": (4, 17),
        "ListOffsets": (1, 9),
        "InitProducerId": (0, 5),
        "FindCoordinator": (0, 6),
        "JoinGroup": (0, 9),
        "SyncGroup": (0, 5),
        "Heartbeat": (0, 4),
        "LeaveGroup": (0, 5),
        "OffsetCommit": (2, 9),
        "OffsetFetch": (1, 9),
        "OffsetForLeaderEpoch": (2, 4),
        "CreateTopics": (2, 7),
        "DeleteTopics": (1, 6),
        "CreatePartitions": (0, 3),
        "ElectLeaders": (0, 2),
        "AlterPartitionReassignments": (0, 1),
        "ListPartitionReassignments": (0, 0),
        "DeleteRecords": (0, 2),
        "DescribeLogDirs": (1, 4),
        "DeleteGroups": (0, 2),
        "OffsetDelete": (0, 0),
        "DescribeCluster": (0, 2),
        "DescribeConfigs": (1, 4),
        "AlterConfigs": (0, 2),
        "IncrementalAlterConfigs": (0, 1),
        "DescribeAcls": (1, 3),
        "CreateAcls": (1, 3),
        "DeleteAcls": (1, 3),
        "DescribeGroups": (0, 5),
        "ListGroups": (0, 4),
        "SaslHandshake": (0, 1),
        "SaslAuthenticate": (0, 2),
    }


@pytest.mark.requirement("K631-09")
def test_drafts_live_on_controllers_only() -> None:
    assert not {50, 51, 52, 53, 54, 56} & set(KAFKA)
    assert {50, 51, 56} <= set(QUORUM_CONTROLLER)
    assert QUORUM_CONTROLLER[50].request is m.BrokerHeartbeatRequest


def test_what_controllers_in_zookeeper_say_lives_between_nodes_only() -> None:
    between_nodes = {4, 5, 6, 7, 1343, 1344, 1589}
    assert not between_nodes & set(KAFKA)
    assert set(ZK_BROKER) == between_nodes | set(KAFKA)


def test_brokers_of_every_design_offer_partitions_elections_and_reassignments() -> None:
    administration = {37: (0, 3), 43: (0, 2), 45: (0, 1), 46: (0, 0)}
    for registry in (KAFKA, QUORUM_CLIENTS, ZK_BROKER, LEADER_DRIVEN_BROKER):
        served = {key: (api.min_version, api.max_version) for key, api in registry.items() if key in administration}
        assert served == administration


@pytest.mark.requirement("K631-19")
def test_metadata_records_are_type_and_version_and_payload() -> None:
    assert encode_record(m.DeleteBrokerRecord(id=5)) == b"\x06\x01\x00\x00\x00\x05\x00"
    assert encode_record(m.TopicRecord(name="t", deleting=True)) == b"\x01\x01\x02t" + bytes(16) + b"\x01\x00"


@pytest.mark.requirement("D631-28")
def test_a_metadata_record_as_drafted_has_version_0_and_is_read() -> None:
    drafted = b"\x01\x00\x00\x01t" + bytes(16) + b"\x01"
    assert decode_record(drafted) == m.TopicRecord(name="t", deleting=True)


@pytest.mark.parametrize("definition", [d for d in m.DEFINITIONS if d.kind == "metadata"], ids=lambda d: d.name)
@pytest.mark.requirement("K631-61", "K631-62", "K631-63", "K631-64", "K631-65", "K631-66")
def test_every_metadata_record_round_trips(definition: Definition) -> None:
    random = Random(definition.name)
    for _ in range(20):
        record = random_message(definition, 1, random)
        assert decode_record(encode_record(record)) == record
    assert definition.api_key in RECORD_TYPES


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "ends within its type and version"),
        (b"\x06", "ends within its type and version"),
        (b"\x7f\x00", "type 127 is unknown"),
        (b"\x06\x02\0\0\0\0", "DeleteBrokerRecord has no version 2"),
        (b"\x06\x00\0\0", "DeleteBrokerRecord v0 at Id"),
    ],
)
def test_a_damaged_metadata_record_is_malformed(value: bytes, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        decode_record(value)


def test_a_name_table_renames_its_names_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("# peers of node-1\n127.20.0.2 node-2 second  # both names\n\n127.20.0.3 node-3\n")
    hosts = Hosts.load(path)
    assert [hosts.address(name) for name in ("node-2", "second", "node-3")] == [
        "127.20.0.2",
        "127.20.0.2",
        "127.20.0.3",
    ]
    assert hosts.address("example.org") == "example.org"
    assert Hosts.load(None).address("node-2") == "node-2"


def test_an_address_without_a_name_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("127.20.0.2 node-2\n127.20.0.3\n")
    with pytest.raises(ValueError, match=r"hosts, line 2: the address 127\.20\.0\.3 has no name"):
        Hosts.load(path)
