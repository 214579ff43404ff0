"""Follows the metadata log at one controller, as an observer: committed records only, nothing is acknowledged."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from kio.records.readers import read_batch
from kio.records.schema import RecordBatch
from kio.schema.errors import ErrorCode
from kio.schema.fetch.v12.request import FetchPartition, FetchRequest, FetchTopic
from kio.schema.fetch.v12.response import FetchResponse
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i8, i32, i32Timedelta, i64

from harness.clients.metadata.image import Image
from harness.clients.metadata.records import decode_draft, decode_kraft
from harness.clients.raw import RawConnection
from harness.targets.target import Dialect

TOPICS = {Dialect.KIP_631: "__kafka_metadata", Dialect.KRAFT: "__cluster_metadata"}
DECODERS = {Dialect.KIP_631: decode_draft, Dialect.KRAFT: decode_kraft}
CONTROL_BATCH = 0x20
HEADER = 12
"""Bytes of a batch before those that its length counts."""
OBSERVER = BrokerId(-1)
POLL_MS = 100
"""How long the controller may hold an answer back until there is something new."""


class NotLeader(Exception):
    """This controller does not lead the metadata quorum, or cannot say."""


def read_on(connection: RawConnection, image: Image, dialect: Dialect) -> Iterator[Image]:
    """One fetch from behind `image`; each image is one record further. NotLeader, or `raw.NoAnswer`."""
    partition = FetchPartition(partition=i32(0), fetch_offset=i64(image.offset + 1), partition_max_bytes=i32(1 << 20))
    request = FetchRequest(
        replica_id=OBSERVER,
        max_wait=i32Timedelta.parse(timedelta(milliseconds=POLL_MS)),
        min_bytes=i32(1),
        max_bytes=i32(1 << 20),
        isolation_level=i8(0),
        topics=(FetchTopic(topic=TopicName(TOPICS[dialect]), partitions=(partition,)),),
        forgotten_topics_data=(),
    )
    answer = connection.call(request, FetchResponse)
    if answer.error_code is not ErrorCode.none or not answer.responses:
        raise NotLeader(answer.error_code.name)
    found = answer.responses[0].partitions[0]
    if found.error_code is not ErrorCode.none:
        raise NotLeader(found.error_code.name)
    yield from _replay(image, found.records or b"", dialect)


def _replay(image: Image, buffer: bytes, dialect: Dialect) -> Iterator[Image]:
    decode = DECODERS[dialect]
    for batch in _whole_batches(buffer):
        for record in batch.records:
            if record.offset <= image.offset:
                continue
            control = batch.attributes & CONTROL_BATCH
            image = image.apply(record.offset, None if control or record.value is None else decode(record.value))
            yield image


def _whole_batches(buffer: bytes) -> Iterator[RecordBatch]:
    """A fetch may end in the middle of a batch, which comes again whole."""
    at = 0
    while at + HEADER <= len(buffer):
        size = HEADER + int.from_bytes(buffer[at + 8 : at + HEADER], "big")
        if at + size > len(buffer):
            return
        yield read_batch(buffer, at)[0]
        at += size
