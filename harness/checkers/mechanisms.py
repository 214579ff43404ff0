"""The effects that a listed difference of a target can have had in a run, so that no more is attributed to it.

A random plan cannot say which records a difference will lose. Two mechanisms are known, each with the evidence that it
acted, and the records that it can have lost:

- `cut-to-high-watermark` (KIP-101; LF-01, LF-02): a replica cut its log from A to B, as its own log says, and led the
  partition later. It can only have cut records that it did not know to be committed. These are the records at offsets
  from B to A that were acknowledged just before the cut, or before the end of the process that had to start again from
  its checkpoint: no earlier than the sum of the lag, the session and the checkpoint interval. The replica knew that all
  earlier records were committed; if one of them is gone, something else lost it.
- `refused-duplicate` (AK-06): while a duplicate ran, its original was broken, too, and the id led the partition later.
  The records are those acknowledged from the duplicate's start to that election.

The checkers judge the history once more without those records. The violations that remain stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from fencepost.faults.registry import names_in_family
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.group_history import Groups
from fencepost.harness.checkers.history import History, Read, Send
from fencepost.harness.checkers.replica_logs import Entry, ReplicaLog, Replicas
from fencepost.harness.plan.model import Plan
from fencepost.results.records.fault_targets import FaultTargets
from fencepost.results.records.journal import Journal

CUT = "cut-to-high-watermark"
"""The mechanism whose time is known from the nodes' logs."""
CHECKPOINT_SECONDS = 0.5
"""Seconds between two checkpoints of the high watermark (`replica.high.watermark.checkpoint.interval.ms`)."""
SLACK_SECONDS = 3.0
"""Seconds for a busy machine: a checkpoint, a fetch and its answer may all be late."""
ZONE_SECONDS = 900.0
"""The step between time zones, a quarter of an hour: logs are in local time."""

OFFSETS_TOPIC = "__consumer_offsets"
"""The topic whose records are the committed offsets of groups."""

CLOCK_FAULTS = names_in_family("clock")

_CUT = re.compile(r"^(\S+ \S+?),(\d{3}) INFO \[broker \d+\] (\S+)-(\d+) is cut from (\d+) to (\d+)$")
_LINE = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3}) ")


@dataclass(frozen=True, slots=True)
class AffectedRange:
    """The records that a mechanism can have lost: at offsets from `begin` to before `end`, acknowledged since."""

    at: TopicPartition
    begin: int
    end: int
    since: float
    how: str

    def covers(self, at: TopicPartition, offset: int, acknowledged: float | None) -> bool:
        """Return whether the record is in the range. One without an acknowledgement counts as late."""
        late = acknowledged is None or acknowledged >= self.since
        return at == self.at and self.begin <= offset < self.end and late


def affected_ranges(mechanism: str, plan: Plan, journal: Journal, history: History, logs: Path) -> list[AffectedRange]:
    """Return the ranges that the mechanism can have affected in this run; none without evidence that it acted."""
    if mechanism == CUT:
        return list(_cuts(plan, journal, history, logs))
    return list(_credited(plan, journal, history))


def nodes_with_undated_cuts(plan: Plan, journal: Journal, logs: Path) -> list[str]:
    """Return the nodes that cut a log and whose wall clock was changed: the time of the cut is unknown."""
    names = _of_changed_clocks(journal) & {node.name for node in plan.topology.nodes}
    return sorted(name for name in names if any(map(_CUT.match, _lines(logs / f"{name}.log"))))


def history_without(history: History, affected: Iterable[AffectedRange]) -> History:
    """Return the history without the sends and reads of these records, and without the commits that they may hold."""
    affected = list(affected)
    acknowledged = {send.value: send.completed for send in history.sends}

    def of_send(send: Send) -> bool:
        return (
            send.partition is not None
            and send.offset is not None
            and any(each.covers((send.topic, send.partition), send.offset, send.completed) for each in affected)
        )

    def of_read(read: Read) -> bool:
        return any(each.covers(read.at, read.offset, acknowledged.get(read.value)) for each in affected)

    return replace(
        history,
        groups=_without_commits(history.groups, affected),
        sends=tuple(send for send in history.sends if not of_send(send)),
        polls=tuple(
            replace(poll, records=tuple(read for read in poll.records if not of_read(read))) for poll in history.polls
        ),
    )


def _without_commits(groups: Groups, affected: Iterable[AffectedRange]) -> Groups:
    """Return the groups with each commit unacknowledged whose record can be among those of the offsets' topic.

    Its offset there is unknown, so its time alone decides. Without an acknowledgement it may have happened.
    """
    since = min((each.since for each in affected if each.at[0] == OFFSETS_TOPIC), default=inf)
    commits = (
        replace(each, completed=None) if each.completed is not None and each.completed >= since else each
        for each in groups.commits
    )
    return replace(groups, commits=tuple(commits))


