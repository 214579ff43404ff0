"""A log through any history of leading, following, truncation and restart, against a list of batches."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fencepost.cluster_impl.storage.log import Log
from fencepost.cluster_impl.storage.recent import Memory
from fencepost.cluster_impl.wire import batches
from tests.cluster_impl.storage.records import random_batch

ALL = 1 << 60


class History:
    """A log, and beside it the batches that it should hold."""

    def __init__(self, directory: Path, random: Random) -> None:
        self.random = random
        self.directory = directory
        self.segment_bytes = random.choice((1500, 10_000, 10**6))
        self.memory = Memory(tail_bytes=random.choice((0, 3000, 10**6)))
        self.epoch = 0
        self.held: list[bytes] = []
        self.log = self.opened()

    def opened(self) -> Log:
        return Log.open(self.directory, segment_bytes=self.segment_bytes, memory=self.memory)

    @property
    def end(self) -> int:
        return batches.split(self.held[-1])[0].next_offset if self.held else 0

    def lead(self) -> None:
        self.epoch += self.random.random() < 0.3
        made = random_batch(self.random)
        stamped = bytearray(made)
        batches.patch(stamped, 0, self.end, self.epoch)
        self.log.append_as_leader(made, self.epoch)
        self.held.append(bytes(stamped))

    def follow(self) -> None:
        self.epoch += self.random.random() < 0.3
        received = b""
        for _ in range(self.random.randint(1, 3)):
            made = random_batch(self.random)
            batches.patch(made, 0, self.end, self.epoch)
            self.held.append(bytes(made))
            received += made
        self.log.append_as_follower(received)

    def truncate(self) -> None:
        offset = max(self.end - self.random.randint(0, 12), 0)
        while self.held and self.end > offset:
            self.held.pop()
        assert self.log.truncate_to(offset) == self.end

    def restart(self) -> None:
        self.log.close()
        self.log = self.opened()
        assert self.log.recovered_bytes_cut == 0

    def check(self) -> None:
        assert self.log.log_end_offset == self.end
        assert self.log.size == sum(map(len, self.held))
        expected: dict[int, int] = {}
        for each in self.held:
            header = batches.split(each)[0]
            expected.setdefault(header.leader_epoch, header.base_offset)
        assert dict(self.log.epochs.entries) == expected
        if self.held:
            first = self.random.randrange(len(self.held))
            offset = batches.split(self.held[first])[0].base_offset
            read = bytes(self.log.read(offset, self.random.choice((1, 2000, 10**6)), ALL))
            assert read
            assert b"".join(self.held[first:]).startswith(read)


@pytest.mark.parametrize("seed", range(40))
def test_a_log_holds_what_was_appended_and_not_truncated(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    history = History(tmp_path, random)
    for _ in range(80):
        random.choices((history.lead, history.follow, history.truncate, history.restart), (6, 4, 2, 1))[0]()
        history.check()
    assert b"".join(bytes(each.view) for each in history.log.batches(0)) == b"".join(history.held)
    history.log.close()
