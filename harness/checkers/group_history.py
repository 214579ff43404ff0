"""The consumer groups of a run, from the journal's `op` events.

Shapes of the events' data (`f` tells them apart); all have process and group:

- assigned, revoked, lost, ok: partitions as [topic, partition].
- start-over, ok: partition as [topic, partition], reason ("no-offset": the group has no committed offset; or
  "out-of-range": the log does not have it).
- commit-offsets, invoke: offsets as [topic, partition, offset], sync. ok, info: the answer.
- committed-offsets, invoke, and ok: offsets as [topic, partition, offset or null], as the coordinator has them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from fencepost.harness.checkers.control import TopicPartition
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal

GroupPartition = tuple[str, TopicPartition]
"""A group, and a partition that it reads."""


@dataclass(frozen=True, slots=True)
class OffsetCommit:
    """A request to commit offsets. `completed` is None without an acknowledgement: it may have happened."""

    process: str
    group: str
    offsets: tuple[tuple[TopicPartition, int], ...]
    sync: bool
    invoked: float
    completed: float | None = None


@dataclass(frozen=True, slots=True)
class OffsetFetch:
    """The committed offsets that a group's coordinator answered; None where it has none."""

    process: str
    group: str
    offsets: tuple[tuple[TopicPartition, int | None], ...]
    invoked: float
    completed: float


@dataclass(frozen=True, slots=True)
class Assignment:
    """A change of a member's partitions: `what` is assigned, revoked or lost."""

    process: str
    group: str
    what: str
    partitions: tuple[TopicPartition, ...]
    t: float


@dataclass(frozen=True, slots=True)
class StartOver:
    """A member reads a partition from its beginning: its group has no offset, or the log has no such offset."""

    process: str
    group: str
    at: TopicPartition
    reason: str
    t: float


@dataclass(frozen=True)
class Groups:
    """The events of the groups of a run, in the order of the journal."""

    commits: tuple[OffsetCommit, ...] = ()
    fetches: tuple[OffsetFetch, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    starts_over: tuple[StartOver, ...] = ()

    @property
    def acknowledged(self) -> list[tuple[str, float]]:
        """Return the process and the time of the request of each acknowledged commit."""
        return [(each.process, each.invoked) for each in self.commits if each.completed is not None]


NO_GROUPS: Final = Groups()


def read_groups(journal: Journal) -> Groups:
    """Return what the journal has of groups. Linear in the events."""
    commits: dict[str, OffsetCommit] = {}
    asked: dict[str, float] = {}
    fetches: list[OffsetFetch] = []
    assignments: list[Assignment] = []
    starts_over: list[StartOver] = []
    for event in journal.of("op"):
        data = event.data
        match data.get("f"):
            case "commit-offsets":
                _add_commit(commits, event)
            case "committed-offsets" if event.phase == "invoke":
                asked[event.id] = event.t
            case "committed-offsets" if event.phase == "ok":
                begun = asked.get(event.id, event.t)
                fetches.append(OffsetFetch(data["process"], data["group"], _offsets(data), begun, event.t))
            case "assigned" | "revoked" | "lost" as what:
                partitions = tuple((topic, number) for topic, number in data["partitions"])
                assignments.append(Assignment(data["process"], data["group"], what, partitions, event.t))
            case "start-over":
                topic, number = data["partition"]
                starts_over.append(StartOver(data["process"], data["group"], (topic, number), data["reason"], event.t))
    return Groups(tuple(commits.values()), tuple(fetches), tuple(assignments), tuple(starts_over))


def _add_commit(commits: dict[str, OffsetCommit], event: Event) -> None:
    data = event.data
    if event.phase == "invoke":
        commits[event.id] = OffsetCommit(data["process"], data["group"], _offsets(data), data["sync"], event.t)
    elif event.phase == "ok" and event.id in commits:
        commits[event.id] = replace(commits[event.id], completed=event.t)


def _offsets(data: Mapping[str, Any]) -> tuple[tuple[TopicPartition, Any], ...]:
    return tuple(((topic, number), offset) for topic, number, offset in data["offsets"])
