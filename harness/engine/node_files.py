"""Conditions on what a node has in its log directories: read as the files lie there, whether it runs or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.checkers.checkpoints import high_watermark
from harness.checkers.segments import scan
from harness.engine.context import Context
from harness.plan.conditions import Checkpoint, LogEnd


@dataclass
class NodeFiles:
    """A condition: `read` gives a number, None where there is none. `found` is what it gave last, for the journal."""

    step: Checkpoint | LogEnd
    read: Callable[[], int | None]
    found: dict[str, object] = field(default_factory=dict)

    def __call__(self) -> bool:
        offset = self.read()
        self.found = {"offset": offset}
        return offset is not None and self.step.holds(offset)


def checkpoint(step: Checkpoint, context: Context) -> NodeFiles:
    folders, (topic, number) = _log_dirs(step.node, context), _parts(step.partition)
    return NodeFiles(step, lambda: high_watermark(folders, topic, number))


def end_of_log(step: LogEnd, context: Context) -> NodeFiles:
    folders = [folder / step.partition for folder in _log_dirs(step.node, context)]
    return NodeFiles(step, lambda: log_end(folders))


def log_end(folders: Sequence[Path]) -> int | None:
    """Where the log of a partition ends that is in one of these folders: after its last whole batch."""
    for folder in folders:
        for segment in sorted(folder.glob("*.log"), reverse=True):
            try:
                batches = scan(segment, verify=False).batches
            except OSError:  # it went meanwhile
                continue
            return batches[-1].last + 1 if batches else int(segment.stem)
    return None


def _log_dirs(ref: str, context: Context) -> tuple[Path, ...]:
    cluster = context.cluster
    return cluster.installation.log_dirs(cluster.node(context.node(ref)))


def _parts(partition: str) -> tuple[str, int]:
    topic, _, number = partition.rpartition("-")
    return topic, int(number)
