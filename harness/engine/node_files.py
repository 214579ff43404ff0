"""Conditions on what a node has in its log directories: read as the files lie there, whether it runs or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.checkers.checkpoints import BadCheckpoint, high_watermark
from harness.checkers.replica_logs import log_end
from harness.engine.context import Context
from harness.plan.conditions import Checkpoint, LogEnd

Read = Callable[[Sequence[Path], str, int], int | None]
"""From log directories, about a topic's partition: an offset, None where there is none."""


@dataclass
class NodeFiles:
    """A condition. `found` is what was read last, for the journal."""

    step: Checkpoint | LogEnd
    log_dirs: Sequence[Path]
    read: Read
    found: dict[str, object] = field(default_factory=dict)

    def __call__(self) -> bool:
        topic, _, number = self.step.partition.rpartition("-")
        try:
            offset = self.read(self.log_dirs, topic, int(number))
        except BadCheckpoint as error:
            self.found = {"sentence": str(error)}
            return False
        self.found = {"offset": offset}
        return offset is not None and self.step.holds(offset)


def node_files(step: Checkpoint | LogEnd, context: Context) -> NodeFiles:
    cluster = context.cluster
    log_dirs = cluster.installation.log_dirs(cluster.node(context.node(step.node)))
    return NodeFiles(step, log_dirs, high_watermark if isinstance(step, Checkpoint) else log_end)
