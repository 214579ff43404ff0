"""The tail of the metadata log shows what is committed, and nothing that another leader could still replace."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import create_autospec

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.fetch.v12 import response
from kio.schema.types import TopicName
from kio.static.primitive import Records, i32, i32Timedelta, i64

from fencepost.cluster_impl.wire.batches import build
from fencepost.harness.clients.metadata.tail import DRAFT_TOPIC, NotLeader, Tail
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.plan.dialect import Dialect

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
    topic = response.FetchableTopicResponse(topic=TopicName(DRAFT_TOPIC), partitions=(partition,))
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
