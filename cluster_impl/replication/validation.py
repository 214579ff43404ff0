"""The checks of produced records before a leader appends them. Only compacted topics need a look into records."""

from __future__ import annotations

import time

from fencepost.cluster_impl.storage.log import InvalidBatch
from fencepost.cluster_impl.wire.batches import Batch, parse, split, stamp_append_time
from fencepost.cluster_impl.wire.codec import Buffer, Malformed
from fencepost.cluster_impl.wire.errors import Error

_MAGIC_OFFSET = 16
_MAGIC = 2


class PartitionError(Exception):
    """A refused request for one partition: Kafka's error code, and a message for the client if there is one."""

    def __init__(self, error: Error, message: str | None = None) -> None:
        super().__init__(message or error.name)
        self.error = error
        self.message = message


def check_produced(records: Buffer | None, max_bytes: int) -> Batch:
    """Return the one batch of a produce request after checks of its header; the log verifies the rest.

    Raises PartitionError.
    """
    if not records:
        raise PartitionError(Error.INVALID_RECORD, "there is no record batch")
    if len(records) > max_bytes:
        raise PartitionError(Error.MESSAGE_TOO_LARGE, f"the batch has {len(records)} bytes, the limit is {max_bytes}")
    if len(records) > _MAGIC_OFFSET and records[_MAGIC_OFFSET] != _MAGIC:
        raise PartitionError(Error.UNSUPPORTED_FOR_MESSAGE_FORMAT, "only record batches (magic 2) are stored")
    try:
        batches = split(records)
    except Malformed as error:
        raise PartitionError(Error.CORRUPT_MESSAGE, str(error)) from error
    if len(batches) != 1:
        raise PartitionError(
            Error.INVALID_RECORD, f"one batch for each partition is allowed, and the request has {len(batches)}"
        )
    batch = batches[0]
    if batch.is_control or batch.is_transactional:
        raise PartitionError(Error.INVALID_RECORD, "clients may send neither control batches nor transactions")
    return batch


def check_keys(batch: Batch) -> None:
    """Refuse records without a key, of which compaction could remove none. Compressed ones are not looked into.

    Raises PartitionError.
    """
    try:
        keyless = not batch.is_compressed and any(record.key is None for record in parse(batch))
    except Malformed as error:
        raise PartitionError(Error.CORRUPT_MESSAGE, str(error)) from error
    if keyless:
        raise PartitionError(Error.INVALID_RECORD, "each record of a compacted topic needs a key")


def stamped(batch: Batch) -> tuple[Batch, int]:
    """Return a client's batch with the time of this moment, and the time in milliseconds. Raises InvalidBatch."""
    if not batch.verify_crc():  # A new checksum would make damaged records whole.
        raise InvalidBatch(Error.CORRUPT_MESSAGE, f"the checksum of {batch} is wrong")
    now_ms = time.time_ns() // 1_000_000
    return Batch(stamp_append_time(batch.view, now_ms)), now_ms
