"""The committed offsets of groups: an acknowledged commit stays, and a member that lost a partition has no say.

An offset of a group is a register. A read of it must find a commit that no other one has overwritten for certain: one
that began after the end of the first, and was acknowledged before the read. A commit without an acknowledgement may
have happened, at any time after its request.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import Need, checker
from fencepost.harness.checkers.group_history import Assignment, Groups, OffsetCommit, OffsetFetch
from fencepost.harness.checkers.history import History
from fencepost.results.records.verdict import Basis, Finding

KEPT = Check("group-offsets", "A committed offset of a group vanished or went back", "GRP-01", Basis.ABSENCE)
OWNED = Check("commit-of-former-member", "A member committed a partition that it had lost", "GRP-02", Basis.PRESENCE)

Place = tuple[str, tuple[str, int]]
"""A group, and a partition that it reads."""


@dataclass
class _Register:
    """The commits of one group's offset of one partition, in the order of their requests."""

    commits: list[tuple[OffsetCommit, int]] = field(default_factory=list)

    def legal(self, begun: float, ended: float) -> list[int]:
        """Return the offsets that a read between two instants may find."""
        overwritten = max(
            (each.invoked for each, _ in self.commits if each.completed is not None and each.completed < begun),
            default=-inf,
        )
        return [
            offset
            for each, offset in self.commits
            if each.invoked < ended and (each.completed is None or each.completed >= overwritten)
        ]

    def acknowledged_before(self, t: float) -> list[tuple[OffsetCommit, int]]:
        return [(each, offset) for each, offset in self.commits if each.completed is not None and each.completed < t]


@checker(KEPT, rank=44, needs=[Need.GROUPS], every_run=True, rests_on=["op:commit-offsets", "op:committed-offsets"])
def group_offsets(history: History) -> Finding:
    """Judge the committed offsets that coordinators answered, and those at which members began.

    Linear in the commits, for each time that a group was asked or a partition assigned.
    """
    registers = _registers(history.groups)
    judged, rows, times = 0, [], []
    for place, fetch, offset in _fetched(history.groups):
        register = registers.get(place)
        if register is None or place[1] in history.deleted:
            continue
        before = register.acknowledged_before(fetch.invoked)
        legal = register.legal(fetch.invoked, fetch.completed)
        judged += bool(before) or offset is not None
        if offset in legal if offset is not None else not before:
            continue
        rows.append(_row(place, before, "none" if offset is None else offset, "the coordinator", fetch.completed))
        times.append(fetch.completed)
    for each in history.groups.starts_over:
        place = (each.group, each.at)
        assigned = _assigned(history.groups, each.process, place, each.t)
        if each.reason != "no-offset" or assigned is None or each.at in history.deleted:
            continue
        if before := registers.get(place, _Register()).acknowledged_before(assigned.t):
            rows.append(_row(place, before, "none", each.process, each.t))
            times.append(each.t)
    commits = sum(each.completed is not None for each in history.groups.commits)
    if not rows:
        message = (
            f"Each of {judged} committed offsets that were asked for is one that was committed ({commits} commits)."
        )
        return KEPT.held(judged, message, commits=commits)
    return KEPT.broken(
        judged,
        f"{len(rows)} committed offsets of groups vanished, went back, or were never committed.",
        ("group", "partition", "last commit", "by", "acknowledged", "found", "asked by", "at"),
        rows,
        at=min(times),
        commits=commits,
    )


@checker(OWNED, rank=45, needs=[Need.GROUPS], every_run=True, rests_on=["op:assigned", "op:commit-offsets"])
def commit_of_former_member(history: History) -> Finding:
    """Judge the synchronous commits of partitions that another member had since. Linear, after one sort.

    Only these: an asynchronous commit may wait in the client while it joins again, and is then sent as a new member's.
    """
    owners = _owners(history.groups)
    judged, rows, times = 0, [], []
    for commit in history.groups.commits:
        for at, offset in commit.offsets if commit.sync and commit.completed is not None else ():
            changes = owners.get((commit.group, at), [])
            place = bisect_left(changes, commit.invoked, key=lambda change: change.t) - 1
            judged += place >= 0
            if place >= 0 and (owner := changes[place]).process != commit.process:
                where = f"{at[0]}-{at[1]}"
                rows.append(
                    (
                        commit.group,
                        where,
                        commit.process,
                        offset,
                        f"{commit.invoked:.2f} s",
                        owner.process,
                        f"{owner.t:.2f} s",
                    )
                )
                times.append(commit.invoked)
    if not rows:
        return OWNED.held(judged, f"Each of {judged} acknowledged commits was of a partition that its member had.")
    return OWNED.broken(
        judged,
        f"{len(rows)} commits of members that had lost the partition were acknowledged.",
        ("group", "partition", "member", "offset", "committed", "assigned to", "at"),
        rows,
        at=min(times),
    )


def _registers(groups: Groups) -> Mapping[Place, _Register]:
    registers: dict[Place, _Register] = defaultdict(_Register)
    for commit in groups.commits:
        for at, offset in commit.offsets:
            registers[commit.group, at].commits.append((commit, offset))
    return registers


def _fetched(groups: Groups) -> Iterator[tuple[Place, OffsetFetch, int | None]]:
    for fetch in groups.fetches:
        for at, offset in fetch.offsets:
            yield (fetch.group, at), fetch, offset


def _assigned(groups: Groups, process: str, place: Place, t: float) -> Assignment | None:
    """Return the assignment by which a member had the partition at `t`."""
    mine = [
        each
        for each in groups.assignments
        if each.process == process and each.what == "assigned" and place[1] in each.partitions and each.t <= t
    ]
    return mine[-1] if mine else None


def _owners(groups: Groups) -> Mapping[Place, list[Assignment]]:
    """Return the assignments of each partition in their order."""
    owners: dict[Place, list[Assignment]] = defaultdict(list)
    for each in groups.assignments:
        for at in each.partitions if each.what == "assigned" else ():
            owners[each.group, at].append(each)
    return owners


def _row(
    place: Place, before: Sequence[tuple[OffsetCommit, int]], found: object, asked_by: str, t: float
) -> tuple[object, ...]:
    group, (topic, number) = place
    last, offset = before[-1] if before else (None, None)
    by = ("none", "", "") if last is None else (offset, last.process, f"{last.completed:.2f} s")
    return (group, f"{topic}-{number}", *by, found, asked_by, f"{t:.2f} s")
