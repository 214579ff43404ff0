"""The newest version of a request that node and harness have."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from kio.serial import entity_reader, entity_writer

from fencepost.harness.checkers.segments import records, scan
from fencepost.harness.clients.raw import NotOffered
from fencepost.harness.wire.entities import entity
from fencepost.harness.wire.record_sets import message_set
from fencepost.harness.wire.versions import (
    ALTER_PARTITION,
    CREATE_TOPICS,
    DELETE_TOPICS,
    DESCRIBE_QUORUM,
    FETCH,
    METADATA,
    PRODUCE,
    Api,
    Offered,
)

OLD: Offered = {3: (0, 2), 1: (0, 3), 19: (0, 1)}
"""Offered by brokers of 0.10.2."""
KRAFT_3_3: Offered = {55: (0, 1), 56: (0, 2)}
"""Offered by controllers of 3.3."""


@pytest.mark.parametrize(
    ("api", "offered", "version"),
    [
        (METADATA, OLD, 2),
        (METADATA, {3: (0, 11)}, 11),
        (METADATA, {3: (0, 13)}, 12),
        (DESCRIBE_QUORUM, {55: (0, 0)}, 0),
        (DESCRIBE_QUORUM, {55: (0, 2)}, 1),
        (ALTER_PARTITION, KRAFT_3_3, 2),
        (FETCH.between(13, 15), {1: (4, 17)}, 15),
        (FETCH.between(4, 12), {1: (4, 17)}, 12),
    ],
)
def test_the_newest_version_of_both_sides_is_taken(api: Api, offered: Offered, version: int) -> None:
    assert api.newest(offered, "node-4").__name__ == f"kio.schema.{api.schema}.v{version}"


@pytest.mark.parametrize(
    ("api", "offered", "reason"),
    [
        (FETCH.between(9, 12), OLD, "node-4 has Fetch in versions 0 to 3 only; versions 9 to 12 are needed"),
        (DESCRIBE_QUORUM, OLD, "node-4 has no request DescribeQuorum; versions 0 to 1 are needed"),
        (FETCH.between(15, 15), {1: (0, 13)}, "node-4 has Fetch in versions 0 to 13 only; version 15 is needed"),
        (CREATE_TOPICS, {19: (9, 9)}, "node-4 has CreateTopics in version 9 only; versions 1 to 7 are needed"),
    ],
)
def test_without_a_common_version_it_is_said_what_is_missing(api: Api, offered: Offered, reason: str) -> None:
    with pytest.raises(NotOffered) as raised:
        api.newest(offered, "node-4")
    assert str(raised.value) == reason


def test_a_field_that_a_version_lacks_is_left_out() -> None:
    values = {"partition_index": 0, "timestamp": -1, "current_leader_epoch": 3}
    api = Api(2, "ListOffsets", "list_offsets", 1, 7)
    old, new = (api.newest({2: (0, version)}, "").request.ListOffsetsPartition for version in (1, 7))
    assert not hasattr(entity(old, values, whole=False), "current_leader_epoch")
    assert entity(new, values).current_leader_epoch == 3
    with pytest.raises(TypeError, match="current_leader_epoch"):
        entity(old, values)


@pytest.mark.parametrize(
    ("api", "version"), [(PRODUCE, 2), (FETCH, 3), (CREATE_TOPICS, 1), (DELETE_TOPICS, 0)], ids=lambda each: str(each)
)
def test_a_request_that_the_library_dropped_is_the_younger_one_without_its_new_fields(api: Api, version: int) -> None:
    old, young = (api.newest({api.key: (0, each)}, "") for each in (version, version + 1))
    for side in ("Request", "Response"):
        ours, theirs = (getattr(module, f"{api.name}{side}") for module in (old, young))
        assert (ours.__api_key__, ours.__version__) == (api.key, version)
        assert {field.name for field in fields(ours)} <= {field.name for field in fields(theirs)}
        assert callable(entity_writer(ours))
        assert callable(entity_reader(ours))


def test_a_single_message_is_read_as_it_was_written(tmp_path: Path) -> None:
    segment = tmp_path / "00000000000000000000.log"
    segment.write_bytes(message_set(b"m1"))
    found = scan(segment)
    assert [records(batch) for batch in found.batches] == [[(0, b"m1")]]
    assert found.damage is None
