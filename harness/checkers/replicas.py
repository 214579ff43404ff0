"""Replicas against each other and against what clients were told, from the segment files that nodes left.

Who has to agree on what, below the bound of `committed`:

- A *member* of the last ISR that is assigned holds every record that was acknowledged at acks=all or served (SEG-01),
  and below the bound the same as every other member (HW-03). That it is dead is no excuse: nothing is committed
  without it while it is a member, and kill -9 leaves what it had written. Where several logs have its id (two
  processes, two directories) the files do not say which was the member: it is taken to be the one that agrees best
  with the other members.
- Any other replica may end early: it was dead, cut off or removed. It may also end in a *tail* of its own, which it
  wrote as a leader that nobody followed, and would have to truncate: of an older leader epoch than the last leader's,
  and of another than what stands there elsewhere, with nothing after it that agrees again, and with no record in it
  that was acknowledged or served. Such
  tails are counted. Anything else that differs is a different record at one offset (SEG-02), as is any difference in
  the log of a member.
- A log with another topic id belongs to an earlier topic of the name, and is passed over.

Above the bound replicas may differ. Batches are compared by place and checksum, records only where batches differ.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.checkers.check import Check, spans
from harness.checkers.committed import Committed, lived_twice, read_committed
from harness.checkers.control import TopicPartition
from harness.checkers.history import History
from harness.checkers.record_table import Place, RecordTable, last_view
from harness.checkers.replica_logs import Key, ReplicaLog, Replicas
from harness.checkers.segments import Batch
from results.records.verdict import Basis, Finding

KEPT = Check("committed-kept", "A member of the ISR lacks a record that was promised", "SEG-01", Basis.ABSENCE)
ONE_CONTENT = Check("one-content", "Different records at one offset", "SEG-02", Basis.ABSENCE)
AGREE = Check("replicas-agree", "Members of the ISR differ below the bound", "HW-03", Basis.ABSENCE)


@dataclass
class _Sums:
    """What was looked at in all partitions, and what was wrong."""

    records: int = 0
    below: int = 0
    compared: int = 0
    held: int = 0
    replicas: int = 0
    tails: dict[str, int] = field(default_factory=dict)
    lacking: list[Place] = field(default_factory=list)
    conflicts: list[Place] = field(default_factory=list)
    differing: list[Place] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    unread_members: list[str] = field(default_factory=list)
    """Partitions of which a member has logs, none of which can be read."""
    passed_over: list[str] = field(default_factory=list)
    offsets: int = 0
    """Comparisons of one offset on two replicas."""


def check_replicas(history: History, replicas: Replicas) -> tuple[Finding, Finding, Finding]:
    """Linear in the logs and in what clients saw. What cannot be read is named, not judged."""
    sums = _Sums(passed_over=sorted(f"{at[0]}-{at[1]}: recreated" for at in replicas.logs if lived_twice(history, at)))
    for at, committed in read_committed(history).items():
        if replicas.of(at) and at not in history.deleted:
            _look(history, at, committed, replicas, sums)
    table = RecordTable(history, replicas)
    return _kept(sums, table), _one_content(sums, table), _agree(sums, table)


def _look(history: History, at: TopicPartition, committed: Committed, replicas: Replicas, sums: _Sums) -> None:
    view = last_view(history, at)
    members = () if view is None else tuple(id for id in view.isr if view.replicas is None or id in view.replicas)
    logs = [log for log in _of_one_life(replicas.of(at), members, sums) if not _unreadable(log, sums)]
    judged = _Judged(committed)
    chosen = _choose(logs, members, judged, committed.bound)
    for member in members:
        if member in chosen:
            lacking = judged.lacks(chosen[member])
        elif own := [log for log in replicas.of(at) if log.broker == member]:
            if any(log.unreadable for log in own):
                sums.unread_members.append(f"{at[0]}-{at[1]}")
            continue
        elif not replicas.complete(member):
            continue
        else:  # its log is nowhere, although every directory is in its place
            lacking = [(offset, value) for offset, values in committed.values.items() for value in values]
        sums.compared += committed.records
        sums.lacking += [(at, offset, value) for offset, value in lacking]
    sums.records += committed.records
    sums.below += committed.bound
    sums.replicas += len(logs)
    reference = chosen.get(view.leader) if view else None
    reference = reference or next(iter(chosen.values()), None) or max(logs, key=lambda log: log.end, default=None)
    for log in logs:
        if reference is None or log is reference:
            continue
        sums.offsets += max(0, min(log.end, committed.bound) - max(log.start, reference.start))
        is_member = chosen.get(log.broker) is log
        other = list(_differences(log, reference, committed.bound))
        newest = view.leader_epoch if view else None
        if other and not is_member and _is_tail(log, reference, other, committed, newest):
            sums.tails[f"{log.name} {at[0]}-{at[1]}"] = len(other)
            continue
        sums.conflicts += [(at, offset, value) for offset in other for value in _both(log, reference, offset)]
        if is_member:
            absent = _absent(log, reference, committed.bound)
            sums.differing += [(at, offset, value) for offset in other for value in _both(log, reference, offset)]
            sums.differing += [(at, offset, value) for offset, value in absent]


class _Judged:
    """Compares logs of one partition with what was committed; a batch that replicas share is looked at once."""

    def __init__(self, committed: Committed) -> None:
        self._committed = committed
        self._right: dict[Key, int] = {}

    def lacks(self, log: ReplicaLog) -> list[tuple[int, str]]:
        """Each committed record that does not stand in the log, from where the log begins."""
        values = self._committed.values
        if not log.start and sum(self._held(log, batch) for batch in log.batches) == self._committed.records:
            return []
        return [
            (offset, value)
            for offset, each in sorted(values.items())
            if offset >= log.start
            for value in each
            if log.held.get(offset, ("",))[0] != value
        ]

    def _held(self, log: ReplicaLog, batch: Batch) -> int:
        key = (*batch.content, batch.leader_epoch)
        if key not in self._right:
            values = self._committed.values
            self._right[key] = sum([value in values.get(offset, ()) for offset, value in log.read(batch)])
        return self._right[key]


def _choose(
    logs: Sequence[ReplicaLog], members: Sequence[int], judged: _Judged, bound: int
) -> Mapping[int, ReplicaLog]:
    """The log of each member that has one."""
    own = {member: each for member in members if (each := [log for log in logs if log.broker == member])}
    certain = next((each[0] for each in own.values() if len(each) == 1), None)

    def wrong(log: ReplicaLog) -> tuple[int, int]:
        lacking = len(judged.lacks(log))
        if certain is None:
            return 0, lacking
        return sum(1 for _ in _differences(log, certain, bound)) + len(_absent(log, certain, bound)), lacking

    return {member: min(each, key=wrong) if len(each) > 1 else each[0] for member, each in own.items()}


def _of_one_life(logs: Iterable[ReplicaLog], members: Sequence[int], sums: _Sums) -> Iterator[ReplicaLog]:
    logs = list(logs)
    ids = {log.topic_id for log in logs if log.broker in members} - {""}
    for log in logs:
        if ids and log.topic_id and log.topic_id not in ids:
            sums.passed_over.append(f"{log.name} {log.folder.name}: of an earlier topic")
        else:
            yield log


def _unreadable(log: ReplicaLog, sums: _Sums) -> bool:
    if log.unreadable:
        sums.unreadable.append(f"{log.name}: {log.unreadable}")
    return bool(log.unreadable)


def _differences(log: ReplicaLog, reference: ReplicaLog, bound: int) -> Iterator[int]:
    """The offsets below the bound at which both hold something, and not the same."""
    for batch in log.batches:
        if batch.base >= bound:
            return
        if batch.content in reference.contents:
            continue
        for offset, value in log.read(batch):
            there = reference.held.get(offset)
            if offset < bound and there is not None and there[0] != value:
                yield offset


def _is_tail(
    log: ReplicaLog, reference: ReplicaLog, other: Sequence[int], committed: Committed, newest: int | None
) -> bool:
    """`newest`: the epoch of the last leader; what it leads it may have fetched from one before its predecessor."""

    def older(offset: int) -> bool:
        here, there = log.held[offset][1], reference.held[offset][1]
        return here < there if newest is None else here != there and here < newest

    return (
        all(map(older, other))
        and not any(log.held[offset][0] in committed.values.get(offset, ()) for offset in other)
        and not any(batch.content in reference.contents for batch in log.batches if batch.base > other[0])
    )


def _both(log: ReplicaLog, reference: ReplicaLog, offset: int) -> tuple[str, str]:
    return reference.held[offset][0], log.held[offset][0]


def _absent(log: ReplicaLog, reference: ReplicaLog, bound: int) -> list[tuple[int, str]]:
    """What one of two members has below the bound and the other has not."""
    ours = [batch.content for batch in log.batches if batch.base < bound]
    if ours == [batch.content for batch in reference.batches if batch.base < bound]:
        return []
    start = max(log.start, reference.start)
    only = sorted(set(log.held) ^ set(reference.held))
    either: Mapping[int, tuple[str, int]] = {**log.held, **reference.held}
    return [(offset, either[offset][0]) for offset in only if start <= offset < bound]


def _kept(sums: _Sums, table: RecordTable) -> Finding:
    evidence = _evidence(sums) | {"records": sums.records}
    if sums.lacking:
        return _broken(
            KEPT,
            sums.compared,
            sums.lacking,
            table,
            "were acknowledged or served, and are not in the log of a member of the last ISR",
            evidence,
        )
    if sums.unread_members:
        where = ", ".join(sums.unread_members)
        return KEPT.unjudged(f"A member's log of {where} could not be read: {sums.unreadable[0]}.", **evidence)
    sentence = (
        f"Each of {sums.records} records that were acknowledged or served stands in the log of every member of the ISR "
        f"({sums.compared} looked up; {sums.below} offsets lie below the bound)."
    )
    return KEPT.held(sums.compared, sentence, **evidence)


def _one_content(sums: _Sums, table: RecordTable) -> Finding:
    evidence = _evidence(sums)
    if sums.conflicts:
        return _broken(
            ONE_CONTENT,
            sums.offsets,
            sums.conflicts,
            table,
            "stand at offsets at which another replica holds another",
            evidence,
        )
    if sums.unread_members:
        return ONE_CONTENT.unjudged(f"A log could not be read: {sums.unreadable[0]}.", **evidence)
    tails = f" {sum(sums.tails.values())} records wait to be truncated on replicas outside." if sums.tails else ""
    sentence = f"No two of {sums.replicas} replicas differ at any of {sums.offsets} offsets compared.{tails}"
    return ONE_CONTENT.held(sums.offsets, sentence, **evidence)


def _agree(sums: _Sums, table: RecordTable) -> Finding:
    if sums.differing:
        return _broken(
            AGREE,
            sums.offsets,
            sums.differing,
            table,
            "are on one member of the last ISR and not on another",
            _evidence(sums),
        )
    if sums.unread_members:
        return AGREE.unjudged(f"A member's log could not be read: {sums.unreadable[0]}.", **_evidence(sums))
    sentence = f"Members of the ISR hold the same below the bound ({sums.compared} records)."
    return AGREE.held(sums.compared, sentence, **_evidence(sums))


def _evidence(sums: _Sums) -> dict[str, Any]:
    return {
        "below_bound": sums.below,
        "replicas": sums.replicas,
        "tails": sums.tails,
        "unreadable": sums.unreadable,
        "passed_over": sums.passed_over,
    }


def _broken(
    check: Check, judged: int, places: Iterable[Place], table: RecordTable, what: str, evidence: Mapping[str, Any]
) -> Finding:
    ordered = sorted(set(places), key=lambda place: (place[0], place[1], table.epoch(place), place[2]))
    offsets: dict[TopicPartition, list[int]] = {}
    for at, offset, _ in ordered:
        offsets.setdefault(at, []).append(offset)
    where = "; ".join(f"{topic}-{number} {spans(each)}" for (topic, number), each in offsets.items())
    count = f"{len(ordered)} record{'s'[: len(ordered) != 1]} ({where})"
    return check.shown(judged, f"{count} {what}.", table.of(ordered, table.before(ordered)), **evidence)
