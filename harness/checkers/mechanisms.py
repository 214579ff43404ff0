"""What a listed difference of a target can have done in a run, so that no more than that is put down to it.

A random plan cannot say which record a difference will cost. Two mechanisms are known, each with the evidence that it
acted, and the records that it can have taken:

- `cut-to-high-watermark` (KIP-101; LF-01, LF-02): a replica cut its log from A to B, as its own log says, and led the
  partition later. It can only have cut what it had not been told to be committed. So the records are those at offsets
  from B to A that were acknowledged in the last moments before the cut, or before the end of the process that had to
  begin again from its checkpoint: no earlier than the lag, the session and a checkpoint reach back. All that was
  acknowledged before that the replica knew to be committed; if it is gone, something else took it.
- `refused-duplicate` (AK-06): while a duplicate ran, its elder was broken, too, and the id led the partition later. The
  records are those acknowledged from the duplicate's begin to that election.

The checkers judge the history once more without those records. What is still wrong then stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from faults import clock
from harness.checkers.control import TopicPartition
from harness.checkers.history import History, Read, Send
from harness.checkers.replica_logs import Entry, ReplicaLog, Replicas
from harness.plan.model import Plan
from results.records.events import Event
from results.records.journal import Journal

CUT = "cut-to-high-watermark"
"""The mechanism that is dated by what nodes wrote into their logs."""
CHECKPOINT_SECONDS = 0.5
"""How often the high watermark is written down (`replica.high.watermark.checkpoint.interval.ms`)."""
SLACK_SECONDS = 3.0
"""For a busy machine: a checkpoint, a fetch and its answer may all be late."""
ZONE_SECONDS = 900.0
"""Logs are in local time, and zones differ by quarters of an hour."""

CLOCK_FAULTS = frozenset(fault.name for fault in clock.FAULTS)

_CUT = re.compile(r"^(\S+ \S+?),(\d{3}) INFO \[broker \d+\] (\S+)-(\d+) is cut from (\d+) to (\d+)$")
_LINE = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3}) ")


@dataclass(frozen=True, slots=True)
class Reach:
    """Records that a mechanism can have taken: at offsets from `begin` to before `end`, acknowledged since."""

    at: TopicPartition
    begin: int
    end: int
    since: float
    how: str

    def covers(self, at: TopicPartition, offset: int, acknowledged: float | None) -> bool:
        """A record that nobody acknowledged counts as late: nothing was promised of it."""
        late = acknowledged is None or acknowledged >= self.since
        return at == self.at and self.begin <= offset < self.end and late


def reaches(mechanism: str, plan: Plan, journal: Journal, history: History, logs: Path) -> list[Reach]:
    """What the mechanism can have taken in this run; empty if there is no evidence that it acted."""
    if mechanism == CUT:
        return list(_cuts(plan, journal, history, logs))
    return list(_credited(plan, journal, history))


def undated(plan: Plan, journal: Journal, logs: Path) -> list[str]:
    """The nodes that cut a log, and whose wall clock was changed: their logs do not say when."""
    names = _of_changed_clocks(journal) & {node.name for node in plan.topology.nodes}
    return sorted(name for name in names if any(map(_CUT.match, _lines(logs / f"{name}.log"))))


def without(history: History, taken: Iterable[Reach]) -> History:
    """The history as if nobody had ever heard of these records."""
    taken = list(taken)
    acknowledged = {send.value: send.completed for send in history.sends}

    def of_send(send: Send) -> bool:
        return (
            send.partition is not None
            and send.offset is not None
            and any(reach.covers((send.topic, send.partition), send.offset, send.completed) for reach in taken)
        )

    def of_read(read: Read) -> bool:
        return any(reach.covers(read.at, read.offset, acknowledged.get(read.value)) for reach in taken)

    return replace(
        history,
        sends=tuple(send for send in history.sends if not of_send(send)),
        polls=tuple(
            replace(poll, records=tuple(read for read in poll.records if not of_read(read))) for poll in history.polls
        ),
    )


def copies_without(replicas: Replicas, history: History, taken: Iterable[Reach]) -> Replicas:
    """The replicas' logs as if these records had never been written. Of a batch the others stay."""
    taken = list(taken)
    acknowledged = {send.value: send.completed for send in history.sends}

    def left(at: TopicPartition, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        return tuple(
            (offset, value)
            for offset, value in entries
            if not any(reach.covers(at, offset, acknowledged.get(value)) for reach in taken)
        )

    def copy(log: ReplicaLog) -> ReplicaLog:
        touched = [
            batch
            for batch in log.batches
            if any(log.partition == each.at and batch.base < each.end and batch.last >= each.begin for each in taken)
        ]
        if not touched or log.unreadable:
            return log
        unpacked = {(*batch.content, batch.leader_epoch): left(log.partition, log.read(batch)) for batch in touched}
        return replace(log, unpacked={**log.unpacked, **unpacked})

    return replace(replicas, logs={at: tuple(map(copy, logs)) for at, logs in replicas.logs.items()})


def _cuts(plan: Plan, journal: Journal, history: History, logs: Path) -> Iterator[Reach]:
    window = (plan.timing.lag_ms + plan.timing.session_ms) / 1000 + CHECKPOINT_SECONDS + SLACK_SECONDS
    lives, changed = _lives(journal), _of_changed_clocks(journal)
    for node in plan.topology.nodes:
        if "broker" not in node.roles or node.name in changed:
            continue
        first_of_life: set[tuple[TopicPartition, int]] = set()
        for t, at, before, after in _read_cuts(logs / f"{node.name}.log", journal, node.name):
            began = [life for life in lives.get(node.name, ()) if life[1] <= t]
            told_until = t
            if began and (at, len(began)) not in first_of_life:
                first_of_life.add((at, len(began)))
                told_until = began[-1][0]
            led = next((view.t for view in history.views.of(at) if view.leader == node.id and view.t >= t - 0.5), None)
            if led is not None:
                how = (
                    f"{node.name} cut {at[0]}-{at[1]} from {before} to {after} at {t:.2f} s, and led it at {led:.2f} s"
                )
                yield Reach(at, after, before, told_until - window, how)


def _lives(journal: Journal) -> Mapping[str, list[tuple[float, float]]]:
    """For each start of a node that ran before: when the process before it ended or stopped, and when this began."""
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
    """When, in the journal's time, which partition, from where to where."""
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


def _credited(plan: Plan, journal: Journal, history: History) -> Iterator[Reach]:
    partitions = [
        ((topic.name, number), replicas) for topic in plan.topics for number, replicas in enumerate(topic.assignments)
    ]
    for node in plan.topology.nodes:
        elder = node.duplicate_of
        if elder is None:
            continue
        broken = _spans(journal, elder)
        for begun, over in _spans(journal, node.name):
            if any(span[0] < over and span[1] > begun for span in broken):
                for at, replicas in partitions:
                    if node.id in replicas and (led := _took_over(history, at, node.id, begun)) is not None:
                        how = f"{node.name} ran from {begun:.2f} s, and {node.id} took {at[0]}-{at[1]} at {led:.2f} s"
                        yield from _acknowledged(history, at, begun, led, f"{how}; {elder} was broken, too")


def _acknowledged(history: History, at: TopicPartition, begun: float, led: float, how: str) -> Iterator[Reach]:
    offsets = [each.offset for each in history.promises if each.at == at and begun <= each.acknowledged <= led]
    if offsets:
        yield Reach(at, min(offsets), max(offsets) + 1, begun, how)


def _took_over(history: History, at: TopicPartition, id: int, after: float) -> float | None:
    """When the broker became leader after another one had been, if it did."""
    before = -1
    for view in history.views.of(at):
        if view.leader == id and view.t > after and before not in (-1, id):
            return view.t
        before = view.leader if view.leader >= 0 else before
    return None


def _spans(journal: Journal, node: str) -> list[tuple[float, float]]:
    """From when to when some fault had hit the node, or a link of it."""
    hit: dict[str, float] = {}
    spans: list[tuple[float, float]] = []
    aimed: set[str] = set()
    for event in journal.of("fault"):
        if event.phase == "intent" and node in _named(event):
            aimed.add(event.id)
        elif event.phase == "injected" and event.id in aimed:
            hit[event.id] = event.t
        elif event.phase in ("healed", "unhealed") and event.id in hit:
            spans.append((hit.pop(event.id), event.t))
    return [*spans, *((begun, inf) for begun in hit.values())]


def _named(event: Event) -> frozenset[str]:
    links = event.data.get("links", ())
    ends = {str(link[end]) for link in links for end in ("from", "to")}
    return frozenset({str(each) for each in event.data.get("nodes", ())} | ends | {str(event.data.get("node"))})