def replicas_without(replicas: Replicas, history: History, affected: Iterable[AffectedRange]) -> Replicas:
    """Return the replicas' logs without these records. The other records of a batch remain."""
    affected = list(affected)
    acknowledged = {send.value: send.completed for send in history.sends}

    def left(at: TopicPartition, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        return tuple(
            (offset, value)
            for offset, value in entries
            if not any(each.covers(at, offset, acknowledged.get(value)) for each in affected)
        )

    def copy(log: ReplicaLog) -> ReplicaLog:
        touched = [
            batch
            for batch in log.batches
            if any(log.partition == each.at and batch.base < each.end and batch.last >= each.begin for each in affected)
        ]
        if not touched or log.unreadable:
            return log
        unpacked = {(*batch.content, batch.leader_epoch): left(log.partition, log.read(batch)) for batch in touched}
        return replace(log, unpacked={**log.unpacked, **unpacked})

    return replace(replicas, logs={at: tuple(map(copy, logs)) for at, logs in replicas.logs.items()})


def _cuts(plan: Plan, journal: Journal, history: History, logs: Path) -> Iterator[AffectedRange]:
    window = (plan.timing.lag_ms + plan.timing.session_ms) / 1000 + CHECKPOINT_SECONDS + SLACK_SECONDS
    lives, changed = _lives(journal), _of_changed_clocks(journal)
    for node in plan.topology.nodes:
        if "broker" not in node.roles or node.name in changed:
            continue
        first_of_life: set[tuple[TopicPartition, int]] = set()
        for t, at, before, after in _read_cuts(logs / f"{node.name}.log", journal, node.name):
            began = [life for life in lives.get(node.name, ()) if life[1] <= t]
            known_until = t
            if began and (at, len(began)) not in first_of_life:
                first_of_life.add((at, len(began)))
                known_until = began[-1][0]
            led = next((view.t for view in history.views.of(at) if view.leader == node.id and view.t >= t - 0.5), None)
            if led is not None:
                how = (
                    f"{node.name} cut {at[0]}-{at[1]} from {before} to {after} at {t:.2f} s, and led it at {led:.2f} s"
                )
                yield AffectedRange(at, after, before, known_until - window, how)


def _lives(journal: Journal) -> Mapping[str, list[tuple[float, float]]]:
    """Return for each restart of a node the time at which its last process ended or stopped, and its own time."""
    ended: dict[str, float] = {}
    lives: dict[str, list[tuple[float, float]]] = {}
    for event in journal.of("node"):
        name = event.node or event.id
        if event.phase in ("killed", "exited", "paused", "stopping"):
            ended.setdefault(name, event.t)
        elif event.phase in ("started", "resumed") and name in ended:
            lives.setdefault(name, []).append((ended.pop(name), event.t))
    return lives


def _read_cuts(log: Path, journal: Journal, node: str) -> Iterator[tuple[float, TopicPartition, int, int]]:
    """Yield the cuts that a node logged: journal time, partition, old log end, new log end."""
    lines = _lines(log)
    started = next((event for event in journal.of("node", "started") if (event.node or event.id) == node), None)
    first = next((found for line in lines if (found := _LINE.match(line))), None)
    if started is None or first is None:
        return
    zone = round((_seconds(first[1], first[2]) - started.wall) / ZONE_SECONDS) * ZONE_SECONDS
    for line in lines:
        if found := _CUT.match(line):
            wall = _seconds(found[1], found[2]) - zone
            t = started.t + wall - started.wall
            yield t, (found[3], int(found[4])), int(found[5]), int(found[6])


def _lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []


def _of_changed_clocks(journal: Journal) -> set[str]:
    return {
        node
        for event in journal.of("fault", "intent")
        if event.data.get("fault") in CLOCK_FAULTS
        for node in event.data.get("nodes", ())
    }


def _seconds(text: str, millis: str) -> float:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp() + int(millis) / 1000


def _credited(plan: Plan, journal: Journal, history: History) -> Iterator[AffectedRange]:
    partitions = [
        ((topic.name, number), replicas) for topic in plan.topics for number, replicas in enumerate(topic.assignments)
    ]
    for node in plan.topology.nodes:
        original = node.duplicate_of
        if original is None:
            continue
        broken = _spans(journal, original)
        for begun, over in _spans(journal, node.name):
            if any(span[0] < over and span[1] > begun for span in broken):
                for at, replicas in partitions:
                    if node.id in replicas and (led := _leader_again(history, at, node.id, begun)) is not None:
                        how = f"{node.name} ran from {begun:.2f} s, and {node.id} took {at[0]}-{at[1]} at {led:.2f} s"
                        yield from _acknowledged(history, at, begun, led, f"{how}; {original} was broken, too")


def _acknowledged(history: History, at: TopicPartition, begun: float, led: float, how: str) -> Iterator[AffectedRange]:
    offsets = [each.offset for each in history.promises if each.at == at and begun <= each.acknowledged <= led]
    if offsets:
        yield AffectedRange(at, min(offsets), max(offsets) + 1, begun, how)


def _leader_again(history: History, at: TopicPartition, id: int, after: float) -> float | None:
    """Return the time at which the broker became leader after another broker, None if it did not."""
    before = -1
    for view in history.views.of(at):
        if view.leader == id and view.t > after and before not in (-1, id):
            return view.t
        before = view.leader if view.leader >= 0 else before
    return None


def _spans(journal: Journal, node: str) -> list[tuple[float, float]]:
    """Return the begin and end of each fault that affected the node, or a link of it."""
    hit: dict[str, float] = {}
    spans: list[tuple[float, float]] = []
    aimed: set[str] = set()
    for event in journal.of("fault"):
        if event.phase == "intent" and node in FaultTargets.of(event.data).touched:
            aimed.add(event.id)
        elif event.phase == "injected" and event.id in aimed:
            hit[event.id] = event.t
        elif event.phase in ("healed", "unhealed") and event.id in hit:
            spans.append((hit.pop(event.id), event.t))
    return [*spans, *((begun, inf) for begun in hit.values())]
