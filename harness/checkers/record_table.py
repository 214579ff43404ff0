"""Counterexamples by record and by replica: what clients know of each record, and which replicas have it on disk.

All findings about single records have this table, in every design.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fencepost.harness.checkers.check import UNKNOWN_OFFSET, shown_offset
from fencepost.harness.checkers.control import DECIDED, PartitionObservation, TopicPartition
from fencepost.harness.checkers.history import History, Send, SendOutcome
from fencepost.harness.checkers.replica_logs import ReplicaLog, Replicas
from fencepost.results.records.verdict import Counterexample, Finding

_RECORD_COLUMNS = ("partition", "offset", "record")
COLUMNS = ("partition", "offset", "epoch", "record", "acknowledged", "ISR then", "served")
"""The columns before those of the replicas."""

Place = tuple[TopicPartition, int, str]
"""A record: partition, offset (-1 if it is unknown), value."""


@dataclass(frozen=True)
class RecordTable:
    """Makes the tables of one run."""

    history: History
    replicas: Replicas

    def of(self, places: Sequence[Place], context: Sequence[Place] = ()) -> Counterexample:
        """Return a row for each record, in the order given. `context` has intact records that precede them."""
        names = self._names(places)
        columns = (*COLUMNS, *(self._head(name, places) for name in names))
        return Counterexample.of(
            columns, [self._row(each, names) for each in places], context=[self._row(each, names) for each in context]
        )

    def show(self, finding: Finding) -> Finding:
        """Return the finding with its records on all replicas, if its counterexample shows records."""
        table = finding.counterexample
        if table is None or table.columns[: len(_RECORD_COLUMNS)] != _RECORD_COLUMNS:
            return finding
        rows, context = [_place(row) for row in table.rows], [_place(row) for row in table.context]
        if not any(self.replicas.of(at) for at, _, _ in rows):
            return finding
        shown = self.of(rows, context)
        return replace(finding, counterexample=replace(shown, rows=self._rows(rows), total=table.total, gap=table.gap))

    def before(self, places: Iterable[Place]) -> list[Place]:
        """Return for each partition the last acknowledged record below the first of these that is there."""
        first: dict[TopicPartition, int] = {}
        for at, offset, _ in places:
            first[at] = min(offset, first.get(at, offset))
        last: dict[TopicPartition, Place] = {}
        for promise in self.history.promises:
            at = promise.at
            if 0 <= promise.offset < first.get(at, 0) and self.history.known(at, promise.value):
                last[at] = max(last.get(at, (at, -1, "")), (at, promise.offset, promise.value))
        return list(last.values())

    def _rows(self, places: Sequence[Place]) -> tuple[tuple[Any, ...], ...]:
        names = self._names(places)
        return tuple(self._row(each, names) for each in places)

    def _names(self, places: Sequence[Place]) -> list[str]:
        return sorted({log.name for at in {place[0] for place in places} for log in self.replicas.of(at)})

    def _head(self, name: str, places: Sequence[Place]) -> str:
        """Return a replica's name, with its role at the end if all records are of one partition."""
        partitions = {place[0] for place in places}
        view = last_view(self.history, next(iter(partitions))) if len(partitions) == 1 else None
        logs = [log for at in partitions for log in self.replicas.of(at)]
        log = next((log for log in logs if log.name == name), None)
        if view is None or log is None:
            return name
        if sum(each.broker == log.broker for each in logs) > 1:
            return f"{name} (id {log.broker})"  # the files do not say which of several processes was the replica
        if log.broker == view.leader:
            return f"{name} (leads)"
        return f"{name} ({'in the ISR' if log.broker in view.isr else 'outside the ISR'})"

    def _row(self, place: Place, names: Sequence[str]) -> tuple[Any, ...]:
        at, offset, value = place
        logs: Mapping[str, ReplicaLog] = {log.name: log for log in self.replicas.of(at)}
        send = self._sends.get(value)
        then = None if send is None or send.completed is None else self.history.views.at(at, send.completed)
        return (
            f"{at[0]}-{at[1]}",
            shown_offset(offset),
            self.epoch(place),
            value,
            _acknowledged(send, then),
            "" if then is None else ", ".join(map(str, then.isr)),
            self._served(place),
            *(_cell(logs.get(name), offset, value) for name in names),
        )

    def epoch(self, place: Place) -> int:
        """Return a record's leader epoch: from a log, else that of its acknowledgement, -1 if unknown."""
        at, offset, value = place
        for log in self.replicas.of(at):
            held = log.find(offset, value)
            if held is not None and held[0] == value:
                return held[1]
        send = self._sends.get(value)
        then = None if send is None or send.completed is None else self.history.views.at(at, send.completed)
        return -1 if then is None else then.leader_epoch

    @cached_property
    def _sends(self) -> Mapping[str, Send]:
        return {send.value: send for send in self.history.sends}

    def _served(self, place: Place) -> str:
        poll = self.history.first_reads.get(place)
        if poll is None:
            return "never"
        return "in the final read" if poll.final else f"to {poll.process} at {poll.t:.2f} s"


def last_view(history: History, at: TopicPartition) -> PartitionObservation | None:
    """Return the last decided state of a partition, else the newest view of any node, None if there is none."""
    views = history.views.of(at)
    decided = [view for view in views if view.observer == DECIDED]
    return next(reversed(decided or views), None)


def _place(row: Sequence[Any]) -> Place:
    topic, _, number = str(row[0]).rpartition("-")
    return (topic, int(number)), -1 if row[1] == UNKNOWN_OFFSET else int(row[1]), str(row[2])


def _acknowledged(send: Send | None, then: PartitionObservation | None) -> str:
    if send is None:
        return "not sent in this run"
    if send.outcome is SendOutcome.OK:
        by = "" if then is None or then.leader < 0 else f"by {then.leader} "
        level = "" if send.acks == "all" else f", acks={send.acks}"
        return f"{by}at {send.completed:.2f} s{level}"
    return "refused" if send.outcome is SendOutcome.FAIL else "outcome unknown"


def _cell(log: ReplicaLog | None, offset: int, value: str) -> str:
    if log is None:
        return "no log"
    held = log.find(offset, value)
    if held is None:
        return "absent"
    return "there" if held[0] == value else f"other: {held[0]} (epoch {held[1]})"
