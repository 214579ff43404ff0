"""Conditions on the files in a node's log directories, read as they are, while the node runs or after it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fencepost.harness.checkers.checkpoints import BadCheckpoint, high_watermark
from fencepost.harness.checkers.replica_logs import log_end
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.references import References
from fencepost.harness.plan.conditions import Checkpoint, LogEnd

Read = Callable[[Sequence[Path], str, int], int | None]
"""A function from log directories, a topic and a partition to an offset; None if there is none."""


@dataclass
class NodeFiles:
    """A condition on an offset in a node's files. `found` is what was read last, for the journal."""

    step: Checkpoint | LogEnd
    log_dirs: Sequence[Path]
    read: Read
    found: dict[str, object] = field(default_factory=dict)

    def __call__(self) -> bool:
        topic, _, number = self.step.partition.rpartition("-")
        try:
            offset = self.read(self.log_dirs, topic, int(number))
        except BadCheckpoint as error:
            self.found = {"message": str(error)}
            return False
        self.found = {"offset": offset}
        return offset is not None and self.step.holds(offset)


def node_files(step: Checkpoint | LogEnd, references: References, cluster: Cluster) -> NodeFiles:
    """Return the condition of a `checkpoint` or `log-end` step."""
    log_dirs = cluster.installation.log_dirs(cluster.node(references.node(step.node)))
    return NodeFiles(step, log_dirs, high_watermark if isinstance(step, Checkpoint) else log_end)
