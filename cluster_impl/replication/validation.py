"""What a leader requires of produced records before they are appended. The records themselves are never parsed."""

from __future__ import annotations

from cluster_impl.wire.batches import Batch, split
from cluster_impl.wire.codec import Buffer, Malformed
from cluster_impl.wire.errors import Error

_MAGIC_OFFSET = 16
_MAGIC = 2


class Refused(Exception):
    """A request about one partition that was not done; `error` is the answer."""

    def __init__(self, error: Error, why: str | None = None) -> None:
        super().__init__(why or error.name)
        self.error = error
        self.why = why


def check_produced(records: Buffer | None, max_bytes: int) -> Batch:
    """The one batch of a produce request, as far as its header goes; the log verifies the rest. Raises Refused."""
    if not records:
        raise Refused(Error.INVALID_RECORD, "there is no record batch")
    if len(records) > max_bytes:
        raise Refused(Error.MESSAGE_TOO_LARGE, f"the batch has {len(records)} bytes, the limit is {max_bytes}")
    if len(records) > _MAGIC_OFFSET and records[_MAGIC_OFFSET] != _MAGIC:
        raise Refused(Error.UNSUPPORTED_FOR_MESSAGE_FORMAT, "only record batches (magic 2) are stored")
    try:
        batches = split(records)
    except Malformed as error:
        raise Refused(Error.CORRUPT_MESSAGE, str(error)) from error
    if len(batches) != 1:
        raise Refused(Error.INVALID_RECORD, f"one batch for each partition is allowed, here are {len(batches)}")
    batch = batches[0]
    if batch.is_control or batch.is_transactional:
        raise Refused(Error.INVALID_RECORD, "neither control batches nor transactions are taken from clients")
    return batch
