"""The tail of the metadata log shows what is committed, and nothing that another leader could still replace."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import create_autospec

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.fetch.v12 import response
from kio.schema.fetch_snapshot.v0 import request as snapshot_request
from kio.schema.fetch_snapshot.v0 import response as snapshot_response
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import Records, i32, i32Timedelta, i64

from fencepost.cluster_impl.wire.batches import build
from fencepost.harness.clients.metadata.fetching import NotLeader, Tail
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.plan.dialect import Dialect

TOPIC = TopicName(Dialect.KIP_631.metadata_topic)
FIVE = build([(None, b"\x03\x00\x02" + 3 * b"\x00\x01x", 0)] * 5, base_offset=0, leader_epoch=3)
"""Records about configuration: they move the offset and nothing else."""


def leader(records: bytes, committed: int, diverging: int = -1) -> RawConnection:
    partition = response.PartitionData(
        partition_index=i32(0),
        error_code=ErrorCode.none,
        high_watermark=i64(committed),
        diverging_epoch=response.EpochEndOffset(epoch=i32(1), end_offset=i64(diverging)),
        aborted_transactions=None,
        records=Records(records),
    )
    topic = response.FetchableTopicResponse(topic=TOPIC, partitions=(partition,))
    answer = response.FetchResponse(
        throttle_time=i32Timedelta.parse(timedelta()), error_code=ErrorCode.none, responses=(topic,)
    )
    connection = create_autospec(RawConnection, instance=True)
    connection.call.return_value = answer
    assert isinstance(connection, RawConnection)
    return connection


def test_every_committed_record_moves_the_image_by_one() -> None:
    tail = Tail(Dialect.KIP_631)
    assert [image.offset for image in tail.read(leader(FIVE, committed=5), 3)] == [0, 1, 2, 3, 4]
    assert tail.epoch == 3


def test_what_is_not_committed_is_left_for_later() -> None:
    tail = Tail(Dialect.KIP_631)
    assert [image.offset for image in tail.read(leader(FIVE, committed=2), 3)] == [0, 1]
    assert [image.offset for image in tail.read(leader(FIVE, committed=5), 3)] == [2, 3, 4]


def test_a_log_that_diverges_from_what_was_read_is_not_followed() -> None:
    with pytest.raises(NotLeader, match="diverges"):
        list(Tail(Dialect.KIP_631).read(leader(b"", committed=5, diverging=2), 3))


BROKER = b"\x00\x01" + b"\x00\x00\x00\x05" + b"\x00" * 7 + b"\x07" + b"\x01\x01\x00\x00"
"""A RegisterBroker record of the draft, flexible, for broker 5 at epoch 7."""


def with_snapshot(content: bytes, end: int, part: int) -> RawConnection:
    """A leader with a snapshot that ends at an offset, and gives so many bytes of it at a time."""

    def answer(request: object, *_: object) -> object:
        if not isinstance(request, snapshot_request.FetchSnapshotRequest):
            partition = response.PartitionData(
                partition_index=i32(0),
                error_code=ErrorCode.none,
                high_watermark=i64(end + 5),
                snapshot_id=response.SnapshotId(end_offset=i64(end), epoch=i32(3)),
                aborted_transactions=None,
                records=None,
            )
            topic = response.FetchableTopicResponse(topic=TOPIC, partitions=(partition,))
            return response.FetchResponse(
                throttle_time=i32Timedelta.parse(timedelta()), error_code=ErrorCode.none, responses=(topic,)
            )
        asked = request.topics[0].partitions[0]
        given = snapshot_response.PartitionSnapshot(
            index=i32(0),
            error_code=ErrorCode.none,
            snapshot_id=snapshot_response.SnapshotId(end_offset=i64(end), epoch=i32(3)),
            current_leader=snapshot_response.LeaderIdAndEpoch(leader_id=BrokerId(1), leader_epoch=i32(3)),
            size=i64(len(content)),
            position=asked.position,
            unaligned_records=Records(content[asked.position : asked.position + part]),
        )
        return snapshot_response.FetchSnapshotResponse(
            throttle_time=i32Timedelta.parse(timedelta()),
            error_code=ErrorCode.none,
            topics=(snapshot_response.TopicSnapshot(name=TOPIC, partitions=(given,)),),
        )

    connection = create_autospec(RawConnection, instance=True)
    connection.call.side_effect = answer
    assert isinstance(connection, RawConnection)
    return connection


def test_a_reader_that_is_behind_goes_on_from_the_end_of_a_snapshot_fetched_in_parts() -> None:
    tail = Tail(Dialect.KIP_631)
    content = build([(None, BROKER, 0)], base_offset=0, leader_epoch=3)
    images = list(tail.read(with_snapshot(content, end=40, part=30), 3))
    assert [(image.offset, image.brokers[5].epoch, image.brokers[5].offset) for image in images] == [(39, 7, 39)]
    assert tail.epoch == 3


def test_a_broker_that_the_snapshot_lacks_is_gone() -> None:
    tail = Tail(Dialect.KIP_631)
    list(tail.read(leader(build([(None, BROKER, 0)], base_offset=0, leader_epoch=3), committed=1), 3))
    (image,) = tail.read(with_snapshot(FIVE, end=40, part=1000), 3)
    assert (image.brokers[5].state, image.brokers[5].epoch) == ("gone", 7)


def test_a_snapshot_of_which_no_more_bytes_come_is_not_loaded() -> None:
    tail = Tail(Dialect.KIP_631)
    with pytest.raises(NotLeader, match="it ends after 0 of"):
        list(tail.read(with_snapshot(FIVE, end=40, part=0), 3))
    assert tail.image.offset == -1
