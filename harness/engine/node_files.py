"""Offsets in the files of a node's log directories, read as they are, while the node runs or after it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fencepost.harness.checkers import replica_logs
from fencepost.harness.checkers.checkpoints import BadCheckpoint, high_watermark
from fencepost.harness.cluster.cluster import Cluster

Read = Callable[[Sequence[Path], str, int], int | None]
"""A function from log directories, a topic and a partition to an offset; None if there is none."""


@dataclass
class OffsetReading:
    """A reading of an offset in a node's files. `found` is what was read last, for the journal."""

    partition: str
    log_dirs: Sequence[Path]
    read: Read
    found: dict[str, object] = field(default_factory=dict)

    def __call__(self) -> int | None:
        topic, _, number = self.partition.rpartition("-")
        try:
            offset = self.read(self.log_dirs, topic, int(number))
        except BadCheckpoint as error:
            self.found = {"message": str(error)}
            return None
        self.found = {"offset": offset}
        return offset


def checkpoint(cluster: Cluster, node: str, partition: str) -> OffsetReading:
    """Return the reading of the high watermark in the checkpoint file of a node."""
    return OffsetReading(partition, cluster.installation.log_dirs(cluster.node(node)), high_watermark)


def log_end(cluster: Cluster, node: str, partition: str) -> OffsetReading:
    """Return the reading of the end of a node's segment files."""
    return OffsetReading(partition, cluster.installation.log_dirs(cluster.node(node)), replica_logs.log_end)
