"""Messages that kio does not have are made from their definitions."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

from fencepost.harness.wire.entities import entity, own_module

EPOCHS = {"controller_id": 4, "controller_epoch": 5, "broker_epoch": 14}
PARTITION = {
    "partition_index": 0,
    "controller_epoch": 5,
    "leader": 4,
    "leader_epoch": 3,
    "isr": [4, 5],
    "partition_epoch": 7,
    "replicas": [4, 5],
}
LEADER_AND_ISR = {
    **EPOCHS,
    "type": 1,
    "topic_states": [{"topic_name": "t", "topic_id": UUID(int=7), "partition_states": [PARTITION]}],
    "live_leaders": [{"broker_id": 4, "host_name": "h", "port": 9090}],
}
UPDATE_METADATA = {**EPOCHS, "topic_states": [], "live_brokers": [{"id": 4, "endpoints": [], "broker_epoch": 9}]}


def written(message: Any) -> str:
    out = io.BytesIO()
    entity_writer(type(message))(out, message)
    return out.getvalue().hex()


@pytest.mark.parametrize(
    ("key", "version", "name", "body", "expected"),
    [
        (
            4,
            5,
            "LeaderAndIsrRequest",
            LEADER_AND_ISR,
            "00000004" "00000005" "000000000000000e" "01"
            "02" "0274" "00000000000000000000000000000007"
            "02" "00000000" "00000005" "00000004" "00000003" "030000000400000005" "00000007" "030000000400000005"
            "01" "01" "00" "00" "00"
            "02" "00000004" "0268" "00002382" "00" "00",
        ),
        (
            6,
            7,
            "UpdateMetadataRequest",
            UPDATE_METADATA,
            "00000004" "00000005" "000000000000000e" "01" "02" "00000004" "01" "00" "01e80708" "0000000000000009" "00",
        ),
    ],
)  # fmt: skip
def test_a_request_has_the_bytes_of_its_definition(
    key: int, version: int, name: str, body: dict[str, object], expected: str
) -> None:
    assert written(entity(getattr(own_module(key, version), name), body)) == expected


def test_an_answer_is_read_and_its_bytes_come_back() -> None:
    encoded = bytes.fromhex("0000000300000001000174000000010000000100060000000000000009000000026d31")
    answer, size = entity_reader(own_module(1, 3).FetchResponse)(encoded, 0)
    partition = answer.responses[0].partitions[0]
    assert size == len(encoded)
    assert (answer.throttle_time, partition.error_code) == (timedelta(milliseconds=3), ErrorCode(6))
    assert (partition.high_watermark, partition.records) == (9, b"m1")
    assert written(answer) == encoded.hex()


def test_a_misspelled_field_is_not_left_out() -> None:
    body = {"broker_id": 4, "broker_epoc": 3}
    with pytest.raises(TypeError, match="broker_epoc"):
        entity(own_module(7, 3).ControlledShutdownRequest, body)
