"""Frames: four bytes of length, then a request or a response. Headers of both kinds.

`FramedProtocol` receives small frames through one buffer for each connection, and large ones directly into a buffer of
their own, which the frame then keeps: the record batches in it are never copied again. Memory for a frame is not
allocated before its bytes arrive.
"""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass

from fencepost.cluster_impl.wire.codec import Buffer, Malformed, Message, read_tags, read_uvarint
from fencepost.cluster_impl.wire.registry import Api

DEFAULT_MAX_FRAME_BYTES = 100 * 1024 * 1024

_LENGTH = struct.Struct(">i")
_REQUEST_HEADER = struct.Struct(">hhih")
_REQUEST_HEADER_WITHOUT_CLIENT_ID = struct.Struct(">hhi")
_CORRELATION = struct.Struct(">i")
_INBOX_BYTES = 64 * 1024
_FIRST_ALLOCATION = 128 * 1024
"""Bytes for the begin of a frame that does not fit into the inbox, until a connection has sent such a frame whole."""
_NEXT_ALLOCATION = 2 * 1024 * 1024
_WORTH_NOT_COPYING = 16 * 1024


class FramedProtocol(asyncio.BufferedProtocol):
    """Calls `frame_received` for each frame. Subclasses end the connection in `frame_refused`."""

    def __init__(self, max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._inbox = bytearray(_INBOX_BYTES)
        self._inbox_view = memoryview(self._inbox)
        self._begin = 0
        """The first byte in the inbox that belongs to no frame yet."""
        self._filled = 0
        """The position of the next byte: in the large frame if there is one, else in the inbox."""
        self._large: bytearray | None = None
        self._large_size = 0
        self._refused = False
        self._first_allocation = _FIRST_ALLOCATION

    def frame_received(self, frame: bytearray) -> None:
        """Receive one whole frame without its length. The callee owns it."""
        raise NotImplementedError

    def frame_refused(self, reason: str) -> None:
        """End the connection: the length of a frame is not acceptable, and nothing more is received."""
        raise NotImplementedError

    def get_buffer(self, sizehint: int) -> memoryview:
        if self._large is not None:
            return memoryview(self._large)[self._filled :]
        return self._inbox_view[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        if self._refused:
            return
        self._filled += nbytes
        if self._large is not None:
            self._continue_large(self._large)
        else:
            self._split_inbox()

    def _continue_large(self, frame: bytearray) -> None:
        if self._filled == self._large_size:
            self._large = None
            self._begin = self._filled = 0
            self._first_allocation = _NEXT_ALLOCATION
            self.frame_received(frame)
        elif self._filled == len(frame):
            self._large = _grown(frame, min(2 * len(frame), self._large_size))

    def _split_inbox(self) -> None:
        while (available := self._filled - self._begin - 4) >= 0 and not self._refused:
            (size,) = _LENGTH.unpack_from(self._inbox, self._begin)
            if not 0 <= size <= self._max_frame_bytes:
                self.stop_receiving()
                self.frame_refused(f"a frame claims {size} bytes, the limit is {self._max_frame_bytes}")
                return
            begin = self._begin + 4
            if size <= available:
                self._begin = begin + size
                self.frame_received(self._inbox[begin : begin + size])
            elif 4 + size > _INBOX_BYTES:
                frame = bytearray(min(size, self._first_allocation))
                frame[:available] = self._inbox_view[begin : self._filled]
                self._large, self._large_size, self._filled = frame, size, available
                return
            else:
                break
        self._compact()

    def _compact(self) -> None:
        left = self._filled - self._begin
        if self._begin:
            self._inbox[:left] = self._inbox[self._begin : self._filled]
            self._begin, self._filled = 0, left

    def stop_receiving(self) -> None:
        """Discard all other bytes that have arrived or will arrive."""
        self._refused = True
        self._large = None
        self._begin = self._filled = 0


def _grown(frame: bytearray, size: int) -> bytearray:
    larger = bytearray(size)
    larger[: len(frame)] = frame
    return larger


@dataclass(slots=True)
class RequestHeader:
    api_key: int
    version: int
    correlation_id: int
    client_id: str | None
    body_offset: int
    """The position of the body in the frame."""


def encode_request(
    api: Api, version: int, correlation_id: int, client_id: str | None, message: Message
) -> list[Buffer]:
    """Return a whole frame in pieces. The client id is never compact, not even in flexible headers."""
    body = message.parts(version)
    if not api.request_header_has_client_id(version):
        return framed(_REQUEST_HEADER_WITHOUT_CLIENT_ID.pack(api.key, version, correlation_id), body)
    raw_client_id = b"" if client_id is None else client_id.encode()
    length = -1 if client_id is None else len(raw_client_id)
    header = _REQUEST_HEADER.pack(api.key, version, correlation_id, length) + raw_client_id
    if api.request_is_flexible(version):
        header += b"\0"
    return framed(header, body)


def encode_response(api: Api, version: int, correlation_id: int, message: Message) -> list[Buffer]:
    """Return a whole frame in pieces."""
    header = _CORRELATION.pack(correlation_id)
    if api.response_header_is_flexible(version):
        header += b"\0"
    return framed(header, message.parts(version))


def framed(header: bytes, body: list[Buffer]) -> list[Buffer]:
    """Return header and body behind their length, in few pieces: small ones are joined, large record sets are not."""
    small: list[Buffer] = [_LENGTH.pack(len(header) + sum(map(len, body))), header]
    pieces: list[Buffer] = []
    for part in body:
        if len(part) < _WORTH_NOT_COPYING:
            small.append(part)
        else:
            pieces += (b"".join(small), part)
            small = []
    if small:
        pieces.append(b"".join(small))
    return pieces


def peek_api(frame: Buffer) -> tuple[int, int, int]:
    """Return (api key, version, correlation id), which can be read also from a request of an unknown version."""
    if len(frame) < _REQUEST_HEADER_WITHOUT_CLIENT_ID.size:
        raise Malformed(f"request header: {len(frame)} bytes are too few")
    key, version, correlation_id = _REQUEST_HEADER_WITHOUT_CLIENT_ID.unpack_from(frame)
    return key, version, correlation_id


def decode_request_header(frame: Buffer, flexible: bool, has_client_id: bool = True) -> RequestHeader:
    if not has_client_id:
        return RequestHeader(*peek_api(frame), None, _REQUEST_HEADER_WITHOUT_CLIENT_ID.size)
    try:
        key, version, correlation_id, length = _REQUEST_HEADER.unpack_from(frame)
        position = _REQUEST_HEADER.size + max(length, 0)
        if length < -1 or position > len(frame):
            raise Malformed(f"request header: the client id claims {length} bytes, the frame has {len(frame)}")
        client_id = str(frame[_REQUEST_HEADER.size : position], "utf-8") if length >= 0 else None
        if flexible:
            position = _skip_tags(frame, position)
    except (struct.error, IndexError) as error:
        raise Malformed("request header: the frame ends too early") from error
    except UnicodeDecodeError as error:
        raise Malformed(f"request header: the client id is not UTF-8: {error}") from error
    return RequestHeader(key, version, correlation_id, client_id, position)


def decode_correlation_id(frame: Buffer) -> int:
    if len(frame) < 4:
        raise Malformed(f"response header: {len(frame)} bytes are too few")
    (correlation_id,) = _CORRELATION.unpack_from(frame)
    return int(correlation_id)


def response_body_offset(frame: Buffer, flexible: bool) -> int:
    """Return the position of the body in a response."""
    try:
        return _skip_tags(frame, 4) if flexible else 4
    except IndexError as error:
        raise Malformed("response header: the frame ends too early") from error


def _skip_tags(frame: Buffer, position: int) -> int:
    count, position = read_uvarint(frame, position)
    return read_tags(frame, position, len(frame), count)[1] if count else position
