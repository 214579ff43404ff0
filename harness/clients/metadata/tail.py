"""Follows the metadata log at its leader, as an observer: committed records only, nothing is acknowledged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.harness.clients.metadata.fetching import CONTROL_BATCH, SnapshotPart, fetch_part, whole_batches
from fencepost.harness.clients.metadata.image import Image
from fencepost.harness.clients.metadata.records import decode_draft, decode_kraft
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.plan.dialect import Dialect

DECODERS = {Dialect.KIP_631: decode_draft, Dialect.KRAFT: decode_kraft}


@dataclass
class Tail:
    """How far the log was read: `image` up to its offset, `epoch` is the leader epoch of that record's batch."""

    dialect: Dialect
    image: Image = field(default_factory=Image)
    epoch: int = 0

    def read(self, connection: RawConnection, leader_epoch: int) -> Iterator[Image]:
        """One fetch from the leader of `leader_epoch`; each image is one record further. NotLeader or `raw.NoAnswer`.

        After a snapshot the next image is that of its end.
        """
        part = fetch_part(connection, self.dialect, leader_epoch, self.image.offset + 1, self.epoch)
        if isinstance(part, SnapshotPart):
            yield self._load(part)
        else:
            yield from self._replay(part.records, part.high_watermark)

    def _load(self, snapshot: SnapshotPart) -> Image:
        decode, loaded, end = DECODERS[self.dialect], Image(), snapshot.end_offset - 1
        for batch in whole_batches(snapshot.content):
            if not batch.attributes & CONTROL_BATCH:
                for value in (record.value for record in batch.records if record.value is not None):
                    loaded = loaded.apply(end, decode(value))
        self.image, self.epoch = loaded.after(self.image), snapshot.epoch
        return self.image

    def _replay(self, buffer: bytes, committed: int) -> Iterator[Image]:
        """Shipped Kafka gives observers what is not committed, too, which another leader may replace."""
        decode = DECODERS[self.dialect]
        for batch in whole_batches(buffer):
            for record in batch.records:
                if record.offset <= self.image.offset:
                    continue
                if record.offset >= committed:
                    return
                fact = None if batch.attributes & CONTROL_BATCH or record.value is None else decode(record.value)
                self.image = self.image.apply(record.offset, fact)
                self.epoch = batch.partition_leader_epoch
                yield self.image
