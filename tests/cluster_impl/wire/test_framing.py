"""Frames, however their bytes are split on the way, and headers."""

from __future__ import annotations

import struct
import tracemalloc
from random import Random

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Malformed
from fencepost.cluster_impl.wire.framing import (
    FramedProtocol,
    decode_request_header,
    encode_request,
    encode_response,
    peek_api,
    response_body_offset,
)
from fencepost.cluster_impl.wire.registry import KAFKA


class Collector(FramedProtocol):
    def __init__(self, max_frame_bytes: int = 100 * 1024 * 1024) -> None:
        super().__init__(max_frame_bytes)
        self.frames: list[bytearray] = []
        self.refused: list[str] = []

    def frame_received(self, frame: bytearray) -> None:
        self.frames.append(frame)

    def frame_refused(self, reason: str) -> None:
        self.refused.append(reason)

    def feed(self, data: bytes, random: Random, largest: int) -> None:
        """As an event loop does it: into the offered buffer, as much as has arrived and fits."""
        position = 0
        while position < len(data):
            buffer = self.get_buffer(-1)
            assert len(buffer) > 0
            size = min(random.randint(1, largest), len(buffer), len(data) - position)
            buffer[:size] = data[position : position + size]
            self.buffer_updated(size)
            position += size


def framed(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


@pytest.mark.parametrize("seed", range(40))
def test_frames_arrive_whole_however_their_bytes_are_split(seed: int) -> None:
    random = Random(seed)
    sizes = (0, 1, 7, 100, 65531, 65532, 65533, 65536, 131072, 5 * 1024 * 1024)
    payloads = [random.randbytes(random.choice(sizes[: random.randint(3, 10)])) for _ in range(12)]
    collector = Collector()
    largest = random.choice((10_000, 65_536, 10_000_000)) if seed % 4 else 40_000
    collector.feed(b"".join(map(framed, payloads)), random, largest)
    assert collector.frames == payloads


def test_small_frames_arrive_whole_byte_by_byte() -> None:
    payloads = [b"", b"a", b"bc" * 50]
    collector = Collector()
    collector.feed(b"".join(map(framed, payloads)), Random(1), 1)
    assert collector.frames == payloads


@pytest.mark.parametrize("size", [-1, -(2**31), 1001, 2**31 - 1])
def test_a_length_that_is_negative_or_over_the_limit_is_refused_once(size: int) -> None:
    collector = Collector(max_frame_bytes=1000)
    collector.feed(framed(b"good") + struct.pack(">i", size) + bytes(5000), Random(1), 10_000)
    assert collector.frames == [b"good"]
    assert collector.refused == [f"a frame claims {size} bytes, the limit is 1000"]


def test_a_frame_takes_memory_only_as_its_bytes_arrive() -> None:
    collector = Collector()
    tracemalloc.start()
    try:
        collector.feed(struct.pack(">i", 100_000_000) + bytes(60_000), Random(1), 10_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


def test_a_claimed_length_alone_takes_little_memory_until_the_connection_has_sent_a_large_frame() -> None:
    collector = Collector()
    collector.feed(struct.pack(">i", 100_000_000), Random(1), 10)
    assert len(collector.get_buffer(-1)) <= 128 * 1024
    proven = Collector()
    proven.feed(framed(bytes(200_000)) + struct.pack(">i", 100_000_000), Random(1), 10_000)
    assert [len(frame) for frame in proven.frames] == [200_000]
    assert len(proven.get_buffer(-1)) > 1_000_000, "what follows is not copied again and again while it grows"


def test_the_client_id_is_never_compact() -> None:
    (frame,) = encode_request(KAFKA[18], 3, 7, "me", m.ApiVersionsRequest())
    assert frame[4:] == struct.pack(">hhih", 18, 3, 7, 2) + b"me" + b"\0" + m.ApiVersionsRequest().encode(3)


@pytest.mark.parametrize("version", range(5))
def test_apiversions_responses_have_the_old_header_in_every_version(version: int) -> None:
    (frame,) = encode_response(KAFKA[18], version, 7, m.ApiVersionsResponse())
    assert frame[4:] == struct.pack(">i", 7) + m.ApiVersionsResponse().encode(version)


def test_other_flexible_responses_have_tags_in_their_header() -> None:
    (frame,) = encode_response(KAFKA[3], 9, 7, m.MetadataResponse())
    assert frame[4:9] == struct.pack(">i", 7) + b"\0"
    assert response_body_offset(memoryview(frame)[4:], flexible=True) == 5


def test_large_record_sets_are_not_copied_into_a_frame() -> None:
    records = bytes(1_000_000)
    partition = m.ProduceRequest.PartitionProduceData(records=records)
    topic = m.ProduceRequest.TopicProduceData(name="t", partition_data=[partition, partition])
    pieces = encode_request(KAFKA[0], 9, 1, "me", m.ProduceRequest(topic_data=[topic]))
    assert sum(piece is records for piece in pieces) == 2
    assert struct.unpack_from(">i", pieces[0])[0] == sum(map(len, pieces)) - 4
    assert len(pieces) == 5


def test_request_headers_are_read_with_and_without_tags() -> None:
    frame = struct.pack(">hhih", 3, 9, 5, 2) + b"me"
    tags = b"\x01\x09\x02xy"
    assert decode_request_header(frame + b"body", flexible=False).body_offset == len(frame)
    header = decode_request_header(frame + tags + b"body", flexible=True)
    assert (header.api_key, header.version, header.correlation_id, header.client_id) == (3, 9, 5, "me")
    assert header.body_offset == len(frame + tags)
    assert decode_request_header(struct.pack(">hhih", 3, 9, 5, -1), flexible=False).client_id is None


@pytest.mark.parametrize(
    "frame",
    [
        struct.pack(">hhi", 3, 9, 5),
        struct.pack(">hhih", 3, 9, 5, 4) + b"abc",
        struct.pack(">hhih", 3, 9, 5, -2),
        struct.pack(">hhih", 3, 9, 5, 1) + b"\xff\0",
        struct.pack(">hhih", 3, 9, 5, 0),
        struct.pack(">hhih", 3, 9, 5, 0) + b"\x01\x00\x7f",
    ],
    ids=["no client id", "cut client id", "negative length", "not UTF-8", "no tags", "tag too long"],
)
def test_damaged_request_headers_are_malformed(frame: bytes) -> None:
    with pytest.raises(Malformed, match=r"^request header|claims"):
        decode_request_header(frame, flexible=True)


def test_a_frame_without_room_for_a_header_is_malformed() -> None:
    with pytest.raises(Malformed, match="7 bytes are too few"):
        peek_api(bytes(7))
