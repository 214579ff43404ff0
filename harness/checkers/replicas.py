"""Compare the replicas with each other and with the clients' history, from the segment files that nodes left.

The rules, below the bound of `committed`:

- A *member* of the last ISR that is assigned holds every record that was acknowledged at acks=all or served (SEG-01),
  and below the bound the same records as every other member (HW-03). This holds for a dead member, too: nothing is
  committed without it while it is a member, and kill -9 leaves its files. If several logs have its id (two processes,
  two directories), the files do not say which was the member: the log that agrees best with the other members is
  taken for it.
- Any other replica may end early: it was dead, cut off or removed. It may also end in a *tail* of its own, which it
  wrote as a leader without followers, and would have to truncate: the leader epoch of the tail is older than the last
  leader's, and not the epoch of the other replicas at these offsets; no batch after it agrees again; none of its
  records was acknowledged or served. Such tails are counted. Any other difference is a different record at one offset
  (SEG-02), as is any difference in the log of a member.
- A log with another topic id belongs to an earlier topic of the name, and is skipped.

Above the bound replicas may differ. Batches are compared by place and checksum, records only where batches differ.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fencepost.harness.checkers.check import Check, extent, named_places
from fencepost.harness.checkers.checker import LossRole, Need, checker
from fencepost.harness.checkers.committed import CommittedRecords, read_committed, was_recreated
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.history import History
from fencepost.harness.checkers.record_table import Place, RecordTable, last_view
from fencepost.harness.checkers.replica_logs import Key, ReplicaLog, Replicas
from fencepost.harness.checkers.segments import Batch
from fencepost.results.records.verdict import Basis, Finding

KEPT = Check("committed-kept", "A member of the ISR lacks a committed record", "SEG-01", Basis.ABSENCE)
ONE_CONTENT = Check("one-content", "Replicas have different records at one offset", "SEG-02", Basis.ABSENCE)
AGREE = Check("replicas-agree", "Members of the ISR differ below the bound", "HW-03", Basis.ABSENCE)


@dataclass
class ReplicaComparison:
    """The counts and the violations that the comparison of all replicas found."""

    records: int = 0
    below: int = 0
    compared: int = 0
    replicas: int = 0
    tails: dict[str, int] = field(default_factory=dict)
    missing: list[Place] = field(default_factory=list)
    conflicts: list[Place] = field(default_factory=list)
    differing: list[Place] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    unread_members: list[str] = field(default_factory=list)
    """Partitions with a member that has logs, none of which can be read."""
    skipped: list[str] = field(default_factory=list)
    offsets: int = 0
    """Comparisons of one offset on two replicas."""
    of_members: int = 0
    """Those of them on two members of the ISR."""


def compare_replicas(history: History, replicas: Replicas) -> ReplicaComparison:
    """Compare all replicas. Logs that cannot be read are named, not judged. Linear in the logs and the history."""
    totals = ReplicaComparison(
        skipped=sorted(f"{at[0]}-{at[1]}: recreated" for at in replicas.logs if was_recreated(history, at))
    )
    for at, committed in read_committed(history).items():
        if replicas.of(at) and at not in history.deleted:
            _compare(history, at, committed, replicas, totals)
    return totals


def _compare(
    history: History, at: TopicPartition, committed: CommittedRecords, replicas: Replicas, totals: ReplicaComparison
) -> None:
    view = last_view(history, at)
    members = () if view is None else tuple(id for id in view.isr if view.replicas is None or id in view.replicas)
    logs = [log for log in _of_one_life(replicas.of(at), members, totals) if not _unreadable(log, totals)]
    judged = _CommittedComparison(committed)
    chosen = _choose(logs, members, judged, committed.bound)
    for member in members:
        if member in chosen:
            missing = judged.lacks(chosen[member])
        elif any(log.broker == member for log in replicas.of(at)):  # all unreadable, else one would be chosen
            totals.unread_members.append(f"{at[0]}-{at[1]}")
            continue
        elif not replicas.complete(member):
            continue
        else:  # every directory is in place, and none has its log
            missing = [(offset, value) for offset, values in committed.values.items() for value in values]
        totals.compared += committed.records
        totals.missing += [(at, offset, value) for offset, value in missing]
    totals.records += committed.records
    totals.below += committed.bound
    totals.replicas += len(logs)
    reference = chosen.get(view.leader) if view else None
    reference = reference or next(iter(chosen.values()), None) or max(logs, key=lambda log: log.end, default=None)
    for log in logs:
        if reference is None or log is reference:
            continue
        offsets = max(0, min(log.end, committed.bound) - max(log.start, reference.start))
        totals.offsets += offsets
        is_member = chosen.get(log.broker) is log
        totals.of_members += offsets if is_member else 0
        other = list(_differences(log, reference, committed.bound))
        newest = view.leader_epoch if view else None
        if other and not is_member and _is_tail(log, reference, other, committed, newest):
            totals.tails[f"{log.name} {at[0]}-{at[1]}"] = len(other)
            continue
        totals.conflicts += [(at, offset, value) for offset in other for value in _both(log, reference, offset)]
        if is_member:
            absent = _absent(log, reference, committed.bound)
            totals.differing += [(at, offset, value) for offset in other for value in _both(log, reference, offset)]
            totals.differing += [(at, offset, value) for offset, value in absent]


class _CommittedComparison:
    """Compares logs of one partition with its committed records; a batch that replicas share is compared once."""

    def __init__(self, committed: CommittedRecords) -> None:
        self._committed = committed
        self._right: dict[Key, int] = {}

    def lacks(self, log: ReplicaLog) -> list[tuple[int, str]]:
        """Return each committed record that the log lacks, from the begin of the log on."""
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
    logs: Sequence[ReplicaLog], members: Sequence[int], judged: _CommittedComparison, bound: int
) -> Mapping[int, ReplicaLog]:
    """Return the log of each member that has one."""
    own = {member: each for member in members if (each := [log for log in logs if log.broker == member])}
    certain = next((each[0] for each in own.values() if len(each) == 1), None)

    def wrong(log: ReplicaLog) -> tuple[int, int]:
        missing = len(judged.lacks(log))
        if certain is None:
            return 0, missing
        return sum(1 for _ in _differences(log, certain, bound)) + len(_absent(log, certain, bound)), missing

    return {member: min(each, key=wrong) if len(each) > 1 else each[0] for member, each in own.items()}


def _of_one_life(logs: Iterable[ReplicaLog], members: Sequence[int], totals: ReplicaComparison) -> Iterator[ReplicaLog]:
    logs = list(logs)
    ids = {log.topic_id for log in logs if log.broker in members} - {""}
    for log in logs:
        if ids and log.topic_id and log.topic_id not in ids:
            totals.skipped.append(f"{log.name} {log.folder.name}: of an earlier topic")
        else:
            yield log


def _unreadable(log: ReplicaLog, totals: ReplicaComparison) -> bool:
    if log.unreadable:
        totals.unreadable.append(f"{log.name}: {log.unreadable}")
    return bool(log.unreadable)


def _differences(log: ReplicaLog, reference: ReplicaLog, bound: int) -> Iterator[int]:
    """Yield the offsets below the bound at which both logs have a record, and not the same one."""
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
    log: ReplicaLog, reference: ReplicaLog, other: Sequence[int], committed: CommittedRecords, newest: int | None
) -> bool:
    """Return whether the differing offsets are a tail that the replica would have to truncate.

    `newest` is the last leader's epoch. That leader may have fetched its own records from an earlier leader than its
    predecessor, so the epochs of the two logs need not be ordered.
    """

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
    """Return the records below the bound that one of two members has and the other lacks."""
    ours = [batch.content for batch in log.batches if batch.base < bound]
    if ours == [batch.content for batch in reference.batches if batch.base < bound]:
        return []
    start = max(log.start, reference.start)
    only = sorted(set(log.held) ^ set(reference.held))
    either: Mapping[int, tuple[str, int]] = {**log.held, **reference.held}
    return [(offset, either[offset][0]) for offset in only if start <= offset < bound]


@checker(KEPT, rank=51, needs=[Need.LOGS], every_run=True, loss=LossRole.LEAD)
def committed_kept(comparison: ReplicaComparison, table: RecordTable) -> Finding:
    """Judge that each member of the last ISR holds every committed record."""
    evidence = _evidence(comparison) | {"records": comparison.records}
    if comparison.missing:
        return _broken(
            KEPT,
            comparison.compared,
            comparison.missing,
            table,
            "were acknowledged or served, and are not in the log of a member of the last ISR",
            evidence,
        )
    if comparison.unread_members:
        where = ", ".join(comparison.unread_members)
        return KEPT.unjudged(f"A member's log of {where} could not be read: {comparison.unreadable[0]}.", **evidence)
    message = (
        f"Each of {comparison.records} records that were acknowledged or served is in the log of every member of the "
        f"ISR ({comparison.compared} comparisons; {comparison.below} offsets are below the bound)."
    )
    return KEPT.held(comparison.compared, message, **evidence)


@checker(ONE_CONTENT, rank=52, needs=[Need.LOGS], every_run=True, loss=LossRole.PART)
def one_content(comparison: ReplicaComparison, table: RecordTable) -> Finding:
    """Judge that no two replicas have different records at one offset, but for tails."""
    evidence = _evidence(comparison)
    if comparison.conflicts:
        return _broken(
            ONE_CONTENT,
            comparison.offsets,
            comparison.conflicts,
            table,
            "are at offsets at which another replica has another record",
            evidence,
        )
    if comparison.unread_members:
        return ONE_CONTENT.unjudged(f"A log could not be read: {comparison.unreadable[0]}.", **evidence)
    tails = (
        f" {sum(comparison.tails.values())} records are still to be truncated on replicas outside the ISR."
        if comparison.tails
        else ""
    )
    message = f"No two of {comparison.replicas} replicas differ at any of {comparison.offsets} offsets compared.{tails}"
    return ONE_CONTENT.held(comparison.offsets, message, **evidence)


@checker(AGREE, rank=53, needs=[Need.LOGS], every_run=True, loss=LossRole.PART)
def replicas_agree(comparison: ReplicaComparison, table: RecordTable) -> Finding:
    """Judge that the members of the last ISR have the same records below the bound."""
    if comparison.differing:
        return _broken(
            AGREE,
            comparison.offsets,
            comparison.differing,
            table,
            "are on one member of the last ISR and not on another",
            _evidence(comparison),
        )
    if comparison.unread_members:
        return AGREE.unjudged(f"A member's log could not be read: {comparison.unreadable[0]}.", **_evidence(comparison))
    message = f"Members of the ISR have the same records below the bound ({comparison.of_members} offsets compared)."
    return AGREE.held(comparison.of_members, message, **_evidence(comparison))


def _evidence(totals: ReplicaComparison) -> dict[str, Any]:
    return {
        "below_bound": totals.below,
        "replicas": totals.replicas,
        "tails": totals.tails,
        "unreadable": totals.unreadable,
        "passed_over": totals.skipped,
    }


def _broken(
    check: Check, judged: int, places: Iterable[Place], table: RecordTable, what: str, evidence: Mapping[str, Any]
) -> Finding:
    ordered = sorted(set(places), key=lambda place: (place[0], place[1], table.epoch(place), place[2]))
    where = [(at, offset) for at, offset, _ in ordered]
    count = f"{len(ordered)} record{'s'[: len(ordered) != 1]} ({named_places(where)})"
    shown = table.of(ordered, table.before(ordered))
    return check.broken_by_table(judged, f"{count} {what}.", shown, **evidence, extent=extent(where))
