"""Batches for the tests of storage."""

from __future__ import annotations

from random import Random
from typing import Any

from fencepost.cluster_impl.wire import batches


def batch(count: int = 1, *, size: int = 10, timestamp: int = 1000, **fields: Any) -> bytearray:
    """A batch of `count` records of `size` bytes, with timestamps that grow by one."""
    records = [(None, bytes(size), timestamp + number) for number in range(count)]
    return bytearray(batches.build(records, **fields))


def random_batch(random: Random) -> bytearray:
    return batch(random.randint(1, 5), size=random.choice((0, 10, 300, 3000)), timestamp=random.randrange(10**6))
