"""Log lines and counts for the life of each state change (differences between V1 and V2, point 7).

The log uses the words of the document: requested by a leader, received and completed by a follower, each with the
epoch. The backlog of a slow follower is the queue length that a leader saw when it last put a request there.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange, StateChangeRequest
from fencepost.cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger("state.change")


class StateChangeStage(Enum):
    """A stage in the life of a request."""

    REQUESTED = "requested"
    RECEIVED = "received"
    COMPLETED = "completed"
    IGNORED = "ignored"
    """The request came from a former leader."""
    FAILED = "failed"


@dataclass(slots=True)
class StateChangeMonitor:
    """The state changes that broker `broker_id` sees in all its parts."""

    broker_id: int
    counts: Counter[tuple[StateChangeStage, StateChange]] = field(default_factory=Counter)
    backlog: dict[int, int] = field(default_factory=dict)
    """Queue length by broker id when a request was last put there, that request included."""
    leader_changes_seen: int = 0
    queue_full: int = 0

    def requested(self, request: StateChangeRequest, to: int, backlog: int) -> None:
        self.counts[StateChangeStage.REQUESTED, request.change] += 1
        self.backlog[to] = backlog
        requester = "admin" if request.is_by_admin else "leader"
        log.info(
            "%s, broker id %d, requested %s for %s, to broker id %d, at epoch %d",
            requester, self.broker_id, request.change.value, _words(request.partition), to, request.epoch,
        )  # fmt: skip

    def received(self, request: StateChangeRequest) -> None:
        self.counts[StateChangeStage.RECEIVED, request.change] += 1
        log.info(
            "follower, broker id %d, received %s for %s, from leader %d, at epoch %d",
            self.broker_id, request.change.value, _words(request.partition), request.sender, request.epoch,
        )  # fmt: skip

    def completed(self, request: StateChangeRequest) -> None:
        self._ended(StateChangeStage.COMPLETED, request, "")

    def ignored(self, request: StateChangeRequest, latest_epoch: int) -> None:
        self._ended(StateChangeStage.IGNORED, request, f", the epoch is {latest_epoch}")

    def failed(self, request: StateChangeRequest, reason: str) -> None:
        self._ended(StateChangeStage.FAILED, request, f": {reason}")

    def _ended(self, stage: StateChangeStage, request: StateChangeRequest, remark: str) -> None:
        self.counts[stage, request.change] += 1
        log.info(
            "follower, broker id %d, %s %s for %s, request from leader %d, at epoch %d%s",
            self.broker_id, stage.value, request.change.value, _words(request.partition), request.sender,
            request.epoch, remark,
        )  # fmt: skip

    def unreadable(self, problem: str) -> None:
        log.error("broker id %d, dropped a state change request: %s", self.broker_id, problem)

    def is_full(self, to: int, backlog: int) -> None:
        self.queue_full += 1
        self.backlog[to] = backlog
        log.error(
            "leader, broker id %d, state change queue of broker id %d is full: FollowerStateChangeQueueFull",
            self.broker_id, to,
        )  # fmt: skip

    def shrunk(self, of: int, dropped: int, backlog: int) -> None:
        self.backlog[of] = backlog
        log.warning(
            "leader, broker id %d, shrank the state change queue of broker id %d by %d", self.broker_id, of, dropped
        )

    def reassignment(self, partition: TopicPartition, step: str, epoch: int) -> None:
        """Log that a step of a reassignment, or of a deletion, is done."""
        log.info(
            "leader, broker id %d, reassignment of %s, step %s, at epoch %d",
            self.broker_id, _words(partition), step, epoch,
        )  # fmt: skip

    def leader_changed(self, partition: TopicPartition) -> None:
        self.leader_changes_seen += 1
        log.info("broker id %d, saw a leader change of %s", self.broker_id, _words(partition))

    def figures(self) -> Mapping[str, object]:
        return {
            "state_changes": {
                stage.value: {change.value: self.counts[stage, change] for change in StateChange}
                for stage in StateChangeStage
            },
            "queue_backlog": {str(to): length for to, length in sorted(self.backlog.items())},
            "leader_changes_seen": self.leader_changes_seen,
            "queue_full": self.queue_full,
        }


def _words(partition: TopicPartition) -> str:
    return f"topic {partition.topic} partition {partition.partition}"


INTERVAL = 1.0
"""Seconds between two writes."""


class MetricsFile:
    """Writes what `metrics` returns to `path`: one JSON object, replaced as a whole."""

    def __init__(self, path: Path, metrics: Callable[[], Mapping[str, Any]]) -> None:
        self._path = path
        self._draft = path.with_name(f"{path.name}.tmp")
        self._metrics = metrics
        self._is_broken = False

    async def run(self) -> None:
        """Write the file at every INTERVAL; never returns. A failing disk is logged once and does not end the
        broker."""
        while True:
            self.write()
            await asyncio.sleep(INTERVAL)

    def write(self) -> None:
        """Replace the file now; log the first failure in a row."""
        try:
            self._draft.write_text(json.dumps(self._metrics(), sort_keys=True) + "\n", encoding="utf-8")
            self._draft.replace(self._path)
            self._is_broken = False
        except OSError as error:
            if not self._is_broken:
                logging.getLogger(__name__).error("the metrics file %s cannot be written: %s", self._path, error)
            self._is_broken = True
