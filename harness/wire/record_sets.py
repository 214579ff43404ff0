"""Records as Produce carries them: a set of one record, without a key, of no producer."""

from __future__ import annotations

import io
import struct
import zlib
from datetime import UTC, datetime

from kio.records.schema import NewRecordBatch, Record
from kio.records.writers import write_batch
from kio.static.primitive import TZAwareMicros, i8, i16, i32, i64


def batch(value: bytes) -> bytes:
    """Return a batch (magic 2) of one record."""
    record = Record(
        attributes=i8(0),
        timestamp=TZAwareMicros.parse(datetime.now(UTC).replace(microsecond=0)),
        offset=i64(0),
        key=None,
        value=value,
        headers=(),
    )
    new = NewRecordBatch(
        producer_id=i64(-1), producer_epoch=i16(-1), base_sequence=i32(-1), records=(record,), attributes=i16(0)
    )
    out = io.BytesIO()
    write_batch(out, new)
    return out.getvalue()


def message_set(value: bytes) -> bytes:
    """Return a set of one message of magic 1, without a timestamp."""
    rest = struct.pack(">bbqii", 1, 0, -1, -1, len(value)) + value
    message = struct.pack(">I", zlib.crc32(rest)) + rest
    return struct.pack(">qi", 0, len(message)) + message
